use counterfoil_model::{Digest, is_hidden, names_hidden};
use counterfoil_redact::Redactor;
use serde_json::{Value, json};

use super::egress::Egress;
use super::entry::{AuditEntry, AuditResult, ExitCode};

/// Strings of a call are cut to this many bytes.
const LONGEST_STRING: usize = 16 * 1024;

/// Makes the entry ready to be written: without secrets, hidden thinking and overlong strings.
pub(super) fn cleaned(entry: &AuditEntry, redactor: &Redactor) -> AuditEntry {
    let text = |text: &str| shortened(&redactor.redact(text));
    let option = |value: &Option<String>| value.as_deref().map(text);
    let result = match &entry.result {
        AuditResult::Blocked { reason, category } => {
            AuditResult::Blocked { reason: text(reason), category: *category }
        }
        AuditResult::Error { message, category } => {
            AuditResult::Error { message: text(message), category: *category }
        }
        other => other.clone(),
    };
    let exit_code = match &entry.exit_code {
        ExitCode::Missing(why) => ExitCode::Missing(text(why)),
        other => other.clone(),
    };
    let call = match entry.call.as_str() {
        // The arguments could not be parsed, so hidden thinking cannot be separated from the rest.
        Some(raw) if names_hidden(raw) => json!({ "left_out": "hidden thinking" }).into(),
        _ => {
            let mut call = entry.call.clone();
            call.remove_members(&|_, name| is_hidden(name));
            call
        }
    };
    let call = redactor.redact_exact(&call);
    let trimmed = call.made_into(trimmed(call.value().clone()));
    AuditEntry {
        tool: text(&entry.tool),
        // Names that become identical when they are cut.
        call: trimmed.unwrap_or_else(|| json!({ "left_out": "too long" }).into()),
        result,
        trust: entry.trust,
        approved_by: option(&entry.approved_by),
        exit_code,
        truncated: entry.truncated,
        egress: entry.egress.iter().map(|one| without_secrets(one, &text)).collect(),
        claim_source: option(&entry.claim_source),
        phase: entry.phase,
        session_id: option(&entry.session_id),
        caller_id: option(&entry.caller_id),
        policy_match: option(&entry.policy_match),
        adversarial_policy_decision: option(&entry.adversarial_policy_decision),
        warnings: entry.warnings.iter().map(|code| text(code)).collect(),
        execution_id: option(&entry.execution_id),
        correlation_id: option(&entry.correlation_id),
        speculative: entry.speculative,
        cached_from: option(&entry.cached_from),
        server: option(&entry.server),
    }
}

/// Removes secrets from the host and the reason.
fn without_secrets(egress: &Egress, text: &impl Fn(&str) -> String) -> Egress {
    Egress {
        host: text(&egress.host),
        blocked: egress.blocked.as_deref().map(text),
        ..egress.clone()
    }
}

fn trimmed(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(shortened(&text)),
        Value::Array(items) => items.into_iter().map(trimmed).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(k, v)| (shortened(&k), trimmed(v))).collect()
        }
        other => other,
    }
}

/// The beginning of a long text with the digest of the whole text; a short text unchanged.
fn shortened(text: &str) -> String {
    let Some((kept, rest)) = text.split_at_checked(text.floor_char_boundary(LONGEST_STRING)) else {
        return text.to_owned();
    };
    if rest.is_empty() {
        return text.to_owned();
    }
    format!("{kept}… ({} more bytes, SHA-256 {})", rest.len(), Digest::of_bytes(text.as_bytes()))
}
