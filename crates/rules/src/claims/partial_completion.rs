use std::collections::BTreeSet;

use counterfoil_model::{ClaimKind, Code, Mode, Status};

use crate::action::{self, ActionClaim, ActionVerdict};
use crate::facts::{Answer, Deed, Execution, Facts, Families, vouching};
use crate::findings::{Findings, Note};
use crate::grounding::{Rest, rest};
use crate::prose::{Prose, Tags, Token, TokenKind, sets};
use crate::rule::{Group, Meta, Rule};
use crate::values::{each_figure, holds, longest_list, whole};

/// FK011: all of so many are said to be done, and fewer were.
pub(crate) struct PartialCompletion;

static META: Meta = Meta {
    code: Code("FK011"),
    name: "partial-completion",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent says that it did a number of things, and fewer calls did them",
    page: include_str!("../../spec/FK011.md"),
};

impl Rule for PartialCompletion {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let answers = facts.answers();
        for (said, verdict) in facts.actions().filter(|(said, _)| said.direct || said.state) {
            let ActionVerdict::Supported(by) = verdict else { continue };
            let at = answers.partition_point(|answer| answer.turn < said.claim.turn);
            let Some(wanted) = answers.get(at).and_then(|answer| all_of(answer, said)) else {
                if says_all(said) && !judge_left_out(facts, findings, said, by, None) {
                    judge_failed(facts, findings, said);
                }
                continue;
            };
            if !judge_left_out(facts, findings, said, by, Some(wanted)) {
                judge(facts, findings, said, wanted);
            }
        }
        for answer in answers {
            judge_rest(facts, findings, answer);
        }
    }
}

/// A list of which only some were worked through, where all are told as done.
fn judge_rest(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>) {
    let Some(Rest { clause, tool, done, of, left, at }) = rest(facts, answer) else { return };
    let claim = answer.prose.claim(clause, ClaimKind::Count, Vec::new(), answer.turn);
    let message = format!("`{tool}` was called for {done} of {of}, and not for `{left}`");
    let note = Note::suspected(message).evidence(facts.evidence_at(at));
    findings.contradicted(facts, &claim, note);
}

/// So many calls before a message are looked through.
const MOST_CALLS: usize = 512;
/// And so many for lists of what they were to do.
const FEW_CALLS: usize = 32;

/// How many things a claim says were all acted on: "all five orders", "both mails".
fn all_of(answer: &Answer<'_>, said: &ActionClaim) -> Option<u64> {
    let prose = &answer.prose;
    let from = prose.tokens.partition_point(|t| (t.start as usize) < said.claim.span.start);
    let until = prose.tokens.partition_point(|t| (t.end as usize) <= said.claim.span.end);
    let tokens = prose.tokens(from..until);
    tokens.iter().enumerate().find_map(|(at, token)| match word(prose, Some(token)) {
        // "Both done: the seat and the meal": two things of different kinds.
        "both" if tokens.get(at + 1).is_some_and(|t| t.has(Tags::DONE)) => None,
        "both" => Some(2),
        // "every one of the five"
        "every" | "each" if word(prose, tokens.get(at + 1)) == "one" => {
            let number = tokens.get(at + 3..at + 5)?.iter().find_map(|t| whole(prose.word(t)))?;
            Some(number).filter(|n| (2..1_000).contains(n))
        }
        "all" => {
            let of = matches!(word(prose, tokens.get(at + 1)), "of" | "the");
            let the = of && matches!(word(prose, tokens.get(at + 2)), "the" | "your");
            let number = tokens.get(at + 1 + usize::from(of) + usize::from(the))?;
            let number = whole(prose.word(number)).or_else(|| before_all(prose, tokens, at));
            number.filter(|n| (2..1_000).contains(n))
        }
        _ => None,
    })
}

