//! Task runners, and the meaning of task names.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{self, Build, Deploy, Format, Install, Lint, Publish, Run, Test};
use super::kind::Scope;

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "make" | "gmake" | "bmake" => Some(make(call)),
        "just" => Some(first_of(&call.operands(&["-f", "--justfile", "-d", "--set"]), "just")),
        "task" | "go-task" => Some(
            call.operands(&["-t", "--taskfile", "-d", "--dir", "-o"])
                .into_iter()
                .flat_map(|name| by_name(name, "task"))
                .collect(),
        ),
        "mise" => Some(mise(call)),
        "rake" => Some(
            call.operands(&["-f", "-C", "-I"])
                .into_iter()
                .flat_map(|name| by_name(name, "rake"))
                .collect(),
        ),
        "invoke" | "inv" | "poe" | "poethepoet" | "doit" => {
            Some(first_of(&call.operands(&[]), "task runner"))
        }
        "pre-commit" | "prek" if call.arg(0) == "run" => {
            let whole_set = call.has(&["--all-files", "-a"]);
            let hook = call.after(1).operands(&["--files", "--from-ref", "--to-ref"]);
            let scope = match hook.first() {
                Some(hook) => Scope::Subset((*hook).to_owned()),
                None if whole_set => Scope::Whole,
                None => Scope::Subset("staged files".to_owned()),
            };
            Some(scoped(Lint, "pre-commit", scope))
        }
        _ => None,
    }
}

fn make(call: &Call<'_>) -> Vec<Found> {
    let dry = call.texts().any(|text| {
        matches!(text, "--dry-run" | "--just-print" | "--question" | "--print-data-base")
            || text.strip_prefix('-').is_some_and(|flags| {
                !flags.starts_with('-')
                    && flags.bytes().all(|b| b.is_ascii_alphabetic())
                    && flags.contains(['n', 'q', 'p'])
            })
    });
    if dry {
        return Vec::new();
    }
    let targets: Vec<&str> = call
        .operands(&["-C", "-f", "-I", "-o", "-W", "-l", "--directory", "--file", "-j"])
        .into_iter()
        .filter(|word| !word.contains('=') && !word.bytes().all(|b| b.is_ascii_digit()))
        .collect();
    if targets.is_empty() {
        return whole(Build, "make");
    }
    targets
        .into_iter()
        .flat_map(|target| match target {
            "check" => whole(Test, "make"),
            target => by_name(target, "make"),
        })
        .collect()
}

/// The activities of a runner that takes one task and passes the other words to it.
fn first_of(words: &[&str], runner: &'static str) -> Vec<Found> {
    let Some((task, rest)) = words.split_first() else { return Vec::new() };
    let mut found = by_name(task, runner);
    for word in rest {
        let next = by_name(word, runner);
        if next.is_empty() {
            if let Some(last) = found.last_mut() {
                last.scope = Scope::Subset((*word).to_owned());
            }
            break;
        }
        found.extend(next);
    }
    found
}

fn mise(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-C", "--cd", "-j", "-E", "--env"]);
    match call.arg(at) {
        "run" | "r" => {
            let rest = call.after(at + 1);
            let tasks = rest.texts().collect::<Vec<_>>();
            let groups: Vec<Vec<&str>> = tasks
                .split(|text| *text == ":::")
                .map(|group| group.iter().copied().filter(|w| !w.starts_with('-')).collect())
                .collect();
            groups.iter().flat_map(|group| first_of(group, "mise run")).collect()
        }
        "install" | "use" | "i" => whole(Install, "mise install"),
        _ => Vec::new(),
    }
}

/// The activities of a task, judging by its name alone; empty if the name is not conclusive.
pub(super) fn by_name(name: &str, runner: &'static str) -> Vec<Found> {
    let lower = name.to_ascii_lowercase();
    let parts: Vec<&str> = lower.split([':', '-', '_', '.', '/', ' ']).collect();
    let Some((first, rest)) = parts.split_first() else { return Vec::new() };
    // `format:check` and `check-format` only look.
    let checks = parts.contains(&"check") || parts.contains(&"verify") || parts.contains(&"diff");
    let part = || Scope::Subset(name.to_owned());
    let is_whole = rest.is_empty() || matches!(rest, ["all" | "ci" | "check"]);
    let named =
        |kind: ActivityKind| scoped(kind, runner, if is_whole { Scope::Whole } else { part() });
    let second = rest.first().copied().unwrap_or_default();
    match *first {
        "test" | "tests" | "spec" | "specs" | "unit" | "e2e" | "integration" | "pytest"
        | "jest" | "vitest" | "unittest" => match of_tests(second) {
            Some(Test) if !matches!(*first, "test" | "tests") => scoped(Test, runner, part()),
            Some(kind) => named(kind),
            None => Vec::new(),
        },
        "build" | "compile" | "bundle" | "dist" | "all" | "package" => named(Build),
        "lint" | "linter" | "typecheck" | "types" | "tsc" | "mypy" | "eslint" | "clippy"
        | "vet" | "analyze" | "analyse" | "stylelint" | "check" | "checks" | "ruff" | "flake8"
        | "pyright" | "golangci" | "shellcheck" | "style" => match second {
            "fix" => whole(Format, runner),
            "test" | "tests" => named(Test),
            _ => named(Lint),
        },
        "type" if second == "check" => named(Lint),
        "format" | "fmt" | "prettier" | "black" | "formatting" if checks => named(Lint),
        "format" | "fmt" | "prettier" | "black" | "formatting" => named(Format),
        "fix" => named(Format),
        "ci" | "verify" | "validate" | "precommit" | "preflight" | "qa" | "presubmit" => {
            let mut found = scoped(Test, runner, Scope::Whole);
            found.extend(scoped(Lint, runner, Scope::Whole));
            found
        }
        "pre" if matches!(second, "commit" | "push") => whole(Lint, runner),
        "install" | "deps" | "setup" | "bootstrap" => named(Install),
        "deploy" => whole(Deploy, runner),
        "publish" | "release" if rest.contains(&"dry") || rest.contains(&"build") => Vec::new(),
        "publish" | "release" => whole(Publish, runner),
        "start" | "dev" | "serve" | "server" => whole(Run, runner),
        "run" if matches!(second, "test" | "tests") => named(Test),
        "clean" | "help" | "watch" | "docs" | "doc" | "coverage" | "db" => Vec::new(),
        _ => match rest.last().copied().unwrap_or_default() {
            "test" | "tests" => scoped(Test, runner, part()),
            "lint" | "typecheck" => scoped(Lint, runner, part()),
            "build" => scoped(Build, runner, part()),
            _ => Vec::new(),
        },
    }
}

/// The kind of a test task, by the second word of its name; `None` if it only prepares or cleans
/// up.
fn of_tests(second: &str) -> Option<ActivityKind> {
    match second {
        "lint" | "types" | "typecheck" | "type" | "format" | "fmt" => Some(Lint),
        "build" | "compile" | "image" => Some(Build),
        "clean" | "setup" | "deps" | "fixtures" | "db" | "data" | "env" | "up" | "down"
        | "start" | "stop" | "server" | "seed" | "list" | "help" | "report" | "install"
        | "prepare" | "update" | "coverage-report" => None,
        _ => Some(Test),
    }
}
