//! Good news in the words of a tool that was at hand and never called: "the recall has been reported
//! to the regulator", with `regulator_report`.

use counterfoil_model::{Claim, Family, Object, ObjectKind};

use super::good_news::{COMMON, GoodNews, SHORTEST, claim, is_disclosed};
use super::judge::{LOOK_BACK, args};
use super::tie::head;
use crate::facts::{Answer, Facts, Families, ToolName};
use crate::prose::{
    Action, Clause, Lexicon, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, Words,
    is_agenda,
};
use crate::values::holds;

/// The claims, each with the tool as its object, and whether what tells is no word for an act: then
/// no call of another kind can have been meant.
pub(crate) fn uncalled_by_name(facts: &Facts<'_>) -> Vec<(Claim, bool)> {
    let mut found = Vec::new();
    if !facts.transcript().catalog.is_known() {
        return found;
    }
    for answer in facts.answers() {
        let turn = answer.turn;
        // A command line may do anything, and so may another agent.
        if facts.runs_shell_before(turn) || facts.delegates_before(turn) {
            continue;
        }
        let uncalled = uncalled(facts, turn);
        if uncalled.is_empty() || !facts.is_complete_before(turn) {
            continue;
        }
        for clause in answer.prose.clauses.iter().filter(|c| is_settled(&answer.prose, c)) {
            let Some(said) = GoodNews::of(&answer.prose, clause) else { continue };
            let told = uncalled.iter().find_map(|tool| {
                let telling = telling(facts, answer, &said, tool)?;
                Some((tool.name.to_owned(), telling))
            });
            if let Some((name, telling)) = told {
                let acts = |word: &&str| {
                    let entry = Lexicon::english().get(word);
                    entry.is_some_and(|e| e.verb.is_some() || e.noun.is_some())
                };
                let particular = !telling.iter().all(acts);
                // "the items listed for exchange": what an act is for is not that act.
                let done = telling
                    .iter()
                    .any(|word| said.verbs.iter().any(|verb| head(verb) == head(word)));
                if !particular && !done {
                    continue;
                }
                let object = Object { kind: ObjectKind::Tool, text: name };
                let claim = Claim { objects: vec![object], ..claim(answer, clause) };
                found.push((claim, particular));
            }
        }
    }
    found
}

/// The tools that do more than look, and were not called before a message.
fn uncalled<'f, 't>(facts: &'f Facts<'t>, turn: usize) -> Vec<&'f ToolName<'t>> {
    let reads = Families::of(&[Family::Read, Family::Search, Family::Compute]);
    let tools = facts.tool_names().iter().filter(|tool| !tool.families.meets(reads));
    tools.filter(|tool| !facts.has_called(tool.name, turn)).collect()
}

/// Whether a clause tells of what is over, and not of what is to come, or what the user did.
fn is_settled(prose: &Prose<'_>, clause: &Clause) -> bool {
    const AHEAD: &Words = words![
        "be", "need", "needs", "remains", "remain", "pending", "awaiting", "waiting", "waits",
        "open", "due", "missing", "required", "planned", "possible", "left",
    ];
    let tokens = prose.tokens(clause.tokens.clone());
    // "I've ordered you a new one"
    let receives = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        clause.tags.any(Tags::AGENT) && before.is_some_and(|t| t.tags.any(Tags::COMPLETED))
    };
    let ahead =
        |(at, t): (usize, &Token)| (t.has(Tags::USER) && !receives(at)) || prose.is(t, AHEAD);
    // "Refunds are issued within 5 days": how it is done as a rule.
    let over = Tags::AGENT.or(Tags::HAVE).or(Tags::BEEN).or(Tags::PAST_BE).or(Tags::NOW);
    let rule = clause.tags.any(Tags::BE) && !clause.tags.any(over);
    // "the task called X", "as mentioned": which one.
    if !tells_of_act(prose, clause) {
        return false;
    }
    !rule && !tokens.iter().enumerate().any(ahead) && !is_agenda(prose, clause)
}

