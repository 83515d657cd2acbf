use std::ops::Range;

use counterfoil_model::{Claim, ClaimKind, Code, Family, Mode, Span};

use crate::facts::{Answer, Facts, Families};
use crate::findings::{Findings, Note};
use crate::grounding::{Reversed, reversed};
use crate::prose::{Action, Clause, Mood, Prose, Subject, Tags, Voice};
use crate::rule::{Group, Meta, Rule};

/// FK024: an order of deeds is claimed that the record excludes.
pub(crate) struct ImpossibleOrder;

static META: Meta = Meta {
    code: Code("FK024"),
    name: "impossible-order",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent says that it did one thing before another, and the record shows the opposite",
    page: include_str!("../../spec/FK024.md"),
};

impl Rule for ImpossibleOrder {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        for answer in facts.answers() {
            for said in orders(&answer.prose) {
                judge(facts, findings, answer, &said);
            }
            judge_reversed(facts, findings, answer);
        }
    }
}

/// Two calls that are told the other way round.
fn judge_reversed(facts: &Facts<'_>, findings: &mut Findings<'_>, answer: &Answer<'_>) {
    let Some(Reversed { clause, first, second }) = reversed(facts, answer) else { return };
    let tool = |at: usize| facts.deed(at).map_or("", |(execution, _)| execution.tool());
    let message = format!("`{}` was called only after `{}`", tool(first), tool(second));
    let claim = answer.prose.claim(clause, ClaimKind::Tool, Vec::new(), answer.turn);
    let evidence = [second, first].into_iter().filter_map(|at| facts.evidence_at(at));
    findings.contradicted(facts, &claim, Note::suspected(message).evidence(evidence));
}

/// One kind of deed said to have come before another.
struct Order {
    first: Family,
    second: Family,
    /// The clauses that say so.
    clauses: Range<usize>,
}

fn judge<'t>(facts: &Facts<'t>, findings: &mut Findings<'_>, answer: &Answer<'t>, said: &Order) {
    let turn = answer.turn;
    let (first, second) = (kind(said.first), kind(said.second));
    let mut deeds: Vec<_> = facts.deeds_before(turn).collect();
    deeds.reverse();
    let done = |wanted: Families| {
        let worked = |at: &usize| {
            deeds.get(*at).is_some_and(|(e, deed)| {
                let answered = e.outcome.is_some();
                answered && deed.families.meets(wanted) && deed.status_for(wanted).succeeded()
            })
        };
        (0..deeds.len()).filter(worked).collect::<Vec<usize>>()
    };
    let (firsts, seconds) = (done(first), done(second));
    let claim = claim(answer, &said.clauses);
    let (Some(&earliest), Some(&latest)) = (firsts.first(), seconds.last()) else {
        return findings.not_checkable(&claim);
    };
    let evidence = [earliest, latest]
        .into_iter()
        .filter_map(|at| deeds.get(at))
        .map(|(execution, _)| facts.evidence(execution));
    if earliest <= latest {
        return findings.supported(&claim, evidence);
    }
    // What a script did nobody knows: it may have been the first.
    let hidden = deeds.iter().take(latest).any(|(_, deed)| deed.opaque);
    if hidden || !facts.is_complete_before(turn) {
        return findings.not_checkable(&claim);
    }
    findings.contradicted(
        facts,
        &claim,
        Note::suspected(format!(
            "the record has the first `{}` only after the last `{}`",
            said.first.name(),
            said.second.name()
        ))
        .help("tell it in the order in which it was done")
        .evidence(evidence.collect::<Vec<_>>()),
    );
}

/// The deeds that are of the kind that a family names.
fn kind(family: Family) -> Families {
    match family {
        Family::Search | Family::Read => Families::of(&[Family::Search, Family::Read]),
        Family::Create | Family::Update => Families::of(&[Family::Create, Family::Update]),
        family => Families::of(&[family]),
    }
}

