//! Commands that are named and said to have come out well: "`terraform plan` ran through".

use counterfoil_model::{Claim, ClaimKind, Family, Object, ObjectKind};
use counterfoil_shell::{ActivityKind, Command, Script, Status, activities};

use super::except::{excepts, some_fail};
use super::extract::OutcomeClaim;
use super::judge::LOOK_BACK;
use super::trouble::clears;
use super::verdict::passing_at;
use crate::facts::{Answer, Execution, Facts, ShellWork};
use crate::prose::{
    Action, Clause, Mood, Predicate, Prose, Subject, Tags, Token, TokenKind, is_agenda,
};

/// The commands that are said to have come out well while the latest run of that very command
/// failed, each with that run.
pub(crate) fn failed_commands<'f, 't>(facts: &'f Facts<'t>) -> Vec<(Claim, &'f Execution<'t>)> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let prose = &answer.prose;
        for clause in prose.clauses.iter().filter(|clause| names_command(prose, clause)) {
            if !says_passed(prose, clause) {
                continue;
            }
            for token in named_in(prose, clause) {
                let Some(words) = command_in(prose, token) else { continue };
                if let Some(execution) = failed_run(facts, answer.turn, &words) {
                    found.push((claim(answer, clause, &words), execution));
                }
            }
        }
    }
    found
}

/// The commands that are said to have run, or to have come out well, and that nothing on record
/// ran: "`go test ./...` passes", after a run of one package.
pub(crate) fn unrun_commands(facts: &Facts<'_>) -> Vec<Claim> {
    let mut found = Vec::new();
    for answer in facts.answers() {
        let (prose, turn) = (&answer.prose, answer.turn);
        if !facts.is_complete_before(turn) || !facts.runs_shell_before(turn) {
            continue;
        }
        for clause in prose.clauses.iter().filter(|clause| names_command(prose, clause)) {
            let sentence = prose.sentences.get(clause.sentence).map(|s| s.tokens.clone());
            let tokens = prose.tokens(sentence.unwrap_or_default());
            // "`make test` passes → the tag is made": what a thing does.
            let order = tokens.iter().any(|t| t.is('→'));
            if order || !(says_passed(prose, clause) || says_ran(prose, clause)) {
                continue;
            }
            let named = named_in(prose, clause);
            let commands = named.filter_map(|token| command_in(prose, token));
            let unrun = commands.filter(|words| match is_check(words) {
                true => !may_have_run(facts, turn, words),
                false => is_unknown_program(facts, turn, words),
            });
            found.extend(unrun.map(|words| claim(answer, clause, &words)));
        }
    }
    found
}

/// "I ran `…`"
fn says_ran(prose: &Prose<'_>, clause: &Clause) -> bool {
    let runs = |predicate: &Predicate| {
        predicate.subject == Subject::Agent
            && predicate.action == Action::Of(Family::Run)
            && !predicate.negated
    };
    clause.mood == Mood::Asserted
        && clause.predicates.iter().any(runs)
        && !is_agenda(prose, clause)
        && !excepts(prose, clause)
}

/// Whether the words are those of a known check, with nothing left out of them.
fn is_check(words: &[String]) -> bool {
    let Ok(script) = Script::parse(&words.join(" ")) else { return false };
    let checks = [ActivityKind::Test, ActivityKind::Build, ActivityKind::Lint];
    let open = |word: &String| word.contains(['<', '[', '…']);
    !words.iter().any(open) && activities(&script).iter().any(|a| checks.contains(&a.kind))
}

/// Whether nothing on record ever started, mentioned or printed the name of the program, and nothing
/// ran that nobody can see into.
fn is_unknown_program(facts: &Facts<'_>, turn: usize, words: &[String]) -> bool {
    const ALSO_TOOLS: [&str; 10] =
        ["cat", "ls", "grep", "rg", "find", "head", "tail", "sed", "cd", "git"];
    let Some(program) = words.first().filter(|word| word.len() > 1) else { return false };
    let plain = program.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-');
    let shown = facts.given().is_whole_before(turn) && !facts.delegates_before(turn);
    plain
        && shown
        && !ALSO_TOOLS.contains(&program.as_str())
        && facts.source_of(program, turn, true).is_none()
        && !facts.is_opaque_before(turn)
}

