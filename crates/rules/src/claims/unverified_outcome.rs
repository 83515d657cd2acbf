use counterfoil_model::{Code, Mode};

use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::outcome::{OutcomeClaim, OutcomeVerdict, failed_last, never_run, outcomes, shows_all};
use crate::rule::Rule;

/// CS016: the agent says that a check passed that failed or never ran.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("CS016"),
    "unverified-outcome",
    Mode::Block,
    "the agent says that the tests, the build or the linter passes, but it failed or never ran",
    include_str!("../../spec/CS016.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for (claimed, verdict) in outcomes(facts) {
        judge(facts, findings, &claimed, verdict);
    }
}

/// Judges a check that the agent says passed.
fn judge(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    claimed: &OutcomeClaim,
    verdict: OutcomeVerdict,
) {
    let (claim, what) = (&claimed.claim, claimed.noun());
    match verdict {
        OutcomeVerdict::Passed(at) if shows_all(facts, claimed, at) => {
            findings.supported(claim, facts.evidence_at(at));
        }
        OutcomeVerdict::Failed(at, excludes) if !excludes || !failed_last(facts, claimed, at) => {
            findings.not_checkable(
                claim,
                "a run failed, but the claim may be about another part, or about a later state",
            );
        }
        OutcomeVerdict::Failed(at, _) => {
            let note = Note::proven(format!("the latest {what} run failed"))
                .help("say what failed, or fix it and run it again")
                .evidence(facts.evidence_at(at));
            findings.contradicted(facts, claim, note);
        }
        OutcomeVerdict::Never => {
            let note = Note::proven(format!("no {what} run is recorded before this"))
                .help("run it, or say that it was not run")
                .provable_if(never_run(facts, claimed));
            findings.unsupported(facts, claim, note);
        }
        OutcomeVerdict::Passed(_) => {
            findings.not_checkable(claim, "a run passed, but it may not cover the whole claim");
        }
        OutcomeVerdict::NotCheckable(reason) => findings.not_checkable(claim, reason),
    }
}
