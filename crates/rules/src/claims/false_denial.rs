use counterfoil_model::{Claim, ClaimKind, Code, Family, Mode, Object, ObjectKind};

use counterfoil_record::is_documentation;

use crate::action::{mentions, objects_in};
use crate::facts::{Answer, Deed, Execution, Facts, Families, ShellWork};
use crate::findings::{Findings, Note};
use crate::meta::Group;
use crate::prose::{
    Action, Clause, Lexicon, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, Voice, Words,
    sets,
};
use crate::rule::Rule;

/// CS017: "I changed nothing", where the record shows changes.
pub(super) static RULE: Rule = Rule::new(
    Group::Claim,
    Code("CS017"),
    "false-denial",
    Mode::Block,
    "the agent says that it changed or ran nothing, but the record shows that it did",
    include_str!("../../spec/CS017.md"),
    check,
);

fn check(facts: &Facts<'_>, findings: &mut Findings<'_>) {
    for answer in facts.answers() {
        for clause in &answer.prose.clauses {
            let denied = denial(&answer.prose, clause).or_else(|| act(&answer.prose, clause));
            if let Some(denied) = denied {
                judge(facts, findings, answer, clause, &denied);
            }
        }
    }
}

/// What the agent says it did not do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Denied {
    /// Any change to these.
    Change(Touched),
    /// Any command, or any program.
    Run { commands: bool },
    /// One kind of action, on these objects if any are named.
    Act(Family, Vec<Object>),
}

/// What the agent says it did not change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Touched {
    Anything,
    Files,
    /// Code, but not documentation.
    Code,
}

fn claim(answer: &Answer<'_>, clause: &Clause) -> Claim {
    answer.prose.claim(clause, ClaimKind::Denial, Vec::new(), answer.turn)
}

fn judge(
    facts: &Facts<'_>,
    findings: &mut Findings<'_>,
    answer: &Answer<'_>,
    clause: &Clause,
    denied: &Denied,
) {
    let claim = claim(answer, clause);
    // "in this session" refers to its start; otherwise, the denial refers to the latest request.
    let since = match speaks_of_session(&answer.prose, clause) {
        true => 0,
        false => facts.request_before(answer.turn),
    };
    let deeds = || facts.deeds_before(answer.turn).filter(|(e, _)| e.called_at >= since);
    let contrary = deeds().find(|(e, deed)| contradicts(e, deed, denied));
    // The last deed may have restored everything.
    let restores = |deed: &Deed<'_>| deed.shell.as_ref().is_some_and(|work| work.restores);
    let restored = contrary.is_some_and(|(_, deed)| restores(deed));
    if restored && matches!(denied, Denied::Change(_)) {
        return findings.not_checkable(&claim, "a later command may have undone the change");
    }
    // "I have not changed anything yet" may be about the next step.
    let next = answer.prose.tokens.get(clause.tokens.end);
    if contrary.is_some() && next.is_some_and(|t| answer.prose.is(t, words!["yet"])) {
        return findings.not_checkable(&claim, "the sentence may be about the next step");
    }
    match contrary {
        Some((execution, deed)) => findings.contradicted(
            facts,
            &claim,
            Note::proven(match denied {
                Denied::Run { .. } => {
                    format!("the record shows that commands were run with `{}`", deed.tool)
                }
                Denied::Change(_) => format!("the record shows a change made by `{}`", deed.tool),
                Denied::Act(family, _) => {
                    format!(
                        "the agent says it did not do this, but the record shows `{}` did ({})",
                        deed.tool,
                        family.name()
                    )
                }
            })
            .help("say what you changed or ran")
            .evidence([facts.evidence(execution)]),
        ),
        None if deeds().any(|(_, deed)| deed.opaque) => {
            findings.not_checkable(&claim, "a call with unknown effects may have done it");
        }
        None => findings.supported(&claim, []),
    }
}

fn contradicts(execution: &Execution<'_>, deed: &Deed<'_>, denied: &Denied) -> bool {
    if deed.is_note || !deed.status().succeeded() || execution.outcome.is_none() {
        return false;
    }
    match denied {
        // Reading or committing files does not count as running something.
        Denied::Run { commands } => {
            deed.shell.as_ref().is_some_and(|work| *commands || work.opaque || runs(work))
        }
        Denied::Change(touched) => {
            let scratch = |path: &String| path.starts_with("/tmp/") || path.contains("/scratch");
            let code = |path: &String| *touched != Touched::Code || !is_documentation(path);
            let wrote = deed.written.iter().any(|path| !scratch(path) && code(path));
            wrote
                || did(deed, Family::Commit)
                || (deed.written.iter().all(code) && deed.edits_files())
                || (*touched == Touched::Anything && changes_records(deed))
        }
        Denied::Act(family, things) => {
            did(deed, *family)
                && (things.is_empty()
                    || things.iter().any(|thing| {
                        execution.call.is_some_and(|c| mentions(c.arguments.as_str(), thing))
                    }))
        }
    }
}

