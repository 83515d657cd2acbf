//! Skills as the agentskills specification has them: folders with a `SKILL.md`, read, checked,
//! scanned and trusted.
//!
//! [`find_skills`] reads every skill below search paths. [`Skill::read`] reads one: front matter,
//! body, inline tools, and the digest of all its files. [`scan()`] looks for what a stranger may
//! have hidden in it. [`Trusted`] remembers which digests a person has agreed to.
//!
//! Deliberately not here: running tools, deciding about calls, the environment of a skill. What a
//! skill says in `allowed-tools` grants nothing.

mod error;
mod find;
mod folder;
mod front_matter;
mod inline_tool;
mod markdown;
mod one;
mod scan;
mod trusted;
mod warning;

pub use error::SkillError;
pub use find::find_skills;
pub use inline_tool::InlineTool;
pub use one::{Skill, SkillOrigin};
pub use scan::{ScanPorts, scan};
pub use trusted::{TrustError, Trusted};
pub use warning::{SkillWarning, WarningKind};
