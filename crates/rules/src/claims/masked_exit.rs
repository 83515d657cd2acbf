use counterfoil_model::{Code, Family, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::outcome::OutcomeVerdict;
use crate::prose::{Action, Tags, Token};
use crate::rule::{Group, Meta, Rule};

/// CS015: a check is said to have passed whose status nobody saw, or that checked nothing.
pub(crate) struct MaskedExit;

static META: Meta = Meta {
    code: Code("CS015"),
    name: "masked-exit",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent says that a check passed, but its status was hidden, or it found nothing to check",
    page: include_str!("../../spec/CS015.md"),
};

impl Rule for MaskedExit {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for (said, verdict) in facts.outcomes() {
            let (at, message, help) = match *verdict {
                OutcomeVerdict::Empty(at) if admits_empty(facts, said.claim.turn) => {
                    findings.supported(&said.claim, facts.evidence_at(at));
                    continue;
                }
                OutcomeVerdict::Empty(at) => (
                    at,
                    format!("the latest {} run found nothing to run", said.noun()),
                    "run it so that it collects something",
                ),
                OutcomeVerdict::Hidden(at) => (
                    at,
                    format!("the status of the latest {} run was hidden", said.noun()),
                    "run it on its own, with no pipe or `||` after it, or use `set -o pipefail`",
                ),
                OutcomeVerdict::Running(at) => (
                    at,
                    format!("the latest {} run has not ended", said.noun()),
                    "wait for its end, and read its output",
                ),
                _ => continue,
            };
            let note = Note::suspected(message).help(help).evidence(facts.evidence_at(at));
            findings.unsupported(facts, &said.claim, note);
        }
    }
}

/// "ran 0 tests", "no test ran", "the filter matched none": whether the answer itself says that
/// nothing was run.
fn admits_empty(facts: &Facts<'_>, turn: usize) -> bool {
    let answer = facts.answers().iter().find(|answer| answer.turn == turn);
    answer.is_some_and(|answer| {
        let prose = &answer.prose;
        prose.clauses.iter().any(|clause| {
            let tokens = prose.tokens(clause.tokens.clone());
            let none = |t: &Token| prose.is(t, words!["0", "zero", "no", "none", "nothing"]);
            let tests = |t: &Token| t.noun == Some(Family::Test) || prose.is(t, words!["tests"]);
            let ran = |t: &Token| {
                let empty =
                    words!["matched", "matches", "collected", "executed", "exercised", "found"];
                t.verb == Some(Action::Of(Family::Run)) || prose.is(t, empty)
            };
            let counted = tokens.windows(2).any(|pair| {
                let [number, noun] = pair else { return false };
                none(number) && tests(noun)
            });
            let trouble = tokens.iter().any(|t| t.has(Tags::TROUBLE.or(Tags::FAILURE)));
            !trouble && tokens.iter().any(none) && tokens.iter().any(ran) && {
                counted
                    || tokens.iter().any(tests)
                    || tokens.iter().any(|t| prose.is(t, words!["none"]))
            }
        })
    })
}
