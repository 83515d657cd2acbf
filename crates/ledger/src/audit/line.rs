//! One line: its content, and the digests that bind it to the line before.

use counterfoil_model::{Digest, ExactValue, ToolErrorCategory, canonical_bytes_of};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::egress::Egress;
use super::entry::{AuditEntry, ExitCode, WrittenResult};
use crate::circumstances::{Phase, TrustLevel};

/// The version of the lines written here.
pub(super) const VERSION: u32 = 1;

/// How every line begins.
pub(super) const START: &[u8] = b"{\"version\":";

/// What separates the content of a line from its own digest.
const SEAL: &[u8] = b",\"digest\":\"";

/// The maximum length of a line in bytes. Longer lines are neither read nor written.
pub(super) const LONGEST: usize = 1024 * 1024;

/// The end of a chain, which the next line continues.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditHead {
    /// The number of lines, from the very first on.
    pub size: u64,
    /// The digest of the last line; zeros if there is none.
    pub digest: Digest,
}

impl Default for AuditHead {
    fn default() -> Self {
        Self { size: 0, digest: Digest::from_bytes([0; 32]) }
    }
}

/// One line of an audit log.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditLine {
    /// Its place in the log, from 0.
    pub seq: u64,
    /// When it was written, in milliseconds since the Unix epoch.
    pub at: i64,
    /// The call.
    pub entry: AuditEntry,
    /// The number of calls since the line before that could not be written.
    pub missed: u64,
    /// The size in bytes of a torn line before this one that was set aside.
    pub set_aside: u64,
    /// The digest of the line before.
    pub previous: Digest,
    /// Its own digest.
    pub digest: Digest,
}

/// The members of a line before its own digest, in this order.
#[derive(Debug, Serialize, Deserialize)]
struct Written {
    version: u32,
    seq: u64,
    ts: String,
    tool: String,
    call: ExactValue,
    result: WrittenResult,
    error_category: Option<ToolErrorCategory>,
    trust: TrustLevel,
    approved_by: Option<String>,
    exit_code: Option<i32>,
    /// Why a shell call has no exit code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit_code_missing: Option<String>,
    truncated: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    egress: Vec<Egress>,
    claim_source: Option<String>,
    phase: Phase,
    session_id: Option<String>,
    caller_id: Option<String>,
    policy_match: Option<String>,
    adversarial_policy_decision: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    execution_id: Option<String>,
    correlation_id: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    speculative: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached_from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    missed: u64,
    #[serde(default, skip_serializing_if = "is_zero")]
    set_aside: u64,
    previous: Digest,
}

/// What is known only when the line is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) head: AuditHead,
    pub(super) at: i64,
    pub(super) missed: u64,
    pub(super) set_aside: u64,
}

/// Why bytes are not a line of an audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// It has no digest at its end.
    #[error("the line does not end with a digest")]
    Unsealed,
    /// It was changed.
    #[error("the digest of the line does not match its content")]
    WrongDigest,
    /// It continues another line.
    #[error("the line does not continue the previous one")]
    WrongPrevious,
    /// Its number is not the next one.
    #[error("the sequence number is {found}, expected {expected}")]
    WrongSeq {
        /// The number that would continue the line before.
        expected: u64,
        /// The number it has.
        found: u64,
    },
    /// It is not JSON, or has other members.
    #[error("the line is not an audit entry")]
    NoEntry,
    /// A later version wrote it.
    #[error("version {0} is not supported")]
    UnknownVersion(u32),
    /// A failure without a category, or a success with one.
    #[error("the result and the error category do not match")]
    WrongCategory,
    /// Longer than any line.
    #[error("the line exceeds the maximum length")]
    TooLong,
    /// The file ends before the line does.
    #[error("the line is incomplete: the file ends in the middle of it")]
    Torn,
}

impl Written {
    fn new(entry: AuditEntry, seq: u64, ts: String, previous: Digest) -> Self {
        let category = entry.result.category();
        let (exit_code, exit_code_missing) = match entry.exit_code {
            ExitCode::Code(code) => (Some(code), None),
            ExitCode::NoShell => (None, None),
            ExitCode::Missing(why) => (None, Some(why)),
        };
        Self {
            version: VERSION,
            seq,
            ts,
            tool: entry.tool,
            call: entry.call,
            result: entry.result.into(),
            error_category: category,
            trust: entry.trust,
            approved_by: entry.approved_by,
            exit_code,
            exit_code_missing,
            truncated: entry.truncated,
            egress: entry.egress,
            claim_source: entry.claim_source,
            phase: entry.phase,
            session_id: entry.session_id,
            caller_id: entry.caller_id,
            policy_match: entry.policy_match,
            adversarial_policy_decision: entry.adversarial_policy_decision,
            warnings: entry.warnings,
            execution_id: entry.execution_id,
            correlation_id: entry.correlation_id,
            speculative: entry.speculative,
            cached_from: entry.cached_from,
            server: entry.server,
            missed: 0,
            set_aside: 0,
            previous,
        }
    }
}

