use counterfoil_model::{Claim, ClaimKind, Code, Family, Message, MessageKind, Mode, Role, Span};
use counterfoil_record::RunEnd;

use crate::facts::{Answer, Deed, Execution, Facts, Families};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::obligation::{Obligation, When};
use crate::prose::Prose;
use crate::rule::Rule;

/// CS019: the agent did not do what the policy requires for such work.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("CS019"),
    "unmet-obligation",
    Mode::Warn,
    "the agent ends its turn without doing something that the policy requires",
    include_str!("../../spec/CS019.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    let obligations = &facts.settings().obligations;
    if obligations.is_empty() {
        return;
    }
    let messages = &facts.transcript().messages;
    for answer in facts.answers().iter().filter(|answer| ends_turn(messages, answer.turn)) {
        for obligation in obligations {
            judge(facts, findings, answer, obligation);
        }
    }
}

fn judge<'t>(
    facts: &Facts<'t>,
    findings: &mut Findings<'_>,
    answer: &Answer<'t>,
    obligation: &Obligation,
) {
    let turn = answer.turn;
    let since = facts.request_before(turn);
    let mut deeds: Vec<_> = facts.deeds_before(turn).collect();
    deeds.reverse();
    let obliges = |at: &usize| {
        deeds.get(*at).is_some_and(|(e, deed)| e.called_at >= since && triggers(obligation, deed))
    };
    let triggers: Vec<usize> = (0..deeds.len()).filter(obliges).collect();
    // An action after the last trigger serves all of them; an action before must precede the first.
    let missed = match obligation.when {
        When::After => triggers.last().filter(|&&at| !met(obligation, &deeds, at + 1..deeds.len())),
        When::Before => triggers.first().filter(|&&at| !met(obligation, &deeds, 0..at)),
    };
    let claim = claim(answer);
    let Some(&at) = missed else {
        if !triggers.is_empty() {
            findings.supported(&claim, []);
        }
        return;
    };
    let Some((execution, deed)) = deeds.get(at) else { return };
    let need = &obligation.need;
    if admits(&answer.prose, &need.families) {
        return findings.supported(&claim, [facts.evidence(execution)]);
    }
    let hidden = deeds.iter().any(|(_, deed)| deed.delegates);
    if hidden || !facts.is_complete_before(turn) {
        return findings.not_checkable(&claim, "the log may not show all the work");
    }
    let tool = deed.tool.as_ref();
    let (missing, what) = match obligation.when {
        When::After => ("followed after", deed.written.last().map_or(tool, String::as_str)),
        When::Before => ("came before", tool),
    };
    findings.unsupported(
        facts,
        &claim,
        Note::proven(format!("no {} {missing} `{what}`", need.text))
            .help("do it, or say that it was not done; your configuration requires this step")
            .evidence([facts.evidence(execution)]),
    );
}

/// Whether a deed triggers the obligation.
fn triggers(obligation: &Obligation, deed: &Deed<'_>) -> bool {
    let wanted = Families::new(&obligation.trigger);
    let done = deed.families.meets(wanted) && deed.status_for(wanted).succeeded() && !deed.is_note;
    let files =
        !obligation.is_about_files() || deed.written.iter().any(|path| obligation.covers(path));
    done && files
}

/// Whether one of the deeds meets the obligation and succeeded.
fn met(
    obligation: &Obligation,
    deeds: &[(&Execution<'_>, &Deed<'_>)],
    among: std::ops::Range<usize>,
) -> bool {
    let need = &obligation.need.families;
    let wanted = Families::new(need);
    deeds.get(among).unwrap_or_default().iter().any(|(execution, deed)| match &deed.shell {
        Some(work) => {
            let mut runs = work.runs.iter().filter(|run| need.contains(&run.family));
            runs.any(|run| run.end() == RunEnd::Passed)
                || (work.runs.is_empty() && work.opaque && tells(execution, need))
        }
        None => deed.families.meets(wanted) && deed.status().succeeded(),
    })
}

/// Whether a command with unknown effects printed the output of a check that passed.
fn tells(execution: &Execution<'_>, need: &[Family]) -> bool {
    use counterfoil_shell::{ActivityKind, OutputVerdict, summary};
    let kind = match need.first() {
        Some(Family::Test) => ActivityKind::Test,
        Some(Family::Lint) => ActivityKind::Lint,
        Some(Family::Build) => ActivityKind::Build,
        _ => return false,
    };
    summary(execution.text(), kind).verdict == Some(OutputVerdict::Passed)
}

/// Whether the answer admits that it was not done: "I have not run the tests".
fn admits(prose: &Prose<'_>, need: &[Family]) -> bool {
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let named = tokens.iter().any(|t| {
            t.noun.is_some_and(|noun| need.contains(&noun))
                || matches!(t.verb, Some(crate::prose::Action::Of(f)) if need.contains(&f))
        });
        named && tokens.iter().any(|t| t.has(tags![NEGATION, FAILURE]))
    })
}

/// Whether the message is the agent's last before the user's next message or the end of the log.
fn ends_turn(messages: &[Message], turn: usize) -> bool {
    let calls = messages.get(turn).is_none_or(|m| !m.calls.is_empty());
    let next = messages.get(turn + 1..).unwrap_or_default().iter();
    let mut next = next.filter(|m| m.kind == MessageKind::Ordinary);
    !calls && next.next().is_none_or(|m| m.role == Role::User)
}

/// A claim whose text is the first sentence of the answer, since it is about the whole answer.
fn claim(answer: &Answer<'_>) -> Claim {
    let prose = &answer.prose;
    let sentence = prose.sentences.first().map(|s| prose.tokens(s.tokens.clone()));
    let bounds = sentence.and_then(|tokens| Some((tokens.first()?.start, tokens.last()?.end)));
    let (start, end) = bounds.unwrap_or_default();
    let span = Span::new(start as usize, end as usize);
    prose.claim_at(span, ClaimKind::Completion, Vec::new(), answer.turn)
}