/// "The five letters have all been sent"
fn before_all(prose: &Prose<'_>, tokens: &[Token], all: usize) -> Option<u64> {
    let behind = tokens.get(all + 1)?;
    let verbal = behind.has(Tags::BE.or(Tags::BEEN).or(Tags::HAVE)) || behind.verb.is_some();
    let before = tokens.get(..all).filter(|_| verbal)?;
    let open = before.iter().any(|t| t.has(Tags::PREPOSITION) || matches!(t.kind, TokenKind::Id));
    let mut numbers = before.iter().filter_map(|t| whole(prose.word(t)));
    let number = numbers.next().filter(|_| !open)?;
    numbers.next().is_none().then_some(number)
}

/// "Every channel is archived now": of all there are, however many.
fn says_all(said: &ActionClaim) -> bool {
    let text = said.claim.text.to_ascii_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric()).take(10).collect();
    words.iter().take(8).enumerate().any(|(at, word)| match *word {
        // "all the same", "all right", "after all", "not at all"
        "all" => {
            let led = at.checked_sub(1).and_then(|before| words.get(before));
            let behind = words.get(at + 1..).unwrap_or_default();
            // "The seat, the flight and the hotel all went through": those that are listed.
            let listed = at > 3 && words.get(..at).is_some_and(|before| before.contains(&"and"));
            !listed
                && !matches!(led, Some(&("after" | "at")))
                && !matches!(behind, ["the", "same", ..] | ["right", ..] | ["set", ..])
        }
        word => matches!(word, "every" | "everyone" | "each"),
    })
}

/// Whether the call that vouches, or one that was made for so many, lists some as left out, which
/// is told then.
fn judge_left_out(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    said: &ActionClaim,
    by: Option<usize>,
    wanted: Option<u64>,
) -> bool {
    let since = facts.request_before(said.claim.turn);
    let accepted = vouching(said.family);
    let among = if wanted.is_some() { FEW_CALLS } else { 0 };
    let of_many = (0..facts.record().count_before(said.claim.turn)).rev().take(among).find(|at| {
        facts.deed(*at).is_some_and(|(e, deed)| {
            let listed = || e.call.and_then(|call| longest_list(call.arguments.as_str()));
            e.called_at >= since && deed.families.meets(accepted) && listed() == wanted
        })
    });
    let Some(at) = of_many.or(by) else { return false };
    let Some((execution, deed)) = facts.deed(at) else { return false };
    let left = action::count_left_out(facts, at, &said.verb);
    if left == 0 || discloses(facts, said) {
        return false;
    }
    let tool = &deed.tool;
    let note =
        Note::suspected(format!("the agent says all are done, but `{tool}` left out {left}"))
            .help("do the rest, or say which were not done")
            .evidence([facts.evidence(execution)]);
    findings.contradicted(facts, &said.claim, note);
    true
}

/// "Four were updated, one was rejected": whether the answer tells of what was left out.
fn discloses(facts: &Facts<'_>, said: &ActionClaim) -> bool {
    let bad = Tags::NEGATION.or(Tags::FAILURE).or(Tags::ADVERSATIVE);
    facts.answers().iter().filter(|answer| answer.turn == said.claim.turn).any(|answer| {
        sets::LEFT_OUT.list.iter().any(|word| holds(answer.prose.text, word))
            || answer.prose.tokens.iter().any(|t| t.has(bad))
    })
}

