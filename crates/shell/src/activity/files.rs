//! Commands that read files or run the project's own files.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Build, Install, Lint, Read, Run, Test};
use super::kind::Scope;
use super::runners::options;

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    let in_place = || {
        call.texts().any(|text| {
            text.starts_with("--in-place")
                || text.strip_prefix('-').is_some_and(|f| !f.starts_with('-') && f.contains('i'))
        })
    };
    match call.program {
        "sed" | "gsed" if in_place() => Some(Vec::new()),
        "sed" | "gsed" => Some(whole(Read, "sed")),
        "bash" | "sh" | "zsh" | "dash" | "ksh" => Some(shell_script(call)),
        _ => None,
    }
}

fn shell_script(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-o", "-O", "--rcfile"]);
    let runs_text = call.texts().take(at).any(|text| {
        text.strip_prefix('-').is_some_and(|f| !f.starts_with('-') && f.contains(['c', 'n', 's']))
    });
    if runs_text || call.args.len() <= at {
        return Vec::new();
    }
    interpreted(call.arg(at), &call.after(at + 1), "shell script")
}

/// A script that is passed to an interpreter.
pub(super) fn interpreted(path: &str, rest: &Call<'_>, runner: &'static str) -> Vec<Found> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name == "manage.py" {
        return super::of_call(&Call { program: name, args: rest.args });
    }
    if name == "setup.py" {
        return match rest.arg(0) {
            "test" => whole(Test, "setup.py test"),
            "install" | "develop" => whole(Install, "setup.py install"),
            "build" | "build_ext" | "sdist" | "bdist_wheel" => whole(Build, "setup.py build"),
            _ => Vec::new(),
        };
    }
    // Runners called by path: `node node_modules/.bin/jest`, `php vendor/bin/phpunit`.
    if path.contains('/') && !name.contains('.') {
        let known = super::of_call(&Call { program: name, args: rest.args });
        if !known.is_empty() {
            return known;
        }
    }
    own_file(path, rest, runner)
}

/// A program called by path: `./scripts/test.sh`, `bin/server`.
pub(super) fn program_of_the_project(path: &str, call: &Call<'_>) -> Vec<Found> {
    if path.contains('/') { own_file(path, call, "project program") } else { Vec::new() }
}

fn own_file(path: &str, rest: &Call<'_>, runner: &'static str) -> Vec<Found> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    let suite = matches!(
        stem,
        "test"
            | "tests"
            | "runtests"
            | "run_tests"
            | "run-tests"
            | "run_test"
            | "run-test"
            | "test-all"
            | "test_all"
            | "all_tests"
            | "runtest"
    );
    // A bare `./test` may well be any program with that name.
    let program = extension.is_empty() && matches!(path, "./test" | "./tests");
    if suite && !program {
        return scoped(Test, "test script", rest.scope(options("script")));
    }
    let source = matches!(
        extension,
        "py" | "js" | "ts" | "mjs" | "cjs" | "tsx" | "rb" | "php" | "sh" | "pl"
    );
    let parts = || stem.split(['_', '-', '.']);
    let test_file = source
        && (parts().next() == Some("test") || matches!(parts().next_back(), Some("test" | "spec")));
    if test_file {
        return scoped(Test, "test file", Scope::Subset(path.to_owned()));
    }
    if matches!(stem, "build" | "compile") {
        return whole(Build, "build script");
    }
    if matches!(stem, "lint") {
        return whole(Lint, "lint script");
    }
    whole(Run, runner)
}
