//! Interpreters of Python, and what runs its tests in environments.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Build, Install, Read, Run, Test};
use super::kind::Scope;
use super::runners::options;
use super::{files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        name if is_python(name) => Some(python(call)),
        "coverage" => Some(coverage(call)),
        "tox" => Some(tox(call)),
        "nox" => Some(nox(call)),
        _ => None,
    }
}

fn is_python(name: &str) -> bool {
    name.strip_prefix("python")
        .or_else(|| name.strip_prefix("pypy"))
        .is_some_and(|version| version.bytes().all(|b| b.is_ascii_digit() || b == b'.'))
}

fn python(call: &Call<'_>) -> Vec<Found> {
    let mut at = 0;
    while let Some(word) = call.args.get(at) {
        match word.text.as_str() {
            "-m" => {
                let module = call.renamed(call.arg(at + 1), at + 2);
                return match module.program {
                    "build" => whole(Build, "python -m build"),
                    "http.server" | "uvicorn" | "flask" => whole(Run, "python"),
                    "venv" | "ensurepip" => whole(Install, "python -m venv"),
                    "json.tool" => whole(Read, "python -m json.tool"),
                    "doctest" => scoped(Test, "doctest", module.scope(options("operands"))),
                    "" => Vec::new(),
                    name if is_python(name) => Vec::new(),
                    _ => super::of_call(&module),
                };
            }
            "-c" | "-" => return whole(Run, "python"),
            "-W" | "-X" => at += 2,
            text if text.starts_with('-') => at += 1,
            script => return files::interpreted(script, &call.after(at + 1), "python"),
        }
    }
    Vec::new()
}

fn coverage(call: &Call<'_>) -> Vec<Found> {
    if call.arg(0) != "run" {
        return Vec::new();
    }
    let valued = &["--source", "--omit", "--include", "--rcfile", "--data-file", "--context"];
    let rest = call.after(1);
    let mut at = 0;
    while let Some(word) = rest.args.get(at) {
        match word.text.as_str() {
            "-m" => return super::of_call(&rest.renamed(rest.arg(at + 1), at + 2)),
            text if valued.contains(&text) => at += 2,
            text if text.starts_with('-') => at += 1,
            script => return files::interpreted(script, &rest.after(at + 1), "python"),
        }
    }
    Vec::new()
}

fn tox(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["-l", "--listenvs", "--notest"]) || call.arg(0) == "list" {
        return Vec::new();
    }
    let dashes = call.texts().position(|text| text == "--");
    let own = Call {
        program: "tox",
        args: call.args.get(..dashes.unwrap_or(call.args.len())).unwrap_or_default(),
    };
    let environment = own.texts().enumerate().find_map(|(i, text)| match text {
        "-e" | "-m" | "-f" => Some(own.arg(i + 1)),
        _ => text.strip_prefix("-e").filter(|name| !name.is_empty()),
    });
    if let Some(name) = environment {
        let named = tasks::by_name(name, "tox");
        if named.first().is_some_and(|found| found.kind != Test) {
            return named;
        }
        return scoped(Test, "tox", Scope::Subset(format!("-e {name}")));
    }
    match dashes.map(|at| call.after(at + 1).scope(options("pytest"))) {
        Some(Scope::Subset(reason)) => scoped(Test, "tox", Scope::Subset(reason)),
        _ => whole(Test, "tox"),
    }
}

fn nox(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["-l", "--list"]) {
        return Vec::new();
    }
    let sessions: Vec<&str> = call
        .texts()
        .skip_while(|text| !matches!(*text, "-s" | "-e" | "--session" | "--sessions"))
        .skip(1)
        .take_while(|text| !text.starts_with('-'))
        .collect();
    if sessions.is_empty() {
        return whole(Test, "nox");
    }
    let named: Vec<Found> =
        sessions.into_iter().flat_map(|name| tasks::by_name(name, "nox")).collect();
    if named.is_empty() { whole(Run, "nox") } else { named }
}