/// Whether a clause has a finite verb for something that was done: "I've filed it", "it was placed",
/// "it has gone out", "Refund issued".
fn tells_of_act(prose: &Prose<'_>, clause: &Clause) -> bool {
    let acts = |p: &Predicate| {
        let own = p.voice != Voice::Active || p.subject == Subject::Agent;
        let kind = match p.action {
            Action::Of(family) => family.changes_state(),
            Action::Generic | Action::Any => true,
        };
        own && kind && !p.negated
    };
    let tokens = prose.tokens(clause.tokens.clone());
    let small = Tags::ADVERB.or(Tags::SUCCESS).or(Tags::NOW);
    let ended = |t: &Token| t.tags.any(Tags::COMPLETED) || prose.bytes(t).ends_with(b"ed");
    let passive = tokens.iter().enumerate().any(|(at, t)| {
        let mut behind = tokens.iter().skip(at + 1).skip_while(|t| t.has(small));
        let gone = t.has(Tags::HAVE) && at > 0;
        let link = t.has(Tags::BEEN.or(Tags::PAST_BE));
        behind.next().is_some_and(|next| {
            (link && ended(next)) || (gone && prose.is(next, words!["gone", "left"]))
        })
    });
    let way = tokens.iter().any(|t| prose.is(t, words!["way"]));
    // "I have in the meantime cancelled it"
    let agent = tokens.iter().position(|t| t.has(Tags::AGENT));
    let did = agent.is_some_and(|agent| {
        tokens.iter().skip(agent).any(|t| {
            let changes = matches!(t.verb, Some(Action::Of(family)) if family.changes_state());
            changes && t.tags.any(Tags::COMPLETED)
        })
    });
    // "Create one or more tasks assigned to Olga"
    let order = tokens
        .iter()
        .find(|t| t.kind == TokenKind::Word)
        .is_some_and(|t| t.has(Tags::BASE) && !t.tags.any(Tags::COMPLETED) && t.noun.is_none());
    // "Refund issued, $214.50 to your card"
    let mut words = tokens.iter().filter(|t| !matches!(t.kind, TokenKind::Symbol(_)));
    let (thing, done) = (words.next(), words.next());
    let bare = thing.is_some_and(|t| t.kind == TokenKind::Word && t.noun.is_some())
        && done.is_some_and(ended)
        && words.next().is_none_or(|t| t.has(Tags::PREPOSITION));
    !order && (passive || bare || way || did || clause.predicates.iter().any(acts))
}

/// Whether two words are one, in another number or as a participle: "reported" and `report`.
fn is_same(said: &str, word: &str) -> bool {
    let plain = |word: &str| word.trim_end_matches('s').to_owned();
    let base = Lexicon::english().base_of(said);
    plain(said) == plain(word)
        || base.is_some_and(|base| base == word)
        || (said.ends_with("ed") && head(said) == head(word))
}

/// The words of the tool in which the good news is told, and which no other tool's name has; `None`
/// where there are not two of its words, and where something that was done or read speaks of it.
fn telling<'w>(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    said: &GoodNews,
    tool: &'w ToolName<'_>,
) -> Option<Vec<&'w str>> {
    let told = |word: &str| said.words.iter().any(|known| is_same(known, word));
    let named: Vec<&str> =
        tool.words.iter().map(String::as_str).filter(|w| w.len() >= SHORTEST && told(w)).collect();
    if named.len() < 2 {
        return None;
    }
    let called = |word: &str| {
        let used = |t: &ToolName<'_>| t.words.iter().any(|known| head(known) == head(word));
        let tools = facts.tool_names().iter().filter(|t| used(t));
        tools.into_iter().any(|t| facts.has_called(t.name, answer.turn))
    };
    let telling: Vec<&str> =
        named.iter().copied().filter(|word| !COMMON.contains(word) && !called(word)).collect();
    let mut recent = facts.deeds_before(answer.turn).take(LOOK_BACK);
    let speaks = |text: &str| telling.iter().all(|word| holds(text, head(word)));
    let alone = !telling.is_empty()
        && !recent.any(|(e, _)| speaks(e.text()) || speaks(args(e)))
        && !telling.iter().any(|word| is_disclosed(&answer.prose, word));
    alone.then_some(telling)
}
