//! A reference agent, and the shortest program that shows how to build on the guard.
//!
//! A turn is `hear → offer → ask the model → call → … → verify → answer`. Every call of a tool goes
//! through [`counterfoil_guard::Session::call`], and no answer is shown before
//! [`counterfoil_guard::Session::verify`] let it pass: what it holds back goes to the model once more,
//! with what is wrong, and then an honest notice of our own replaces it.
//!
//! What may happen, and what is true, is decided by the guard alone.
#![cfg_attr(not(test), warn(clippy::too_many_lines))]

mod agent;
mod compress;
mod conversation;
mod delegate;
mod kept;
mod memory;
mod model;
mod options;
mod own_tool;
mod prompt;
mod schedule;
mod scheduler;
mod skill_tools;
mod skills;
mod store;
mod turn;
mod watch;

pub use agent::{Agent, Parts};
pub use compress::{COMPRESS_CONTEXT, CompressError};
pub use conversation::Conversation;
pub use delegate::SubAgents;
pub use kept::KeptSummaries;
pub use memory::Memory;
pub use model::Model;
pub use options::{AgentOptions, AgentOptionsError, HoldBack};
pub use schedule::{Schedule, ScheduleError};
pub use scheduler::{
    Due, FireError, LastFiring, ScheduleTaskError, Scheduler, ShownTask, time_zone,
};
pub use skill_tools::SkillSet;
pub use skills::{
    InlineTool, ScanPorts, Skill, SkillError, SkillOrigin, SkillWarning, TrustError, Trusted,
    WarningKind, find_skills, scan,
};
pub use store::{
    CatchUp, CompressionStrategy, Firing, Found, LONGEST_NOTE, NewTask, Note, NoteError, NoteId,
    NoteOrigin, OpenStoreError, Store, StoreError, StoredNote, Summary, Task, TaskId, TaskState,
};
pub use turn::{Saying, TurnError, Turned};
pub use watch::{NoWatch, TurnEvent, Watch};