/// Whether a command line ran a program to see what it does.
fn runs(work: &ShellWork<'_>) -> bool {
    use Family as F;
    let aside = |f| matches!(f, F::Read | F::Search | F::Commit | F::Push | F::Create);
    !work.written.is_empty() || work.runs.iter().any(|run| !aside(run.family))
}

/// Whether the deed was an action of exactly this family.
fn did(deed: &Deed<'_>, family: Family) -> bool {
    let wanted = Families::new(&[family]);
    deed.families.meets(wanted)
        && deed.is_named_for(wanted)
        && (deed.shell.is_some() || is_verb_of_name(deed, wanted))
        && deed.status_for(wanted).succeeded()
}

/// Whether the name of a tool begins with the act, or has it before another word. The last of several
/// words may be what the tool only looks at: `price_change`.
fn is_verb_of_name(deed: &Deed<'_>, wanted: Families) -> bool {
    let words = deed.words();
    let acts = |word: &String| {
        let verb = Lexicon::english().get(word).and_then(|entry| entry.verb);
        matches!(verb, Some(Action::Of(family)) if wanted.has(family))
    };
    words.iter().take(words.len().max(2) - 1).any(acts)
}

/// Whether a tool other than a shell changed something other than the agent's own notes.
fn changes_records(deed: &Deed<'_>) -> bool {
    deed.shell.is_none()
        && deed.changes()
        && deed.is_named_for(Families::changing())
        && is_verb_of_name(deed, Families::changing())
        && !deed.words().iter().any(|word| sets::OWN_NOTES.list.contains(&word.as_str()))
}

/// "I have not sent it": one denied action, on an object that is named or referred to.
fn act(prose: &Prose<'_>, clause: &Clause) -> Option<Denied> {
    if clause.mood != Mood::Asserted {
        return None;
    }
    let predicate =
        clause.predicates.iter().find(|p| p.negated && (own(p) || of_nothing(prose, clause, p)))?;
    let Action::Of(family) = predicate.action else { return None };
    let plain = families![Send, Cancel, Delete, Book, Pay, Refund, Exchange, Commit, Push, Deploy];
    let object = prose.tokens(predicate.object_tokens.clone());
    let small = |t: &Token| t.has(tags![THING, ADVERB]) || prose.is(t, words!["anything", "yet"]);
    let pointed = |tokens: &[Token]| tokens.iter().filter(|t| t.kind == TokenKind::Word).all(small);
    // "I haven't booked anything yet, so let me know": the second part does not belong to it.
    let until = predicate.object_tokens.end.min(clause.tokens.end.max(predicate.verb + 1));
    let near = prose.tokens(predicate.object_tokens.start..until);
    let anything = near.iter().any(|t| prose.is(t, words!["anything"]));
    let numbered = |t: &Token| matches!(t.kind, TokenKind::Number | TokenKind::Date);
    let pointed = pointed(object) || (anything && pointed(near) && !near.iter().any(numbered));
    let things: Vec<Object> = objects_in(prose, predicate.object_tokens.clone())
        .into_iter()
        .filter(|o| matches!(o.kind, ObjectKind::Id | ObjectKind::Path))
        .collect();
    if pointed && things.is_empty() && is_of_another(prose, clause, predicate) {
        return None;
    }
    (plain.has(family) && (pointed || !things.is_empty())).then_some(Denied::Act(family, things))
}

/// "I have not …"
fn own(predicate: &Predicate) -> bool {
    predicate.voice == Voice::Active && predicate.subject == Subject::Agent
}

/// "There is an audiobook; I have not reserved it": about something that was only just mentioned.
fn is_of_another(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let object = prose.tokens(predicate.object_tokens.clone());
    let pronoun = object.first().is_some_and(|t| prose.is(t, words!["it", "them", "that", "one"]));
    let before = prose.before_in_sentence(clause.tokens.start);
    let existing = before
        .array_windows()
        .any(|[there, is]| prose.is(there, words!["there"]) && is.has(Tags::BE));
    // "The room is free then. I haven't reserved it."
    let free =
        clause.sentence.checked_sub(1).and_then(|at| prose.sentences.get(at)).is_some_and(|s| {
            let words = words!["free", "available", "open", "left", "taken"];
            prose.tokens(s.tokens.clone()).iter().chain(before).any(|t| prose.is(t, words))
        });
    pronoun && (existing || free)
}

