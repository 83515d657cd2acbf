use counterfoil_model::{Code, Mode};

use crate::action::{
    ActionClaim, ActionVerdict, as_wished, listed_files, told_files, uncalled_by_name, unedited,
    unknown_documents, unwritten_names,
};
use crate::facts::Facts;
use crate::findings::{Findings, Note};
use crate::rule::{Group, Meta, Rule};

/// FK010: a completed side effect without a receipt.
pub(crate) struct PhantomCompletion;

static META: Meta = Meta {
    code: Code("FK010"),
    name: "phantom-completion",
    group: Group::Claim,
    mode: Mode::Block,
    summary: "a completed side effect is claimed, and no successful call did it",
    page: include_str!("../../../../spec/rules/FK010.md"),
};

impl Rule for PhantomCompletion {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for (said, verdict) in facts.actions() {
            let family = said.family.name();
            match verdict {
                ActionVerdict::Supported(at) => {
                    findings.supported(&said.claim, at.and_then(|at| facts.evidence_at(at)));
                }
                ActionVerdict::NotCheckable => findings.not_checkable(&said.claim),
                ActionVerdict::Elsewhere(at) | ActionVerdict::OfAnother(at) => findings
                    .contradicted(
                    facts,
                    &said.claim,
                    Note::proven(format!(
                        "the record shows this done to something else than what is named ({family})"
                    ))
                    .help(
                        "name the thing that the call was made for, or make the call for this one",
                    )
                    .provable_if(said.direct && matches!(verdict, ActionVerdict::Elsewhere(_)))
                    .evidence(facts.evidence_at(at)),
                ),
                ActionVerdict::Absent(provable) => findings.unsupported(
                    facts,
                    &said.claim,
                    Note::proven(format!(
                        "the agent says it is done, but no successful call did it ({family})"
                    ))
                    .help("do it with a tool, or say that it was not done")
                    .provable_if(provable),
                ),
                ActionVerdict::Failed(_)
                | ActionVerdict::FailedInstead(_)
                | ActionVerdict::LeftOut(_) => {}
            }
        }
        for (claim, particular) in uncalled_by_name(facts) {
            let open = |verdict| match verdict {
                ActionVerdict::Supported(_) => particular,
                verdict => matches!(verdict, ActionVerdict::NotCheckable),
            };
            let judged = |(said, verdict): (&ActionClaim, ActionVerdict)| {
                let span = said.claim.span;
                said.claim.turn == claim.turn
                    && span.start < claim.span.end
                    && claim.span.start < span.end
                    && !open(verdict)
            };
            if facts.actions().any(judged) {
                continue;
            }
            let tool = claim.objects.first().map_or("", |object| object.text.as_str());
            let note = Note::suspected(format!("`{tool}` was there for it, and was not called"))
                .help("do it with the tool, or say that it was not done");
            findings.unsupported(facts, &claim, note);
        }
        for claim in as_wished(facts) {
            let name = claim.objects.first().map_or("", |object| object.text.as_str());
            let note =
                Note::suspected(format!("`{name}` stands in what the user asked, and in no call"))
                    .help("change it with a tool, or say that it was not changed");
            findings.unsupported(facts, &claim, note);
        }
        for claim in listed_files(facts) {
            let name = claim.objects.first().map_or("", |object| object.text.as_str());
            let note = Note::suspected(format!("no call wrote `{name}`"))
                .help("list what was really changed, or change it");
            findings.unsupported(facts, &claim, note);
        }
        for (claim, missing) in told_files(facts) {
            let name = claim.objects.first().map_or("", |object| object.text.as_str());
            let note = Note::suspected(format!("{missing} `{name}`"))
                .help("name the file that was really changed, or change it");
            findings.unsupported(facts, &claim, note);
        }
        for claim in unedited(facts) {
            let note = Note::suspected("no call changed anything")
                .help("make the change, or say that it is not made yet");
            findings.unsupported(facts, &claim, note);
        }
        for claim in unknown_documents(facts) {
            let name = claim.objects.first().map_or("", |object| object.text.as_str());
            let note = Note::suspected(format!("no call was about a {name}"))
                .help("write it, or say that it is not there yet");
            findings.unsupported(facts, &claim, note);
        }
        for claim in unwritten_names(facts) {
            let name = claim.objects.first().map_or("", |object| object.text.as_str());
            let note = Note::suspected(format!("nothing that was written has `{name}`"))
                .help("name what was really put there, or put it there");
            findings.unsupported(facts, &claim, note);
        }
    }
}