/// A call that should have been a part of the whole failed, and none after it worked.
fn judge_failed(facts: &Facts<'_>, findings: &mut Findings<'_>, said: &ActionClaim) {
    let accepted = vouching(said.family);
    let since = facts.request_before(said.claim.turn);
    let recent = || {
        let deeds = facts.deeds_before(said.claim.turn).take(MOST_CALLS);
        deeds.take_while(|(execution, _)| execution.called_at >= since)
    };
    let latest = recent().find(|(_, deed)| match &deed.shell {
        // A command may have done the rest.
        Some(work) => (work.writes_unnamed || work.opaque) && deed.status().succeeded(),
        None => deed.families.meets(accepted),
    });
    // An edit is tried again with other words.
    let edits = |deed: &Deed<'_>| deed.shell.is_some() || deed.edits_files();
    let exact =
        |deed: &Deed<'_>| deed.families.has(said.family) && deed.written.is_empty() && !edits(deed);
    // One that failed, and was not made for the same thing again.
    let left = recent().find(|(execution, deed)| {
        let failed = exact(deed) && matches!(deed.status(), Status::Failed | Status::Denied);
        failed
            && !recent().any(|(later, other)| {
                later.called_at > execution.called_at
                    && other.status().succeeded()
                    && is_of_same(later, execution)
            })
    });
    let Some((execution, deed)) = left.or(latest) else { return };
    if deed.opaque || deed.status().succeeded() || deed.status() == Status::Open {
        return;
    }
    findings.unsupported(
        facts,
        &said.claim,
        Note::suspected(format!(
            "the agent says all are done, but the latest `{}` failed",
            deed.tool
        ))
        .help("do the rest, or say which were not done")
        .evidence([facts.evidence(execution)]),
    );
}

/// Whether two calls of one tool were made for the same thing, as far as their arguments tell.
fn is_of_same(one: &Execution<'_>, other: &Execution<'_>) -> bool {
    fn ids<'t>(execution: &Execution<'t>) -> impl Iterator<Item = &'t str> {
        let text = execution.arguments();
        let part = |c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '#'));
        text.split(part).filter(|word| word.len() > 2 && word.bytes().any(|b| b.is_ascii_digit()))
    }
    let mut wanted = ids(other).peekable();
    one.tool() == other.tool()
        && (wanted.peek().is_none() || wanted.any(|id| ids(one).any(|known| known == id)))
}

fn word<'t>(prose: &Prose<'t>, token: Option<&Token>) -> &'t str {
    let word = token.filter(|t| !t.quoted).map(|t| prose.word(t)).unwrap_or_default();
    match word {
        "Both" => "both",
        "All" => "all",
        word => word,
    }
}

fn judge(facts: &Facts<'_>, findings: &mut Findings<'_>, said: &ActionClaim, wanted: u64) {
    let claim = &said.claim;
    let accepted = vouching(said.family);
    let since = facts.request_before(claim.turn);
    let mut done = BTreeSet::new();
    let mut evidence = Vec::new();
    // Acts of exactly this kind count, where there are any.
    let exact = facts
        .deeds_before(claim.turn)
        .take(MOST_CALLS)
        .any(|(_, deed)| deed.families.has(said.family) && deed.status().succeeded());
    let accepted = if exact { Families::of(&[said.family]) } else { accepted };
    for (execution, deed) in facts.deeds_before(claim.turn).take(MOST_CALLS) {
        if deed.shell.is_some() || deed.opaque {
            return findings.not_checkable(claim);
        }
        if !deed.families.meets(accepted) || !deed.status().succeeded() {
            continue;
        }
        let Some(call) = execution.call else { return findings.not_checkable(claim) };
        // One call may do it to many.
        let many = longest_list(call.arguments.as_str()).max(longest_list(execution.text()));
        if many.is_none_or(|many| many > 1) || execution.called_at < since {
            return findings.not_checkable(claim);
        }
        // `{"sent": 8}`
        let mut counted = false;
        each_figure(execution.text(), |figure| {
            counted |= i64::try_from(wanted).is_ok_and(|n| figure.0 == n.saturating_mul(100));
        });
        if counted {
            return findings.not_checkable(claim);
        }
        done.insert((call.tool.as_str(), call.arguments.as_str()));
        evidence.push(facts.evidence(execution));
    }
    let count = u64::try_from(done.len()).unwrap_or(u64::MAX);
    if count == 0 || count >= wanted {
        return findings.supported(claim, evidence);
    }
    findings.unsupported(
        facts,
        claim,
        Note::suspected(format!("the agent says {wanted} are done; {count} calls did it"))
            .help("do the rest, or say how many were done")
            .evidence(evidence),
    );
}
