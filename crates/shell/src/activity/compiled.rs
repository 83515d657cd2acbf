//! Compiled languages, where more than the first words decides.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Build, Format, Install, Lint, Run, Test};
use super::kind::Scope;
use super::runners::{global, options};
use super::tasks;

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    Some(match call.program {
        "cargo" => return cargo(call),
        "gotestsum" => gotestsum(call),
        "cmake" => cmake(call),
        "ninja" | "samu" => ninja(call),
        "zig" => zig(call),
        "xcodebuild" => xcodebuild(call),
        "dotnet" if matches!(call.arg(0), "test" | "vstest") => {
            match call.after(1).scope(options("dotnet")) {
                Scope::Subset(reason) if reason.ends_with(".sln") => whole(Test, "dotnet test"),
                _ => return None,
            }
        }
        _ => return None,
    })
}

fn cargo(call: &Call<'_>) -> Option<Vec<Found>> {
    let at = call.sub(global("cargo"));
    let rest = call.after(at + 1);
    Some(match call.arg(at) {
        "miri" | "hack" | "careful" => {
            let inner = rest.sub(&["--feature-powerset"]);
            match rest.arg(inner) {
                "test" => scoped(Test, "cargo test", rest.after(inner + 1).scope(options("cargo"))),
                "check" | "build" => whole(Build, "cargo build"),
                "clippy" => whole(Lint, "cargo clippy"),
                _ => Vec::new(),
            }
        }
        "clippy" if !rest.has(&["--fix"]) => {
            // Arguments after `--` go to the compiler.
            let end = rest.texts().position(|text| text == "--").unwrap_or(rest.args.len());
            let args = rest.args.get(..end).unwrap_or_default();
            scoped(Lint, "cargo clippy", Call { program: "cargo", args }.scope(options("cargo")))
        }
        "xtask" => tasks::by_name(rest.arg(0), "cargo xtask"),
        _ => return None,
    })
}

fn gotestsum(call: &Call<'_>) -> Vec<Found> {
    let own = &["--format", "-f", "--junitfile", "--jsonfile", "--rerun-fails", "--packages"];
    let dashes = call.texts().position(|text| text == "--");
    let packages: Vec<&str> =
        call.texts().filter_map(|text| text.strip_prefix("--packages=")).collect();
    let rest = match dashes {
        Some(at) => call.after(at + 1),
        None => call.after(call.sub(own)),
    };
    let scope = match rest.scope(options("go")) {
        Scope::Whole if packages.is_empty() || packages.contains(&"./...") => Scope::Whole,
        Scope::Whole => Scope::Subset(packages.join(" ")),
        narrowed => narrowed,
    };
    scoped(Test, "gotestsum", scope)
}

fn cmake(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--install"]) {
        return whole(Install, "cmake --install");
    }
    if !call.has(&["--build"]) {
        return Vec::new();
    }
    let target = call
        .texts()
        .skip_while(|text| !matches!(*text, "--target" | "-t"))
        .nth(1)
        .unwrap_or_default();
    match target {
        "test" | "check" => whole(Test, "cmake --build"),
        "clean" => Vec::new(),
        "" | "all" => whole(Build, "cmake --build"),
        other => scoped(Build, "cmake --build", Scope::Subset(format!("--target {other}"))),
    }
}

fn ninja(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["-t", "-n"]) {
        return Vec::new();
    }
    let targets = call.operands(&["-C", "-f", "-j", "-k", "-l", "-d", "-w"]);
    match targets.as_slice() {
        ["test" | "check", ..] => whole(Test, "ninja test"),
        ["clean"] => Vec::new(),
        ["install"] => whole(Install, "ninja install"),
        [] | ["all"] => whole(Build, "ninja"),
        some => scoped(Build, "ninja", Scope::Subset(some.join(" "))),
    }
}

fn zig(call: &Call<'_>) -> Vec<Found> {
    match (call.arg(0), call.arg(1)) {
        ("build", "test") => whole(Test, "zig build test"),
        ("build", "run") => whole(Run, "zig build run"),
        ("build", _) => whole(Build, "zig build"),
        ("test", file) => scoped(Test, "zig test", Scope::Subset(file.to_owned())),
        ("fmt", _) if call.has(&["--check"]) => whole(Lint, "zig fmt --check"),
        ("fmt", _) => whole(Format, "zig fmt"),
        ("run", _) => whole(Run, "zig run"),
        ("build-exe" | "build-lib" | "build-obj" | "cc", _) => whole(Build, "zig"),
        _ => Vec::new(),
    }
}

fn xcode_scope(call: &Call<'_>) -> Scope {
    match call.texts().find(|text| text.starts_with("-only-testing")) {
        Some(text) => Scope::Subset(text.to_owned()),
        None => Scope::Whole,
    }
}

fn xcodebuild(call: &Call<'_>) -> Vec<Found> {
    call.operands(&["-scheme", "-project", "-workspace", "-destination", "-configuration"])
        .into_iter()
        .flat_map(|word| match word {
            "test" => scoped(Test, "xcodebuild test", xcode_scope(call)),
            "build" | "archive" | "build-for-testing" => whole(Build, "xcodebuild"),
            _ => Vec::new(),
        })
        .collect()
}