/// Whether a recorded command has all these words, or runs what nobody can see into.
fn may_have_run(facts: &Facts<'_>, turn: usize, words: &[String]) -> bool {
    let bare = |word: &str| word.trim_start_matches("./").trim_end_matches('/').to_owned();
    let program = |word: &str| bare(word).trim_end_matches('w').to_owned();
    let wanted: Vec<String> = words.iter().skip(1).map(|word| bare(word)).collect();
    facts.deeds_before(turn).take(LOOK_BACK).any(|(execution, deed)| {
        let Some(work) = &deed.shell else { return deed.opaque || execution.outcome.is_none() };
        let Ok(script) = Script::parse(&work.command) else { return true };
        let same = |command: &Command| {
            let own = command.words();
            // `python -m pytest` runs `pytest`.
            let first = words.first().map(|word| program(word));
            let started = own.iter().any(|word| Some(program(word)) == first);
            let has = |word: &String| {
                own.iter().map(|known| bare(known)).any(|known| {
                    let rest = known.strip_prefix(word.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', '/']))
                })
            };
            started && wanted.iter().all(has)
        };
        let scripts = |command: &Command| {
            matches!(command.program(), Some("make" | "just" | "task" | "npm" | "yarn" | "pnpm"))
        };
        let other = |command: &Command| {
            scripts(command) && !words.iter().any(|w| Some(w.as_str()) == command.program())
        };
        script.commands().iter().any(|command| same(command) || other(command))
    })
}

/// Whether the clause says of all that it names that it came out well.
fn says_passed(prose: &Prose<'_>, clause: &Clause) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    let doubt = Tags::MODAL.or(Tags::HEDGE).or(Tags::EARLIER).or(Tags::INTEND);
    let clear = clears(prose, tokens).is_some();
    let denied = |t: &Token| t.has(Tags::NEGATION.or(Tags::FAILURE)) && !clear;
    clause.mood == Mood::Asserted
        && (clear || passing_at(prose, tokens).is_some())
        && !tokens.iter().any(|t| t.has(doubt) || denied(t))
        && !excepts(prose, clause)
        && !some_fail(prose, clause)
        && !is_agenda(prose, clause)
}

/// The tokens of a clause, and those of the label before it: "`npm run lint`: clean".
fn named_in<'p>(prose: &'p Prose<'_>, clause: &Clause) -> impl Iterator<Item = &'p Token> {
    let own = prose.tokens(clause.tokens.clone());
    let label = prose.sentences.get(clause.sentence).map_or(0, |s| s.tokens.start);
    let label = prose.tokens(label..clause.tokens.start);
    let plain = |t: &Token| t.kind == TokenKind::Code || matches!(t.kind, TokenKind::Symbol(_));
    // "PASS=4, ERROR=1" says more.
    let short = own.len() < 6 && !own.iter().any(|t| t.is('='));
    let behind = short && own.first().is_some_and(|t| t.is(':')) && label.iter().all(plain);
    label.iter().filter(move |_| behind).chain(own)
}

/// Whether a clause names inline code of several words.
fn names_command(prose: &Prose<'_>, clause: &Clause) -> bool {
    let mut tokens = named_in(prose, clause);
    tokens.any(|t| t.kind == TokenKind::Code && prose.word(t).contains(' '))
}

/// The words of a command in inline code: a program and what it is to do.
fn command_in(prose: &Prose<'_>, token: &Token) -> Option<Vec<String>> {
    let text = prose.word(token);
    if token.kind != TokenKind::Code || !text.contains(' ') {
        return None;
    }
    let script = Script::parse(text).ok()?;
    let [command] = script.commands() else { return None };
    command.program()?;
    let words = command.words();
    let verb = words.get(1)?;
    verb.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-').then_some(words)
}

/// The latest run of a command with these words, if it failed.
fn failed_run<'f, 't>(
    facts: &'f Facts<'t>,
    turn: usize,
    words: &[String],
) -> Option<&'f Execution<'t>> {
    let (execution, ends, decides) =
        facts.deeds_before(turn).take(LOOK_BACK).find_map(|(execution, deed)| {
            let work = deed
                .shell
                .as_ref()
                .filter(|work| words.iter().all(|w| work.command.contains(w.as_str())))?;
            let script = Script::parse(&work.command).ok()?;
            let same = |command: &&Command| {
                let own = command.words();
                words.iter().all(|word| own.contains(word)) && own.first() == words.first()
            };
            let command = script.commands().iter().find(same)?;
            // Behind `&&` it failed, or it never ran. A search that finds nothing ends like this, too,
            // and what is printed is of those before it.
            let last = script.commands().last().is_some_and(|last| std::ptr::eq(last, command));
            let ends = last && (script.commands().len() == 1 || !searches(words));
            Some((execution, ends, command.status == Status::Decides))
        })?;
    let outcome = execution.outcome?;
    let exit = outcome.exit_code;
    let failed = match exit {
        Some(0) | None => !decides && says_error(&outcome.text),
        // A search that finds nothing prints nothing.
        Some(_) => ends && decides && !outcome.text.trim().is_empty(),
    };
    failed.then_some(execution)
}

/// Whether a program says with its exit status whether it found something.
fn searches(words: &[String]) -> bool {
    const PROGRAMS: [&str; 9] = ["grep", "rg", "diff", "cmp", "test", "[", "which", "find", "ls"];
    words.first().is_some_and(|program| PROGRAMS.contains(&program.as_str()))
}

/// Whether an output, of which a part may be cut off, has lines of errors and nothing else that
/// tells how it went.
fn says_error(text: &str) -> bool {
    let bare = |line: &str| line.trim_start_matches(|c: char| !c.is_alphanumeric()).to_owned();
    let mut lines = text.lines().map(bare);
    let good = ["success", "complete", "passed", "done", "ok", "finished"];
    lines.any(|line| line.starts_with("Error: ") || line.starts_with("fatal: "))
        && !text.lines().map(bare).any(|line| {
            let first = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
            good.iter().any(|word| first.to_ascii_lowercase().starts_with(word))
        })
}

/// "Smoke test: `python -c 'import app'` ✅": the latest command that holds the one in code, where
/// it worked. What known checks print is read by others.
pub(super) fn named_command(facts: &Facts<'_>, said: &OutcomeClaim, count: usize) -> Option<usize> {
    let quoted = |o: &&Object| o.kind == ObjectKind::Quote && o.text.contains(' ');
    let named = || said.claim.objects.iter().filter(quoted);
    // "`swift build` completes and `swift test` passes": the one that names the check.
    let check = |o: &&Object| said.check.as_deref().is_some_and(|c| o.text.eq_ignore_ascii_case(c));
    let command = named().find(check).or_else(|| named().next())?;
    let holds = |work: &ShellWork<'_>| work.command.contains(&command.text);
    let at = (0..count).rev().take(LOOK_BACK).find(|at| {
        let deed = facts.deed(*at).map(|(_, deed)| deed);
        deed.and_then(|deed| deed.shell.as_ref()).is_some_and(holds)
    })?;
    let (_, deed) = facts.deed(at)?;
    let work = deed.shell.as_ref()?;
    let known = work.runs.iter().any(|run| run.family == said.family);
    let script = Script::parse(&work.command).ok()?;
    // What is piped on, or whose failure is forgiven, ends well whatever happened.
    let decides = script.commands().iter().all(|command| command.status == Status::Decides);
    (!known && decides && deed.status().succeeded()).then_some(at)
}

fn claim(answer: &Answer<'_>, clause: &Clause, words: &[String]) -> Claim {
    answer.prose.claim(
        clause,
        ClaimKind::Outcome(Family::Run),
        vec![Object { kind: ObjectKind::Quote, text: words.join(" ") }],
        answer.turn,
    )
}
