use std::path::PathBuf;

use serde::Serialize;

use super::line::{self, AuditHead};
use super::read::{AuditFiles, AuditProblem, ReadAuditError, Reading};

/// The result of verifying an audit log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditVerification {
    /// The number of unchanged lines, up to the first changed one.
    pub lines: u64,
    /// The size of these lines in bytes.
    pub bytes: u64,
    /// The number of files read.
    pub files: u64,
    /// The number of lines before the first one here, in files that are missing.
    pub missing_before: u64,
    /// The end of the chain.
    pub head: AuditHead,
    /// The first changed line. Lines after it prove nothing.
    pub broken: Option<AuditProblem>,
    /// How the log compares with the head kept elsewhere, if one was given.
    pub compared: Option<Compared>,
}

/// How a log compares with a head kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Compared {
    /// It continues from the head.
    Continues {
        /// The number of lines after the head.
        newer: u64,
    },
    /// Lines are gone.
    Cut {
        /// The number of lines at the head.
        expected: u64,
        /// The number of lines now.
        found: u64,
    },
    /// Another line is at that place: the log was rewritten.
    Differs {
        /// The number of lines at the head.
        at: u64,
    },
    /// The place is in files that are missing.
    NotHere,
}

impl AuditVerification {
    /// Whether the whole log is sound, from its very first line on.
    #[must_use]
    pub fn sound(&self) -> bool {
        self.missing_before == 0 && self.sound_from_here()
    }

    /// Whether the files here are sound. For logs whose earlier files are kept elsewhere.
    #[must_use]
    pub fn sound_from_here(&self) -> bool {
        let compared = match self.compared {
            None | Some(Compared::Continues { .. }) => true,
            Some(Compared::Cut { .. } | Compared::Differs { .. } | Compared::NotHere) => false,
        };
        self.broken.is_none() && compared
    }
}

/// Follows the chain through all files, and compares it with a head kept elsewhere. `progress`
/// receives the number of bytes done.
///
/// Anyone who can write the file can rewrite all of it: only the kept head reveals that.
///
/// # Errors
/// On an I/O error.
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
            // The first line here may continue an archived file.
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

/// `None` if the chain breaks before that place, which is reported already.
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
