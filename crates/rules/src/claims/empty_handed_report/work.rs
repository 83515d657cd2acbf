//! Work that another agent is said to have done, and the calls that it would have taken.

use counterfoil_model::Family;

use crate::facts::{Answer, Execution, Facts};
use crate::prose::{Action, Clause, Mood, Prose, Tags, Token, TokenKind, Words};

/// The clauses that say that another agent looked at something, or what it found, while the one that
/// was asked to made no call; each with its report.
pub(super) fn undone_work<'p, 'f, 't>(
    facts: &'f Facts<'t>,
    answer: &'p Answer<'t>,
) -> Vec<(&'p Clause, &'f Execution<'t>)> {
    let asked: Vec<&Execution<'_>> = facts
        .deeds_before(answer.turn)
        .filter(|(execution, deed)| deed.delegates && execution.outcome.is_some())
        .map(|(execution, _)| execution)
        .collect();
    let (empty, busy): (Vec<&Execution<'_>>, Vec<&Execution<'_>>) =
        asked.into_iter().partition(|e| {
            e.outcome.is_some_and(|o| o.subagent_calls == Some(0)) || is_blank(e.text())
        });
    if empty.is_empty() {
        return Vec::new();
    }
    let prose = &answer.prose;
    let told = prose.clauses.iter().filter_map(|clause| {
        let behind = told_of_agent(prose, clause)?;
        let topic = topic_of(prose, clause);
        let report = empty.iter().find(|one| is_about(one, &busy, &topic))?;
        (!repeats(report.text(), behind, prose)).then_some((clause, *report))
    });
    told.collect()
}

/// Whether a report says nothing, or only that there is none.
pub(super) fn is_blank(report: &str) -> bool {
    const NONE: [&str; 8] = [
        "no output",
        "no result",
        "no response",
        "no final",
        "without a final",
        "without output",
        "returned nothing",
        "no content",
    ];
    let text = report.trim();
    let lower = text.get(..text.floor_char_boundary(200)).unwrap_or_default().to_ascii_lowercase();
    text.is_empty() || (text.len() < 120 && NONE.iter().any(|none| lower.contains(none)))
}

/// "The second agent reviewed the code", "the reviewer reports that …": what stands behind the verb.
fn told_of_agent<'p>(prose: &'p Prose<'_>, clause: &Clause) -> Option<&'p [Token]> {
    const AGENTS: &Words = words!["agent", "sub-agent", "subagent", "reviewer", "auditor"];
    let sentence = prose.sentences.get(clause.sentence)?;
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::INTEND);
    let told = matches!(clause.mood, Mood::Asserted | Mood::Observed | Mood::Attributed);
    if !told || tokens.iter().any(|t| t.has(doubt)) {
        return None;
    }
    let agent = tokens.iter().position(|t| !t.quoted && prose.is(t, AGENTS))?;
    let led = tokens.get(..agent)?.iter().any(|t| t.has(Tags::DETERMINER));
    let works = |t: &Token| {
        let looks = matches!(t.verb, Some(Action::Of(Family::Read | Family::Search)));
        let reports = t.has(Tags::REPORT) || prose.is(t, words!["reports"]);
        (looks && t.has(Tags::COMPLETED)) || reports && !t.has(Tags::PREPOSITION)
    };
    let verb = tokens.iter().skip(agent + 1).take(5).position(works)? + agent + 1;
    let denied = |t: &Token| t.has(Tags::NEGATION) || prose.is(t, words!["that", "which", "who"]);
    let between = tokens.get(agent + 1..verb)?;
    let from = clause.tokens.start + verb + 1;
    let behind = prose.tokens(from..sentence.tokens.end);
    // "found no problems" tells of a look; "read nothing", "but opened no file" of none.
    let none = behind.iter().enumerate().any(|(at, t)| {
        let found = at.checked_sub(1).and_then(|before| behind.get(before));
        let found = found.is_some_and(|t| prose.is(t, words!["found", "had", "saw"]));
        let trouble = behind.get(at + 1).is_some_and(|next| next.has(Tags::TROUBLE)) || found;
        t.has(Tags::ADVERSATIVE) || (t.has(Tags::NEGATION) && !trouble && !t.has(Tags::FAILURE))
    });
    (led && !none && !between.iter().any(denied)).then_some(behind)
}

/// The words that say what the clause is about, its sentence and the label before it included.
fn topic_of(prose: &Prose<'_>, clause: &Clause) -> Vec<String> {
    let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
    content(prose, prose.tokens(sentence.unwrap_or_default()))
}

/// Nouns and the like, in lower case and without a plural.
fn content(prose: &Prose<'_>, tokens: &[Token]) -> Vec<String> {
    // "the upload code": what can be a verb may be a noun.
    let named = |t: &&Token| t.tags.is_empty() || (t.verb.is_some() && !t.has(Tags::COMPLETED));
    let telling = tokens.iter().filter(|t| t.kind == TokenKind::Word).filter(named);
    let words = telling.map(|t| prose.word(t).to_ascii_lowercase());
    words.map(|word| word.trim_end_matches('s').to_owned()).filter(|word| word.len() >= 4).collect()
}

/// Whether the words are about what this agent was asked, and not about what others were.
fn is_about(asked: &Execution<'_>, busy: &[&Execution<'_>], topic: &[String]) -> bool {
    let holds = |execution: &Execution<'_>, word: &str| {
        let task = execution.arguments();
        task.to_ascii_lowercase().contains(word)
    };
    busy.is_empty()
        || topic.iter().any(|word| holds(asked, word) && !busy.iter().any(|one| holds(one, word)))
}

/// Whether the report itself says most of what is said behind the verb.
fn repeats(report: &str, behind: &[Token], prose: &Prose<'_>) -> bool {
    let report = report.to_ascii_lowercase();
    let words = content(prose, behind);
    let repeated = words.iter().filter(|word| report.contains(word.as_str())).count();
    !words.is_empty() && repeated * 2 > words.len()
}