/// "I tested it before I pushed", "after checking the order, I cancelled it", "first … then …".
fn orders(prose: &Prose<'_>) -> Vec<Order> {
    let mut found = Vec::new();
    for (at, clause) in prose.clauses.iter().enumerate() {
        let Some(link) = link(prose, clause) else { continue };
        let linked = match link {
            Link::Then => done(prose, clause),
            _ => subordinate(prose, clause),
        };
        let Some(linked) = linked else { continue };
        let near = |other: usize| {
            let clause = prose.clauses.get(other)?;
            done(prose, clause).map(|family| (family, other))
        };
        let sentence = clause.sentence;
        let same =
            |other: &usize| prose.clauses.get(*other).is_some_and(|c| c.sentence == sentence);
        let main = match link {
            // "First, I …, then I …", also over two sentences.
            Link::Then => at.checked_sub(1).and_then(near),
            _ => at
                .checked_sub(1)
                .filter(same)
                .and_then(near)
                .or_else(|| Some(at + 1).filter(same).and_then(near)),
        };
        let Some((main, other)) = main else { continue };
        let (first, second) = match link {
            Link::Before | Link::Then => (main, linked),
            Link::After => (linked, main),
        };
        if kind(first) != kind(second) {
            let clauses = at.min(other)..at.max(other) + 1;
            found.push(Order { first, second, clauses });
        }
    }
    found
}

/// How a clause hangs on another.
#[derive(Clone, Copy)]
enum Link {
    Before,
    After,
    Then,
}

fn link(prose: &Prose<'_>, clause: &Clause) -> Option<Link> {
    let tokens = prose.tokens(clause.tokens.clone());
    let then = |word: &str| word.eq_ignore_ascii_case("then");
    let head =
        tokens.iter().find(|t| then(prose.word(t)) || !(t.is(',') || t.has(Tags::COORDINATE)));
    match prose.word(head?) {
        "before" | "Before" => Some(Link::Before),
        "after" | "After" => Some(Link::After),
        "then" | "Then" | "afterwards" | "Afterwards" => Some(Link::Then),
        _ => None,
    }
}

/// What the speaker says that they did.
fn done(prose: &Prose<'_>, clause: &Clause) -> Option<Family> {
    if clause.mood != Mood::Asserted {
        return None;
    }
    clause.predicates.iter().find_map(|predicate| {
        let own = match predicate.voice {
            Voice::Active => predicate.subject == Subject::Agent,
            Voice::Bare => true,
            _ => false,
        };
        let object = predicate.object_tokens.clone();
        (own && !predicate.negated).then(|| family(prose, predicate.action, object)).flatten()
    })
}

/// What a clause behind "before" or "after" speaks of: "running the tests", "I pushed".
fn subordinate(prose: &Prose<'_>, clause: &Clause) -> Option<Family> {
    let range = clause.tokens.clone();
    let tokens = prose.tokens(range.clone());
    let unsure = Tags::MODAL.or(Tags::NEGATION).or(Tags::USER).or(Tags::THIRD);
    if tokens.iter().any(|t| t.has(unsure)) {
        return None;
    }
    let verb = tokens.iter().take(4).position(|t| {
        let agent = tokens.iter().take(3).any(|t| t.has(Tags::AGENT));
        t.has(Tags::GERUND) || (agent && t.has(Tags::PAST))
    })?;
    let action = tokens.get(verb)?.verb?;
    family(prose, action, range.start + verb + 1..range.end)
}

/// The family of a verb, where need be with what it is done to: "ran the tests".
fn family(prose: &Prose<'_>, action: Action, object: Range<usize>) -> Option<Family> {
    let noun = || prose.tokens(object).iter().take(4).find_map(|t| t.noun);
    match action {
        Action::Of(Family::Run) | Action::Generic => noun(),
        Action::Any => noun(),
        Action::Of(family) => Some(family),
    }
}

fn claim(answer: &Answer<'_>, clauses: &Range<usize>) -> Claim {
    let prose = &answer.prose;
    let spans = prose.clauses.get(clauses.clone()).unwrap_or_default();
    let start = spans.first().map_or(0, |c| c.span.start);
    let end = spans.last().map_or(start, |c| c.span.end);
    let span = Span::new(start, end);
    Claim {
        kind: ClaimKind::Order,
        text: span.of(prose.text).to_owned(),
        objects: Vec::new(),
        span,
        turn: answer.turn,
    }
}
