//! Performs calls: shell commands, files and web pages. Also what no command may do, output filters
//! and the result cache.
//!
//! Deliberately not here: who may have a call performed. The guard decides that; its executors
//! spend a permit on every call that they perform here, and nothing else uses [`Wanted`].
//!
//! Start with [`Scene`] and [`ToolOutput`], then `shell/tools.rs`, `file/tools.rs`, `web/tools.rs`.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

#[cfg(any(feature = "file", feature = "shell"))]
mod beneath;
mod blocklist;
mod cache;
mod classification;
mod envelope;
mod error;
#[cfg(feature = "file")]
mod file;
mod filter;
mod homes;
mod number;
mod output;
mod overlap;
mod pattern;
mod scene;
mod secret_places;
mod settings;
#[cfg(feature = "shell")]
mod shell;
mod spelling;
mod tool_event;
mod wanted;
#[cfg(feature = "web")]
mod web;

pub use blocklist::{
    Blocklist, BlocklistOptions, BlocklistOptionsError, CommandArgument, NoCommand, Refusal,
    RefusalKind, Site, Substitution, Unread, find_blocked_command, judge_command, values_of,
};
pub use cache::{
    CacheCounts, CacheKey, CachedResult, ResultCacheOptions, ResultCacheSettings, ToolResultCache,
    is_cacheable, may_write,
};
pub use classification::{ExitCause, classify_http_status, classify_io};
pub use envelope::ShellOutputEnvelope;
pub use error::{ToolError, ToolErrorKind};
#[cfg(feature = "file")]
pub use file::{FileTools, Reach};
pub use filter::{
    CommandMatcher, Cut, DeclaredFilter, Filter, FilterCall, FilterConfidence, FilterCounts,
    FilterDeclaration, FilterDeclarationError, FilterId, FilterMetrics, FilterOptions,
    FilterOptionsError, FilterPipeline, FilterSettings, Filtered, Piped, is_preserved,
    shown_commands,
};
pub use homes::{inside as inside_home, named_by_variable};
pub use number::whole;
pub use output::{FullText, RolledBack, ToolOutput};
pub use overlap::may_mean;
pub use pattern::{Over, Pattern, PatternError, check_pattern, glob, one_form};
pub use scene::{RecentCall, Scene};
pub use settings::{
    FileOptions, FileOptionsError, FileSettings, OutOfRange, ShellOptions, ShellOptionsError,
    ShellPolicy, ShellPolicyHandle, ShellSettings, WebOptions, WebOptionsError, WebSettings,
};
#[cfg(feature = "shell")]
pub use shell::{
    NoSnapshot, ShellTools, SinceChanged, UndoError, has_snapshot, snapshot_after, snapshot_before,
    undo_snapshot,
};
pub use spelling::{Spelled, exact_form, in_order, spelled};
pub use tool_event::{CallEvent, CallName, OutputStream, Progress, ToolEvent, ToolEvents};
pub use wanted::Wanted;
#[cfg(feature = "web")]
pub use web::{Reserved, Resolver, SystemResolver, TlsError, WebTools, reserved, trusted_tls};
