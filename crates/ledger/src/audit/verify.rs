use std::path::PathBuf;

use serde::Serialize;

use super::line::{self, AuditHead};
use super::read::{AuditFiles, AuditProblem, ReadAuditError, Reading};

/// What an audit log turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditVerification {
    /// Lines that are as they were written, up to the first that is not.
    pub lines: u64,
    /// Bytes of these lines.
    pub bytes: u64,
    /// Files that were looked into.
    pub files: u64,
    /// Lines that stood before the first one here, in files that are not here any more.
    pub missing_before: u64,
    /// The end of the chain.
    pub head: AuditHead,
    /// The first line that is not as it was written. What stands behind it proves nothing.
    pub broken: Option<AuditProblem>,
    /// How the log compares with the head that somebody kept, where one was given.
    pub compared: Option<Compared>,
}

/// How a log compares with a head that was kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Compared {
    /// It continues from there.
    Continues {
        /// Lines that came after it.
        newer: u64,
    },
    /// Lines that were there then are gone.
    Cut {
        /// How many there were.
        expected: u64,
        /// How many there are.
        found: u64,
    },
    /// The line at that place is another one: all was written anew.
    Differs {
        /// How many lines there were.
        at: u64,
    },
    /// That place is in files that are not here any more.
    NotHere,
}

impl AuditVerification {
    /// Whether nothing speaks against the log, from its very first line on.
    #[must_use]
    pub fn sound(&self) -> bool {
        self.missing_before == 0 && self.sound_from_here()
    }

    /// The same, where earlier files are known to be kept elsewhere.
    #[must_use]
    pub fn sound_from_here(&self) -> bool {
        let compared = match self.compared {
            None | Some(Compared::Continues { .. }) => true,
            Some(Compared::Cut { .. } | Compared::Differs { .. } | Compared::NotHere) => false,
        };
        self.broken.is_none() && compared
    }
}

/// Follows the chain through all files, and compares it with a head that was kept elsewhere.
/// `progress` is told how many bytes are done.
///
/// Whoever can write the file can write all of it anew: only the kept head shows that.
///
/// # Errors
/// When the file system says no.
pub fn verify_audit(
    files: AuditFiles,
    kept: Option<AuditHead>,
    progress: &mut dyn FnMut(u64),
) -> Result<AuditVerification, ReadAuditError> {
    let mut found = AuditVerification {
        lines: 0,
        bytes: 0,
        files: u64::try_from(files.files.len()).unwrap_or_default(),
        missing_before: 0,
        head: AuditHead::default(),
        broken: None,
        compared: None,
    };
    let mut at_kept = kept.filter(|kept| kept.size == 0).map(|_| AuditHead::default());
    let mut reported = 0;
    files.raw(&mut |path, number, bytes, size| {
        let begun = found.lines > 0;
        let continued = bytes.and_then(|bytes| {
            if begun {
                return line::continued(bytes, found.head);
            }
            // The first line here may continue what was archived.
            let (before, head) = line::ends(bytes)?;
            if before.size == 0 && before != AuditHead::default() {
                return Err(line::LineError::WrongPrevious);
            }
            found.missing_before = before.size;
            if kept.is_some_and(|kept| kept.size == before.size) {
                at_kept = Some(before);
            }
            Ok(head)
        });
        match continued {
            Ok(head) => found.head = head,
            Err(why) => {
                found.broken = Some(AuditProblem { file: PathBuf::from(path), line: number, why });
                return Reading::Stop;
            }
        }
        found.lines += 1;
        found.bytes += size;
        if kept.is_some_and(|kept| kept.size == found.head.size) {
            at_kept = Some(found.head);
        }
        if found.bytes - reported > 1 << 20 {
            reported = found.bytes;
            progress(found.bytes);
        }
        Reading::GoOn
    })?;
    progress(found.bytes);
    found.compared = kept.and_then(|kept| compare(&found, kept, at_kept));
    Ok(found)
}

/// `None`: the chain breaks before that place, which says enough.
fn compare(
    found: &AuditVerification,
    kept: AuditHead,
    at_kept: Option<AuditHead>,
) -> Option<Compared> {
    match at_kept {
        Some(there) if there == kept => {
            Some(Compared::Continues { newer: found.head.size - kept.size })
        }
        Some(_) => Some(Compared::Differs { at: kept.size }),
        None if found.broken.is_some() => None,
        None if kept.size < found.missing_before => Some(Compared::NotHere),
        None => Some(Compared::Cut { expected: kept.size, found: found.head.size }),
    }
}
