use counterfoil_model::{RecordedReceipt, Status};
use serde_json::value::RawValue;

use crate::fields::{self, Fields};
use crate::session::Session;
use crate::time;

/// Reads the `receipts` member: a list of `{id | execution_id, tool | action | tool_name, status,
/// started_at | timestamp, ended_at, result, call_id}`.
pub(crate) fn read_receipts(raw: &RawValue, line: usize, session: &mut Session) {
    let Some(list) = fields::array(raw) else {
        session.problem(line, "`receipts` is not a list");
        return;
    };
    let receipts = list.into_iter().filter_map(|raw| read_receipt(raw, line, session)).collect();
    session.transcript.receipts = Some(receipts);
}

fn read_receipt(raw: &RawValue, line: usize, session: &mut Session) -> Option<RecordedReceipt> {
    let Some(mut fields) = Fields::from_value(raw) else {
        session.problem(line, "a receipt is not an object");
        return None;
    };
    let id = first_string(&mut fields, &["execution_id", "id", "receipt_id"]);
    let tool = first_string(&mut fields, &["tool", "tool_name", "action", "name"]);
    let word = fields.string("status");
    let status = match word.as_deref().map(|word| (Status::from_dialect(word), word)) {
        Some((Some(status), _)) => status,
        // A receipt without a success status does not prove success.
        Some((None, word)) => {
            session.problem(line, format!("the receipt `{id}` has the unknown status `{word}`"));
            Status::Open
        }
        None => {
            session.problem(line, format!("the receipt `{id}` has no status"));
            Status::Open
        }
    };
    let mut first_time =
        |names: &[&str]| names.iter().find_map(|name| fields.take(name).and_then(time::millis));
    let started = first_time(&["started_at", "started", "timestamp", "executed_at"]);
    let ended = first_time(&["ended_at", "ended", "completed_at"]);
    let result = fields.take("result").and_then(|raw| match serde_json::from_str(raw.get()) {
        Ok(value) => Some(value),
        Err(error) => {
            session.problem(line, format!("the result of receipt `{id}` cannot be read: {error}"));
            None
        }
    });
    let call_id = fields.string("call_id").map(std::borrow::Cow::into_owned);
    session.leave(&fields);
    Some(RecordedReceipt { id, tool, call_id, status, started, ended, result, id_shown: false })
}

fn first_string(fields: &mut Fields<'_>, names: &[&str]) -> String {
    names.iter().find_map(|name| fields.string(name)).unwrap_or_default().into_owned()
}
