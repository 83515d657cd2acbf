use std::collections::BTreeSet;

use counterfoil_model::{Claim, ClaimKind, Code, Mode, Object, ObjectKind, Role};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::prose::{Prose, Tags, Token, sets};
use crate::rule::Rule;
use crate::values::{Stated, misquoted};

/// The maximum number of bytes of the user's request that are searched.
const LONGEST_REQUEST: usize = 4_000;

/// FK030: the agent states an id that differs from the ones in the results.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("FK030"),
    "misreported-result",
    Mode::Block,
    "the agent states an id that differs by one or two characters from one in the results",
    include_str!("../../spec/FK030.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for answer in facts.answers() {
        let mut seen = BTreeSet::new();
        for value in facts.stated_in(answer.turn) {
            if seen.insert(value.text) {
                judge(facts, findings, &answer.prose, value);
            }
        }
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, prose: &Prose<'_>, value: &Stated<'_>) {
    let turn = value.turn;
    let object = Object { kind: ObjectKind::Id, text: value.text.to_owned() };
    let claim = Claim {
        text: value.text.to_owned(),
        ..prose.claim_at(value.span, ClaimKind::Value, vec![object], turn)
    };
    if let Some(text) = facts.source_of(value.text, turn, true) {
        return findings.supported(&claim, [facts.evidence_in(text)]);
    }
    if spelled_by_user(facts, value) || is_denied(prose, value) {
        return findings.supported(&claim, []);
    }
    let Some((text, source)) = misquoted(facts.given(), value.text, turn) else {
        return findings.not_checkable(
            &claim,
            "the value is not in the record, and no value in it is similar",
        );
    };
    let message =
        format!("`{}` does not appear in the record; the record has `{text}`", value.text);
    findings.contradicted(
        facts,
        &claim,
        Note::proven(message)
            .help("quote ids exactly as they appear in the result")
            .provable_if(
                facts.shows_all_before(turn)
                    && source.text.trim_start().starts_with(['{', '['])
                    && !facts.acts_freely_before(turn),
            )
            .evidence([facts.evidence_in(source)]),
    );
}

/// "I don't see an order X": an id that the answer calls missing need not occur in a result.
fn is_denied(prose: &Prose<'_>, value: &Stated<'_>) -> bool {
    let at = prose.clauses.partition_point(|clause| clause.tokens.end <= value.token);
    let words =
        || prose.clauses.get(at).map(|c| prose.tokens(c.tokens.clone())).unwrap_or_default();
    let exists = |t: &Token| prose.is(t, &sets::EXISTS);
    words().iter().any(|t| t.has(Tags::NEGATION)) && words().iter().any(exists)
}

/// Whether the user wrote the id in parts: "W 22-10".
fn spelled_by_user(facts: &Facts<'_>, value: &Stated<'_>) -> bool {
    let plain = |text: &str| -> String {
        let letters = text.chars().filter(char::is_ascii_alphanumeric);
        letters.map(|c| c.to_ascii_lowercase()).collect()
    };
    let wanted = plain(value.text);
    let messages = facts.transcript().messages.get(..value.turn).unwrap_or_default();
    messages
        .iter()
        .rev()
        .filter(|m| m.role == Role::User)
        .take(20)
        .any(|m| m.text.len() <= LONGEST_REQUEST && plain(&m.text).contains(&wanted))
}