/// "Nothing was pushed."
fn of_nothing(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> bool {
    let passive = matches!(predicate.voice, Voice::PastPassive | Voice::PerfectPassive);
    let auxiliary = tags![BE, HAVE, PAST_BE];
    let before = prose.tokens(clause.tokens.start..predicate.verb);
    let nothing = before.split_first().is_some_and(|(first, rest)| {
        prose.is(first, words!["nothing"]) && rest.iter().all(|t| t.has(auxiliary))
    });
    let after = prose.tokens(predicate.object_tokens.clone());
    passive && nothing && after.iter().all(|t| t.is('.') || prose.is(t, words!["yet"]))
}

/// The denial of every change, or of every run, in a clause.
fn denial(prose: &Prose<'_>, clause: &Clause) -> Option<Denied> {
    if clause.mood != Mood::Asserted {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    if !clause.tags.any(Tags::NEGATION) {
        let code = tokens.iter().any(|t| prose.is(t, words!["code"]));
        let touched = if code { Touched::Code } else { Touched::Files };
        return left_untouched(prose, tokens).then_some(Denied::Change(touched));
    }
    if is_of_something_else(prose, clause, tokens)
        || clause.tags.any(tags![MODAL, HEDGE, USER, THIRD])
        || is_of_some(prose, tokens)
    {
        return None;
    }
    let (object, verb) = changed_or_run(prose, tokens)?;
    if !is_denied(tokens, verb, object)
        || is_of_kind(prose, tokens, object)
        || is_of_one(prose, tokens, object, verb)
        || narrowed(prose, tokens, object, verb)
    {
        return None;
    }
    let runs =
        prose.is(tokens.get(verb)?, words!["run", "ran", "execute", "executed", "use", "used"]);
    let is = |known: &Words| tokens.get(object).is_some_and(|t| prose.is(t, known));
    let touched = match is(words!["code"]) {
        true => Touched::Code,
        false if is(words!["files", "file", "disk"]) || speaks_of_session(prose, clause) => {
            Touched::Files
        }
        false => Touched::Anything,
    };
    let commands = is(words!["command", "commands"]);
    Some(if runs { Denied::Run { commands } } else { Denied::Change(touched) })
}

/// "no other changes", "no changes to the API", "nothing else": about some changes, not all.
fn is_of_some(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    use TokenKind as K;
    let specific = |t: &Token| matches!(t.kind, K::Path | K::Code | K::Identifier | K::Url);
    tokens.iter().any(|t| prose.is(t, &sets::OF_SOME) || specific(t))
}

/// The positions of the word for everything that could have been changed or run, and of the verb.
fn changed_or_run(prose: &Prose<'_>, tokens: &[Token]) -> Option<(usize, usize)> {
    // "did not edit anything": a verb here, although the word can be a noun.
    let is_verb = |at: usize| {
        let before = tokens.get(..at).unwrap_or_default();
        before.last().is_some_and(|t| t.has(Tags::NEGATION))
            && before.iter().rev().nth(1).is_some_and(|t| t.has(Tags::DO))
    };
    let everything = |(at, t): (usize, &Token)| prose.is(t, &sets::CHANGEABLE) && !is_verb(at);
    let object = tokens.iter().enumerate().position(everything)?;
    let acts = |t: &Token| prose.is(t, &sets::CHANGES_OR_RUNS) && !t.has(Tags::DETERMINER);
    let verb = tokens.iter().position(acts)?;
    (verb != object).then_some((object, verb))
}

/// "nothing in it was changed": about one thing.
fn is_of_one(prose: &Prose<'_>, tokens: &[Token], object: usize, verb: usize) -> bool {
    let between = tokens.get(object.min(verb) + 1..object.max(verb)).unwrap_or_default();
    object < verb
        && between.iter().any(|t| t.has(Tags::PREPOSITION))
        && !between.iter().any(|t| prose.is(t, &sets::WHOLE))
}

/// "No API changes": denies one kind of change, not all.
fn is_of_kind(prose: &Prose<'_>, tokens: &[Token], object: usize) -> bool {
    let before = tokens.get(..object).unwrap_or_default();
    // "any CI file", "no API changes"
    let open = |t: &Token| prose.is(t, words!["no", "any"]);
    let Some(no) = before.iter().rposition(|t| t.has(Tags::NEGATION) || open(t)) else {
        return false;
    };
    if !before.get(no).is_some_and(open) {
        return false;
    }
    let plain = |t: &Token| {
        t.has(tags![DETERMINER, ADVERB]) || prose.is(t, words!["code", "file", "actual", "local"])
    };
    !before.get(no + 1..).unwrap_or_default().iter().all(plain)
}

/// "I did not modify any files", "I made no changes", "no files were changed".
fn is_denied(tokens: &[Token], verb: usize, object: usize) -> bool {
    let before = tokens.get(..verb).unwrap_or_default();
    let led = before.iter().take_while(|t| t.is_mark()).count();
    let before = before.get(led..).unwrap_or_default();
    if before.iter().any(|t| t.has(tags![PURPOSE, INTEND])) {
        return false;
    }
    let agent = before.iter().any(|t| t.has(Tags::AGENT))
        || before.iter().all(|t| t.has(tags![COORDINATE, ADVERB]));
    let near = before.iter().rev().find(|t| !t.has(Tags::ADVERB) || t.has(Tags::NEGATION));
    let not = near.is_some_and(|t| t.has(Tags::NEGATION))
        && before.iter().any(|t| t.has(tags![DO, HAVE]));
    let none = tokens
        .get(verb + 1..=object)
        .is_some_and(|t| t.first().is_some_and(|t| t.has(Tags::NEGATION)));
    let completed = tokens.get(verb).is_some_and(|t| t.tags.any(Tags::COMPLETED));
    let passive = object < verb
        && completed
        && before
            .iter()
            .find(|t| {
                t.kind == TokenKind::Word && (!t.has(Tags::COORDINATE) || t.has(Tags::NEGATION))
            })
            .is_some_and(|t| t.has(Tags::NEGATION))
        && (before.iter().any(|t| t.has(tags![BE, HAVE]))
            // "no files edited"
            || (object + 1 == verb && tokens.iter().skip(verb + 1).all(|t| {
                t.is_mark()
            })));
    (agent && object > verb && (not || (none && completed))) || passive
}

/// Whether a preposition after it narrows the denial: "no changes to the parser".
fn narrowed(prose: &Prose<'_>, tokens: &[Token], object: usize, verb: usize) -> bool {
    let after = tokens.get(object.max(verb) + 1..).unwrap_or_default();
    let mut words = after.iter().filter(|t| t.kind == TokenKind::Word && !t.has(Tags::ADVERB));
    let Some(next) = words.next() else { return false };
    let scope: Vec<String> = words.map(|t| prose.word(t).to_ascii_lowercase()).collect();
    let small = ["the", "any", "your", "a"];
    let code = scope.iter().any(|word| word == "code")
        && scope.iter().all(|word| word == "code" || small.contains(&word.as_str()));
    !code
        && next.has(tags![PREPOSITION, SUBORDINATE])
        && !scope.iter().any(|word| sets::WHOLE.hold(word.as_bytes()))
}

fn speaks_of_session(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose
        .tokens(clause.tokens.clone())
        .iter()
        .any(|t| matches!(prose.word(t), "session" | "conversation" | "disk"))
}

/// Whether the denial is about what precedes the clause, not about the whole session.
fn is_of_something_else(prose: &Prose<'_>, clause: &Clause, tokens: &[Token]) -> bool {
    let before = prose.before_in_sentence(clause.tokens.start);
    // "Not returned: TK-504 (timeout, nothing created)"
    let inside = before.iter().rev().find(|t| t.is('(') || t.is(')'));
    let in_bracket = inside.is_some_and(|t| t.is('('))
        && tokens.iter().any(|t| prose.is(t, words!["nothing"]))
        && !clause.tags.any(tags![BE, HAVE, AGENT]);
    // "My first edit did not match and changed nothing"
    let own = |c: &Clause| {
        c.predicates.iter().any(|p| p.subject == Subject::Agent)
            || prose.tokens(c.tokens.clone()).iter().any(|t| t.has(Tags::AGENT))
    };
    let earlier = prose.clauses.partition_point(|c| c.tokens.start < clause.tokens.start);
    let earlier = earlier.checked_sub(1).and_then(|at| prose.clauses.get(at));
    let joined = tokens.first().is_some_and(|t| t.has(Tags::COORDINATE));
    let earlier = earlier.filter(|c| joined && c.sentence == clause.sentence);
    let of_earlier = earlier.is_some_and(|c| !own(c) && c.tags.any(tags![NEGATION, FAILURE]));
    // "unit tests: nothing ran"
    let of_label =
        tokens.first().is_some_and(|t| t.is(':')) && before.iter().any(|t| t.noun.is_some());
    in_bracket || of_earlier || of_label
}

/// "I left all files untouched": whether the clause is about everything that could have been
/// changed.
fn left_untouched(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    const SO: &Words = words!["untouched", "unchanged", "unmodified"];
    const LEFT: &Words = words!["left", "kept", "stays", "remains"];
    let small = tags![DETERMINER, AGENT, BE, HAVE, USER_OWN];
    let thing = |t: &Token| prose.is(t, words!["files", "code"]);
    let plain = |t: &Token| {
        t.kind != TokenKind::Word
            || t.has(small)
            || thing(t)
            || prose.is(t, SO)
            || prose.is(t, LEFT)
    };
    tokens.iter().any(|t| prose.is(t, SO))
        && tokens.iter().any(thing)
        && tokens.iter().all(|t| !t.quoted && plain(t))
}
