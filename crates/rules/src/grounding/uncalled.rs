//! What only a tool that was not called could have done, told as done.

use std::collections::BTreeSet;

use counterfoil_model::Tool;

use super::assertion::{Assertion, clauses};
use super::lexis::{CONSULTING, class, is_same_thing, is_small};
use super::session::{Session, parts};
use super::stem::stem;
use crate::facts::{Answer, Facts, Families, ToolName};
use crate::prose::{Clause, Lexicon, Prose, Tags};

/// So many words of a description are read.
const MOST_WORDS: usize = 16;
/// The clause behind one begins so soon.
const NEXT: usize = 2;

/// A clause that tells of what a tool is for that was not called.
pub(crate) struct Uncalled<'f, 'p> {
    pub(crate) clause: &'p Clause,
    pub(crate) tool: &'f str,
    /// The word that the session has nowhere else, as the clause has it.
    pub(crate) thing: String,
}

/// What a tool is for.
struct Purpose<'f> {
    name: &'f str,
    /// The stems of what it is about: of its name, and of its description.
    things: BTreeSet<String>,
    /// The stems of its verbs.
    verbs: BTreeSet<String>,
    /// The stems of its name.
    named: BTreeSet<String>,
    /// It changes nothing.
    looks: bool,
}

pub(crate) fn uncalled<'f, 'p>(
    facts: &'f Facts<'_>,
    answer: &'p Answer<'_>,
) -> Option<Uncalled<'f, 'p>> {
    let turn = answer.turn;
    let catalog = &facts.transcript().catalog;
    if catalog.iter().next().is_none()
        || facts.delegates_before(turn)
        || facts.record().count_before(turn) == 0
    {
        return None;
    }
    let shell = facts.runs_shell_before(turn);
    let purposes: Vec<Purpose<'f>> =
        catalog.iter().filter(|t| !facts.has_called(&t.name, turn)).map(Purpose::of).collect();
    if purposes.is_empty() {
        return None;
    }
    let before = facts.before(turn);
    let session = before.session.get_or_init(|| Session::before(facts, turn));
    let said = clauses(answer);
    let purposes = purposes.iter().filter(|purpose| !purpose.is_left(&said));
    purposes.into_iter().find_map(|purpose| {
        // "Beside cancelling it I can refund it."
        let offers = |told: &&Assertion<'p>| {
            let clauses = answer.prose.clauses_of(told.clause.sentence).iter();
            let mut near = clauses.filter(|c| c.span.start < told.clause.span.end + NEXT);
            near.any(|clause| clause.tags.any(Tags::MODAL))
        };
        let told = said.iter().filter(|told| told.asserted && purpose.may_be_told_in(told));
        let told = told.filter(|told| !offers(told));
        let mut told = told.filter_map(|told| {
            Some((told.clause, purpose.thing_in(told, session, shell, &answer.prose)?))
        });
        told.next().map(|(clause, thing)| Uncalled { clause, tool: purpose.name, thing })
    })
}

impl<'f> Purpose<'f> {
    fn of(tool: &'f Tool) -> Self {
        let [mut things, mut verbs, mut named] = [const { BTreeSet::new() }; 3];
        for word in parts(&tool.name).map(str::to_lowercase) {
            if is_small(&word) {
                continue;
            }
            let set = if is_verb(&word) { &mut verbs } else { &mut things };
            set.insert(stem(&word));
            named.insert(stem(&word));
        }
        let words = tool.description.split_whitespace().take(MOST_WORDS);
        for word in words.flat_map(parts).map(str::to_lowercase).filter(|word| !is_small(word)) {
            let set = if is_verb(&word) { &mut verbs } else { &mut things };
            set.insert(stem(&word));
        }
        let looks = !ToolName::of(&tool.name).families.meets(Families::changing());
        Self { name: &tool.name, things, verbs, named, looks }
    }

    /// Whether an answer tells that it was not done, or may be.
    fn is_left(&self, said: &[Assertion<'_>]) -> bool {
        let open = said.iter().filter(|said| !said.asserted || !self.may_be_told_in(said));
        open.into_iter().any(|said| !self.matched(said).is_empty())
    }

    /// What was looked at may have shown that something is not there.
    fn may_be_told_in(&self, said: &Assertion<'_>) -> bool {
        !said.denies || self.looks && !said.by_agent
    }

    /// The words of a clause that are about what the tool is for.
    fn matched<'a>(&self, said: &'a Assertion<'_>) -> BTreeSet<&'a str> {
        let about = |stem: &str| {
            let mut words = self.things.iter().chain(&self.verbs);
            !is_small(stem) && words.any(|word| is_same_thing(word, stem))
        };
        said.stems.iter().map(|(stem, _)| stem.as_str()).filter(|stem| about(stem)).collect()
    }

    /// What a clause tells of that the tool is for, where nothing else in the record speaks of it.
    fn thing_in(
        &self,
        told: &Assertion<'_>,
        session: &Session,
        shell: bool,
        prose: &Prose<'_>,
    ) -> Option<String> {
        let matched = self.matched(told);
        let among = |words: &BTreeSet<String>, stem: &str| {
            words.iter().any(|word| is_same_thing(word, stem))
        };
        let count = |words| matched.iter().filter(|stem| among(words, stem)).count();
        let described = count(&self.things) > 1;
        let well_known = matched.iter().any(|stem| class(stem).is_some());
        // One word is enough where everybody calls the thing so; but a command line may do what many a
        // tool is for.
        if matched.len() < 2 && (!well_known || shell) {
            return None;
        }
        // What is looked up is spoken of in other ways, too: only who consulted it used the tool.
        let consults = told.stems.iter().any(|(stem, _)| CONSULTING.contains(stem));
        if self.looks && !(consults && (count(&self.named) > 0 || described)) {
            return None;
        }
        let of_tool = |stem: &str| {
            among(&self.named, stem) || described || !self.looks && class(stem).is_some()
        };
        // The verbs and nouns of acts are judged by those who know them, unless nobody is said to have
        // acted: "he has had an email".
        let no_act = (told.by_agent || told.clause.predicates.is_empty())
            && told.clause.tags.any(Tags::AGENT.or(Tags::HAVE));
        let mut new = matched.iter().filter(|stem| {
            of_tool(stem)
                && !session.has_recorded_thing(stem)
                && (no_act || is_strange(told, stem, prose))
        });
        new.next().map(|stem| told.word_of(stem, prose).to_owned())
    }
}

/// Whether the word of a stem names no act.
fn is_strange(told: &Assertion<'_>, stem: &str, prose: &Prose<'_>) -> bool {
    let mut at = told.stems.iter().filter(|(own, _)| own == stem).map(|(_, at)| *at);
    at.any(|at| {
        let token = prose.tokens.get(at);
        token.is_some_and(|t| t.verb.is_none() && t.noun.is_none() && !t.quoted)
    })
}

fn is_verb(word: &str) -> bool {
    Lexicon::english().get(word).is_some_and(|entry| entry.verb.is_some())
}
