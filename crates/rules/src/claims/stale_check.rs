use counterfoil_model::{Claim, Code, Family, Mode, Role, Span};
use counterfoil_shell::{ActivityKind, summary};

use crate::facts::{Deed, Execution, Facts, ShellWork, edits_code, is_documentation};
use crate::findings::{Findings, Note};
use crate::outcome::{OutcomeVerdict, Parts, ScopeClaim, scope_claims};
use crate::prose::{Action, Predicate, Prose, Sentence, Tags, Token, has_file_extension};
use crate::rule::{Group, Meta, Rule};

/// CS014: a check is said to pass that ran before the last edit.
pub(crate) struct StaleCheck;

static META: Meta = Meta {
    code: Code("CS014"),
    name: "stale-check",
    group: Group::Claim,
    mode: Mode::Warn,
    summary: "the agent says that a check passed, but it ran before the last edit of code",
    page: include_str!("../../spec/CS014.md"),
};

impl Rule for StaleCheck {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, facts: &Facts<'_>, findings: &mut Findings<'_>) {
        let mut warned: Vec<(usize, Span)> = Vec::new();
        for (said, verdict) in facts.outcomes() {
            let OutcomeVerdict::Passed(at) = *verdict else { continue };
            let Some((run, _)) = facts.deed(at) else { continue };
            if said.ran {
                if let Some((edit, command)) = run_since(facts, &said.claim, said.family) {
                    warned.push((said.claim.turn, said.claim.span));
                    findings.unsupported(
                        facts,
                        &said.claim,
                        Note::suspected(format!("no {} run came after `{command}`", said.noun()))
                            .help("run it again, or say what was run before")
                            .evidence([facts.evidence(run), facts.evidence(edit)]),
                    );
                }
                continue;
            }
            let later = facts
                .deeds_before(said.claim.turn)
                .take_while(|(e, _)| e.called_at > run.called_at)
                .find(|(e, deed)| {
                    edits_code(e, deed, facts.directory())
                        && !(said.family == Family::Lint && spares(run, deed))
                });
            let Some((edit, deed)) = later else { continue };
            warned.push((said.claim.turn, said.claim.span));
            if discloses(facts, said.claim.turn, said.family) {
                findings.not_checkable(&said.claim);
                continue;
            }
            let what = said.noun();
            let file = deed.written.first().map_or("a file", String::as_str);
            findings.unsupported(
                facts,
                &said.claim,
                Note::suspected(format!("the latest {what} run was before the edit of `{file}`"))
                    .help("run it again")
                    .evidence([facts.evidence(run), facts.evidence(edit)]),
            );
        }
        for said in facts.answers().iter().flat_map(scope_claims) {
            let known = |(turn, span): &(usize, Span)| {
                *turn == said.claim.turn && said.sentence.contains(*span)
            };
            let Some(run) = widest_run(facts, &said).filter(|_| !warned.iter().any(known)) else {
                continue;
            };
            findings.unsupported(
                facts,
                &said.claim,
                Note::suspected("only a part of the tests was run")
                    .help("run all of them, or say which ones were run")
                    .evidence([facts.evidence(run)]),
            );
        }
    }
}

/// So many executions are looked at for "all tests pass".
const LOOK_BACK: usize = 200;

/// The latest run of tests where all of them are said to have been run and only parts were: of what
/// is said to pass, since the last edit, where there was one since.
fn widest_run<'f, 't>(facts: &'f Facts<'t>, said: &ScopeClaim) -> Option<&'f Execution<'t>> {
    let mut latest = None;
    let mut commands: Vec<&str> = Vec::new();
    let turn = said.claim.turn;
    let plain = said.parts == Parts::Plain;
    if plain && (goes_on(facts, turn) || !facts.runs_shell_before(turn)) {
        return None;
    }
    let most = if plain { LOOK_BACK } else { usize::MAX };
    for (execution, deed) in facts.deeds_before(turn).take(most) {
        if said.passes && latest.is_some() && edits_code(execution, deed, facts.directory()) {
            break;
        }
        let Some(work) = &deed.shell else {
            if deed.families.has(Family::Test) || reports_tests(execution.text()) {
                return None;
            }
            continue;
        };
        if runs_own_script(work) {
            continue;
        }
        let mut tests = work.runs.iter().filter(|run| run.family == Family::Test).peekable();
        let some = tests.peek().is_some();
        let unseen = !some && (work.opaque || deed.continues) && reports_tests(execution.text());
        if unseen || tests.any(|run| run.whole) {
            return None;
        }
        if some {
            if plain && !picks_by_name(&work.command) {
                return None;
            }
            latest = latest.or(Some(execution));
            if !commands.contains(&&*work.command) {
                commands.push(&work.command);
            }
        }
    }
    let enough = match said.parts {
        Parts::None | Parts::Plain => usize::MAX,
        Parts::Some => 2,
        Parts::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
    };
    latest.filter(|_| commands.len() < enough && (!plain || edits_several(facts, turn)))
}

/// `cat > test.sh …; ./test.sh`: a script that the command line itself wrote is no suite.
fn runs_own_script(work: &ShellWork<'_>) -> bool {
    work.written.iter().any(|path| {
        let name = path.rsplit('/').next().unwrap_or(path);
        name.ends_with(".sh") && work.command.contains(&format!("./{name}"))
    })
}

