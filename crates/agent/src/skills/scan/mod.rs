//! What a stranger, or an agent that was talked into it, may have put into a skill.
//!
//! The scan reads English, and finds what is written plainly or hidden clumsily. It is a reason to
//! look, and its silence is no proof: trust comes from a person and a digest.

mod encoded;
mod hidden;
mod orders;
mod sentences;
mod texts;
mod unseen;

use std::path::Path;

use super::folder;
use super::one::Skill;
use super::warning::{SkillWarning, WarningKind};
use texts::TextScan;

/// The most warnings of one skill.
const MOST_WARNINGS: usize = 200;

/// What the scan asks others.
#[derive(Clone, Copy)]
pub struct ScanPorts<'p> {
    /// Whether a line has a secret.
    pub has_secret: &'p dyn Fn(&str) -> bool,
    /// What is dangerous about a shell command, in a few words; `None` when nothing is. It is
    /// called with one command of one or more lines at a time.
    pub danger: &'p dyn Fn(&str) -> Option<String>,
}

/// Looks through every file of a skill's folder, as it is now: for orders that people do not see,
/// orders against other instructions, things kept from the user, checks that are disabled, encoded
/// texts, secrets, dangerous commands, and compiled programs. Warnings are in the order of files
/// and lines, at most 200.
#[must_use]
pub fn scan(skill: &Skill, ports: ScanPorts<'_>) -> Vec<SkillWarning> {
    let mut warnings = Vec::new();
    let read = folder::digest(&skill.folder, |path, bytes| {
        let before = warnings.len();
        scan_file(&skill.folder.join(path), bytes, ports, &mut warnings);
        if let Some(new) = warnings.get_mut(before..) {
            new.sort();
        }
    });
    warnings.dedup();
    if warnings.len() > MOST_WARNINGS {
        let why = format!("{} more warnings are not listed", warnings.len() - MOST_WARNINGS);
        warnings.truncate(MOST_WARNINGS);
        warnings.push(SkillWarning::new(&skill.folder, None, WarningKind::More, why));
    }
    let (file, why) = match read {
        Ok(digest) if digest == skill.digest => return warnings,
        Ok(_) => (skill.folder.clone(), "a file has changed since the skill was read".to_owned()),
        Err(error) => (error.file, format!("not all files could be read: {}", error.problem)),
    };
    warnings.push(SkillWarning::new(file, None, WarningKind::NotAsRead, why));
    warnings
}

fn scan_file(path: &Path, bytes: &[u8], ports: ScanPorts<'_>, warnings: &mut Vec<SkillWarning>) {
    match str::from_utf8(bytes) {
        Ok(text) => TextScan { path, ports, warnings }.text(text),
        Err(_) if is_program(bytes) => {
            let why = "the file is a compiled program, which cannot be reviewed";
            warnings.push(SkillWarning::new(path, None, WarningKind::Program, why));
        }
        Err(_) => {}
    }
}

/// Whether a file begins as programs of Linux, Windows, macOS and WebAssembly do.
fn is_program(bytes: &[u8]) -> bool {
    let beginnings: [&[u8]; 6] = [
        b"\x7fELF",
        b"MZ",
        b"\xcf\xfa\xed\xfe",
        b"\xce\xfa\xed\xfe",
        b"\xca\xfe\xba\xbe",
        b"\0asm",
    ];
    beginnings.iter().any(|beginning| bytes.starts_with(beginning))
}
