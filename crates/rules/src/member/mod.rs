//! What answers say of the members of results: "it departs at 14:35", "Status: shipped", held
//! against the members of that name. Also versions, people's names and how to reach them, held
//! against those beside the same name, and counts with digits that changed places.

mod contact;
mod flag;
mod judge;
mod misread;
mod near;
mod person;
mod quantity;
mod said;
mod state;
mod state_of_id;
mod strange;
mod subject;
mod version;

pub(crate) use contact::contacts;
pub(crate) use judge::members;
pub(crate) use misread::misread;
pub(crate) use near::Sheaf;
pub(crate) use person::people;
pub(crate) use version::versions;