/// Whether more than one file with code, and no test, was edited.
fn edits_several(facts: &Facts<'_>, turn: usize) -> bool {
    let is_code = |path: &&String| !path.contains("test") && !is_documentation(path);
    let edits = facts.deeds_before(turn).take(LOOK_BACK).filter(|(_, deed)| deed.edits_files());
    let mut paths = edits.flat_map(|(_, deed)| deed.written.iter()).filter(is_code);
    let first = paths.next();
    paths.any(|path| Some(path) != first)
}

/// Whether the agent goes on after a message: what it says there is of the run before.
fn goes_on(facts: &Facts<'_>, turn: usize) -> bool {
    let messages = &facts.transcript().messages;
    messages.get(turn).is_none_or(|message| !message.calls.is_empty())
        || messages.get(turn + 1).is_some_and(|next| next.role != Role::User)
}

/// Whether a command runs the tests whose names it gives: `go test -run TestTake`.
fn picks_by_name(command: &str) -> bool {
    let picks = [" -run ", " -run=", " -k ", " -t ", "::", " --filter", " --grep", "-Dtest="];
    picks.iter().any(|option| command.contains(option))
}

/// Whether an output is that of a test run.
fn reports_tests(output: &str) -> bool {
    summary(output, ActivityKind::Test).verdict.is_some()
}

/// "After `mix format` I ran the tests again": the command, where it ran after the check.
fn run_since<'f, 't>(
    facts: &'f Facts<'t>,
    claim: &Claim,
    family: Family,
) -> Option<(&'f Execution<'t>, &'t str)> {
    let answer = facts.answers().iter().find(|answer| answer.turn == claim.turn)?;
    let before = answer.prose.text.get(..claim.span.start)?.trim_end_matches([' ', ',']);
    let (led, command) = before.strip_suffix('`')?.rsplit_once('`')?;
    let led = led.trim_end();
    let after = led.ends_with("fter") || led.ends_with("fter running");
    if !after || !command.contains(' ') {
        return None;
    }
    let checks = |deed: &Deed<'_>| {
        let mut runs = deed.shell.iter().flat_map(|work| &work.runs);
        deed.opaque || runs.any(|run| run.family == family)
    };
    let later = facts
        .deeds_before(claim.turn)
        .take_while(|(_, deed)| !checks(deed))
        .find(|(_, deed)| deed.shell.as_ref().is_some_and(|work| work.command.contains(command)));
    later.map(|(execution, _)| (execution, command))
}

/// Whether a linter was run on files that are named, and none of them was edited.
fn spares(run: &Execution<'_>, edit: &Deed<'_>) -> bool {
    let command = run.arguments();
    let part = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '\\' | ',' | '[' | ']');
    let name = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let linted: Vec<String> = command
        .split(part)
        .filter(|word| has_file_extension(word) && !word.starts_with('-') && !word.contains('*'))
        .map(name)
        .collect();
    !linted.is_empty() && !edit.written.iter().any(|path| linted.contains(&name(path)))
}

/// Whether the answer says itself that something was not checked: "the last edit is untested", "I
/// have not run them again".
fn discloses(facts: &Facts<'_>, turn: usize, family: Family) -> bool {
    let mut answers = facts.answers().iter().filter(|answer| answer.turn == turn);
    answers.any(|answer| {
        let prose = &answer.prose;
        let untested = |t: &Token| prose.is(t, words!["untested", "unverified", "uncommitted"]);
        let denies = |predicate: &Predicate| {
            let known = |done| matches!(done, Family::Run | Family::Build) || done == family;
            predicate.negated && matches!(predicate.action, Action::Of(done) if known(done))
        };
        // "clippy: failed, fix applied, not repeated"
        let once = prose.tokens.windows(2).any(|pair| {
            let [not, again] = pair else { return false };
            let again =
                prose.is(again, words!["repeated", "rerun", "re-run", "redone", "retested"]);
            again && not.has(Tags::NEGATION)
        });
        once || prose.tokens.iter().any(untested)
            || prose.sentences.iter().any(|sentence| tells_order(prose, sentence))
            || prose.clauses.iter().flat_map(|clause| &clause.predicates).any(denies)
    })
}

/// "before I replaced it", "one line was changed after that": which came first.
fn tells_order(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    let tokens = prose.tokens(sentence.tokens.clone());
    let edits = |t: &Token| t.verb == Some(Action::Of(Family::Update));
    let before = tokens.windows(3).any(|words| {
        let [before, who, did] = words else { return false };
        prose.is(before, words!["before"]) && who.has(Tags::AGENT) && edits(did)
    });
    // "before the last two edits"
    let at = tokens.iter().position(|t| prose.is(t, words!["before"]));
    let dated = at.is_some_and(|at| {
        let behind = tokens.get(at + 1..).unwrap_or_default().iter().take(4);
        behind.into_iter().any(|t| t.noun == Some(Family::Update))
    });
    let before = before || dated;
    // "After the test run I touched one more line"
    let checks = [Some(Family::Test), Some(Family::Build), Some(Family::Run)];
    let since = tokens.iter().position(|t| prose.is(t, words!["after"])).is_some_and(|at| {
        let behind = tokens.get(at + 1..).unwrap_or_default();
        let run = behind.iter().take(4).any(|t| checks.contains(&t.noun));
        let own = behind.iter().position(|t| t.has(Tags::AGENT));
        run && own.is_some_and(|at| behind.iter().skip(at).take(4).any(edits))
    });
    let before = before || since;
    let after = tokens.windows(2).any(|pair| {
        let [after, that] = pair else { return false };
        prose.is(after, words!["after"]) && prose.is(that, words!["that", "this", "it"])
    });
    let later = after || tokens.iter().any(|t| prose.is(t, words!["afterwards", "afterward"]));
    before || (later && tokens.iter().any(edits))
}
