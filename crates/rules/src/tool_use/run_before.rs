//! What the agent says of the code before its changes, and the runs that could have shown it.

use counterfoil_model::{Family, Object, ObjectKind};

use crate::facts::{Answer, Deed, Facts};
use crate::prose::{Clause, Predicate, Prose, Subject, Tags, Token};

/// What is told of the code as it was.
struct Told<'t> {
    /// The verb of the run, where one is told: "I checked".
    verb: Option<&'t str>,
    /// The run is of tests.
    of_tests: bool,
    /// Something was made to fail first, by any command.
    reproduced: bool,
    /// Tests may have been written before the run: a run behind that change will do.
    written_first: bool,
}

/// "It failed before my change, too, I checked": where nothing was run before the first change, and
/// nothing put things back as they were.
pub(super) fn never_run_before(
    facts: &Facts<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
) -> Option<(Object, String)> {
    let told = told(&answer.prose, clause)?;
    let (mut ran, mut written, mut between) = (false, false, false);
    // From the latest to the first: what stands before all changes is looked at last.
    for (_, deed) in facts.deeds_before(answer.turn) {
        if puts_back(deed) {
            return None;
        }
        if deed.written.is_empty() {
            let runs = told.may_be(deed);
            ran |= runs;
            between |= runs && written;
        } else {
            (ran, written) = (false, true);
        }
    }
    let missing = written && !ran && !(told.written_first && between);
    let text = told.verb.unwrap_or("before").to_owned();
    let object = Object { kind: ObjectKind::Quote, text };
    missing.then(|| (object, String::from("nothing was run without the changes")))
}

/// What a clause, with the sentence that it stands in, tells of the code before the changes.
fn told<'t>(prose: &Prose<'t>, clause: &Clause) -> Option<Told<'t>> {
    let looks = words!["checked", "verified", "confirmed", "tested", "ran", "tried", "reproduced"];
    let looked = |p: &&Predicate| {
        let verb = prose.tokens.get(p.verb);
        p.subject == Subject::Agent && !p.negated && verb.is_some_and(|t| prose.is(t, looks))
    };
    let looked = clause.predicates.iter().find(looked).and_then(|p| prose.tokens.get(p.verb));
    if looked.is_none() && !clause.tags.any(Tags::FAILURE) {
        return None;
    }
    let tokens = prose.tokens(prose.sentences.get(clause.sentence)?.tokens.clone());
    let said = |known| tokens.iter().any(|t| prose.is(t, known));
    let of_tests = tokens.iter().any(|t| t.noun == Some(Family::Test));
    let led = is_led(prose, tokens);
    // "The test failed before the change": told by what it did.
    let denied = || tokens.iter().any(|t| t.has(Tags::NEGATION) && !t.has(Tags::FAILURE));
    if looked.is_none() && !(of_tests && led && !denied()) {
        return None;
    }
    let reproduced = looked.is_some_and(|t| prose.is(t, words!["reproduced"]))
        && said(words!["first", "before"]);
    // "before and after the change"
    let both = tokens.windows(3).any(|words| {
        let [before, and, after] = words else { return false };
        prose.is(before, words!["before"])
            && prose.is(and, words!["and"])
            && prose.is(after, words!["after"])
    });
    let base = tokens.windows(2).any(|pair| {
        let [on, main] = pair else { return false };
        prose.is(on, words!["on"]) && prose.is(main, words!["main", "master"])
    });
    let old = led || base || said(words!["pre-existing", "preexisting"]);
    let fails = || tokens.iter().any(|t| t.has(Tags::FAILURE.or(Tags::TROUBLE)));
    let written_first = reproduced || both || looked.is_none();
    let told = reproduced || (both && of_tests) || (old && fails());
    let verb = looked.map(|t| prose.word(t));
    told.then_some(Told { verb, of_tests, reproduced, written_first })
}

/// "before the upgrade", "without my change": the code as it was.
fn is_led(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let own = |t: &Token| t.has(Tags::AGENT_OWN.or(Tags::DETERMINER));
    let changes =
        words!["change", "changes", "edit", "edits", "upgrade", "fix", "patch", "refactoring"];
    tokens.windows(3).any(|words| {
        let [before, my, change] = words else { return false };
        prose.is(before, words!["before", "without"]) && own(my) && prose.is(change, changes)
    })
}

impl Told<'_> {
    /// Whether a call can have been the run.
    fn may_be(&self, deed: &Deed<'_>) -> bool {
        let Some(work) = &deed.shell else { return false };
        let kinds: &[Family] = match self.of_tests {
            true => &[Family::Test],
            false => &[Family::Test, Family::Build, Family::Lint],
        };
        (self.reproduced && !work.only_looks())
            || work.runs.iter().any(|run| kinds.contains(&run.family))
    }
}

/// Whether a call may have put things back as they were, or may have done anything.
fn puts_back(deed: &Deed<'_>) -> bool {
    const BACK: [&str; 9] = [
        "stash", "checkout", "switch", "worktree", "restore", "reset", "revert", "clone", "bisect",
    ];
    let back = deed.shell.as_ref().is_some_and(|work| {
        (work.opaque && work.manifests.is_empty())
            || BACK.iter().any(|word| work.command.contains(word))
    });
    back || deed.delegates || (deed.opaque && deed.shell.is_none())
}
