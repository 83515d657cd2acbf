//! The Model Context Protocol over standard input and output, one JSON-RPC message per line.

mod call;
mod confirm;
mod described;
mod duplicates;
mod failures;
mod framing;
mod from_server;
mod gateway;
mod held;
mod joined_words;
mod lines;
mod lists;
mod looks;
mod meant;
mod members;
mod message;
mod methods;
mod open_tasks;
mod own_list;
mod pins;
mod pins_of_servers;
mod redaction;
mod relay;
mod resources;
mod results;
mod server;
mod server_questions;
mod shown_change;
mod stdio;
mod tasks;
mod tools;
mod unchecked;
mod unreadable;
mod waiting;

pub use gateway::{Gateway, GatewayError, Step};
pub(crate) use looks::oddities_of;
pub use looks::{is_unseen, oddities};
pub use pins::{GreetingChange, PinStore, Pins, PinsError, ToolChange};
pub(crate) use pins::{SERVER, SERVER_INFO, UNREACHABLE};
pub use pins_of_servers::StoreOf;
pub(crate) use pins_of_servers::{GREETINGS, joined_instructions};
pub use relay::{Ended, RelayError, relay};
pub(crate) use server::agreed;
pub use server::serve;
pub use shown_change::shown_members;
pub use stdio::{input, output};
pub use unchecked::unchecked_arguments;

pub(crate) use duplicates::twice;
pub(crate) use framing::{on_one_line, write_message};
pub(crate) use lines::{LONGEST, Line, Lines};
pub(crate) use members::Members;
pub(crate) use message::{
    CAPABILITIES, Message, REVISION, TRACE, code, error, error_with, gone, id_of, parts, request,
    request_raw, result, result_raw,
};
pub(crate) use own_list::LISTING;
pub(crate) use server_questions::in_the_name_of;
pub(crate) use tools::unreachable;
pub(crate) use unreadable::TopLevel;
