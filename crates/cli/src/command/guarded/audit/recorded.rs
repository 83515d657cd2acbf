//! The ledger beside the audit log.

use counterfoil_ledger::{Checkpoint, Expected, HeldAgainst, PublicKey, Verification};
use serde_json::{Value, json};

use super::answer::Mark;
use counterfoil_report::counted;

/// The result of verifying the ledger.
#[derive(Default)]
pub(super) struct Recorded {
    pub(super) rows: Vec<(Mark, String)>,
    pub(super) json: Value,
    /// Whether its key is one of the given keys, or was signed by one.
    pub(super) key_fits: bool,
}

/// Verifies the ledger against every kept checkpoint of it.
pub(super) fn recorded(
    verify: impl Fn(&Expected) -> Result<Verification, String>,
    kept: &[Checkpoint],
    keys: &[PublicKey],
) -> Recorded {
    let mut all = Recorded { key_fits: true, ..Recorded::default() };
    let mut json = Vec::new();
    let against: Vec<Option<Checkpoint>> =
        if kept.is_empty() { vec![None] } else { kept.iter().cloned().map(Some).collect() };
    for checkpoint in against {
        let expected = Expected { checkpoint, public_keys: keys.to_vec() };
        let rows = match verify(&expected) {
            Ok(found) => {
                all.key_fits &= found.public_key == HeldAgainst::Fits;
                json.push(as_json(&found));
                of_ledger(&found)
            }
            Err(error) => {
                all.key_fits = false;
                json.push(json!({ "broken": error }));
                vec![(Mark::Broken, error)]
            }
        };
        // The other checks give the same rows for each checkpoint.
        for row in rows {
            if !all.rows.contains(&row) {
                all.rows.push(row);
            }
        }
    }
    all.json = Value::Array(json);
    all
}

pub(super) fn no_ledger(kept: &[Checkpoint]) -> Vec<(Mark, String)> {
    let mark = if kept.is_empty() { Mark::Open } else { Mark::Broken };
    vec![(mark, "no ledger found".to_owned())]
}

fn of_ledger(found: &Verification) -> Vec<(Mark, String)> {
    let mut rows = vec![match &found.broken {
        None => (
            Mark::Holds,
            format!(
                "{} from {}, {} of them signed; {}",
                counted(found.events, "event"),
                counted(found.sessions, "session"),
                found.signed,
                counted(found.results, "stored result"),
            ),
        ),
        Some(broken) => (Mark::Broken, broken.to_string()),
    }];
    let held = |what: &str, held: HeldAgainst, without: &str| match held {
        HeldAgainst::Nothing => {
            (Mark::Open, format!("no separately kept {what} was given: {without}"))
        }
        HeldAgainst::Fits => (Mark::Holds, format!("the ledger matches the saved {what}")),
        HeldAgainst::DoesNotFit => {
            (Mark::Broken, format!("the ledger does not match the saved {what}"))
        }
        HeldAgainst::NotCheckable => (
            Mark::Open,
            format!(
                "the ledger cannot be compared with the saved {what}: retention deleted those \
                 events"
            ),
        ),
    };
    rows.push(held(
        "checkpoint",
        found.checkpoint,
        "events removed from the end would go undetected",
    ));
    rows.push(held("public key", found.public_key, "a replaced key would go undetected"));
    rows
}

fn as_json(found: &Verification) -> Value {
    let held = |held| match held {
        HeldAgainst::Nothing => "nothing",
        HeldAgainst::Fits => "fits",
        HeldAgainst::DoesNotFit => "does_not_fit",
        HeldAgainst::NotCheckable => "not_checkable",
    };
    json!({
        "events": found.events, "sessions": found.sessions, "signed": found.signed,
        "checkpoints": found.checkpoints, "results": found.results,
        "checkpoint": held(found.checkpoint), "public_key": held(found.public_key),
        "broken": found.broken.as_ref().map(ToString::to_string),
    })
}