/// The bytes of a line including its line feed, and the head after it. `None` if its time or one of
/// its values cannot be written.
pub(super) fn sealed(entry: AuditEntry, place: Place) -> Option<(Vec<u8>, AuditHead)> {
    let written = Written::new(entry, place.head.size, time(place.at)?, place.head.digest);
    let mut written = Written { missed: place.missed, set_aside: place.set_aside, ..written };
    let mut line = serde_json::to_vec(&written).ok()?;
    if line.len() + SEAL.len() + 67 > LONGEST {
        // Many short strings can exceed the limit together: the digest still identifies the call.
        let digest = Digest::of_bytes(&canonical_bytes_of(&written.call).ok()?).to_string();
        written.call = json!({ "left_out": "too long", "digest": digest }).into();
        line = serde_json::to_vec(&written).ok()?;
    }
    line.pop();
    let digest = Digest::of_bytes(&line);
    line.extend_from_slice(&seal(digest));
    line.push(b'\n');
    Some((line, AuditHead { size: place.head.size + 1, digest }))
}

/// The end of a line with this digest.
fn seal(digest: Digest) -> Vec<u8> {
    [SEAL, digest.to_string().as_bytes(), b"\"}"].concat()
}

/// The time with milliseconds, in UTC.
fn time(at: i64) -> Option<String> {
    let at = jiff::Timestamp::from_millisecond(at).ok()?;
    Some(format!("{at:.3}"))
}

impl AuditLine {
    /// The line as it is in the file, without its line feed. `None` if it cannot be written.
    #[must_use]
    pub fn json(&self) -> Option<String> {
        let written = Written::new(self.entry.clone(), self.seq, time(self.at)?, self.previous);
        let written = Written { missed: self.missed, set_aside: self.set_aside, ..written };
        let mut line = serde_json::to_vec(&written).ok()?;
        line.pop();
        line.extend_from_slice(&seal(self.digest));
        String::from_utf8(line).ok()
    }
}

/// The digest of a line (without its line feed), if the line is unchanged.
pub(super) fn seal_of(line: &[u8]) -> Result<Digest, LineError> {
    let body = line.strip_suffix(b"\"}").ok_or(LineError::Unsealed)?;
    let (body, digest) =
        body.split_at_checked(body.len().wrapping_sub(64)).ok_or(LineError::Unsealed)?;
    let body = body.strip_suffix(SEAL).ok_or(LineError::Unsealed)?;
    let computed = Digest::of_bytes(body);
    if computed.to_string().as_bytes() == digest {
        Ok(computed)
    } else {
        Err(LineError::WrongDigest)
    }
}

/// The members that the chain needs, read without building the rest.
#[derive(Deserialize)]
struct Links {
    version: u32,
    seq: u64,
    previous: Digest,
}

/// The head after a line, which must continue `head`.
pub(super) fn continued(line: &[u8], head: AuditHead) -> Result<AuditHead, LineError> {
    let (links, next) = links(line)?;
    if links.seq != head.size {
        return Err(LineError::WrongSeq { expected: head.size, found: links.seq });
    }
    if links.previous != head.digest {
        return Err(LineError::WrongPrevious);
    }
    Ok(next)
}

/// The head that the line continues, and the head after it.
pub(super) fn ends(line: &[u8]) -> Result<(AuditHead, AuditHead), LineError> {
    let (links, next) = links(line)?;
    Ok((AuditHead { size: links.seq, digest: links.previous }, next))
}

fn links(line: &[u8]) -> Result<(Links, AuditHead), LineError> {
    let digest = seal_of(line)?;
    let links: Links = serde_json::from_slice(line).map_err(|_| LineError::NoEntry)?;
    if links.version != VERSION {
        return Err(LineError::UnknownVersion(links.version));
    }
    let next = AuditHead { size: links.seq.saturating_add(1), digest };
    Ok((links, next))
}

/// Reads a whole line. Its digest must match; the link to the line before is not checked.
pub(super) fn read(line: &[u8]) -> Result<AuditLine, LineError> {
    let digest = seal_of(line)?;
    let written: Written = serde_json::from_slice(line).map_err(|_| LineError::NoEntry)?;
    if written.version != VERSION {
        return Err(LineError::UnknownVersion(written.version));
    }
    let at = written.ts.parse::<jiff::Timestamp>().map_err(|_| LineError::NoEntry)?;
    let result = written.result.with(written.error_category).ok_or(LineError::WrongCategory)?;
    let exit_code = match (written.exit_code, written.exit_code_missing) {
        (Some(code), _) => ExitCode::Code(code),
        (None, Some(why)) => ExitCode::Missing(why),
        (None, None) => ExitCode::NoShell,
    };
    let entry = AuditEntry {
        tool: written.tool,
        call: written.call,
        result,
        trust: written.trust,
        approved_by: written.approved_by,
        exit_code,
        truncated: written.truncated,
        egress: written.egress,
        claim_source: written.claim_source,
        phase: written.phase,
        session_id: written.session_id,
        caller_id: written.caller_id,
        policy_match: written.policy_match,
        adversarial_policy_decision: written.adversarial_policy_decision,
        warnings: written.warnings,
        execution_id: written.execution_id,
        correlation_id: written.correlation_id,
        speculative: written.speculative,
        cached_from: written.cached_from,
        server: written.server,
    };
    Ok(AuditLine {
        seq: written.seq,
        at: at.as_millisecond(),
        entry,
        missed: written.missed,
        set_aside: written.set_aside,
        previous: written.previous,
        digest,
    })
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}
