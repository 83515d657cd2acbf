//! Cargo, Go, the C family, and other compiled languages.

use super::ActivityKind::{Build, Format, Install, Lint, Publish, Read, Run, Test};
use super::call::{Call, Found, Options, scoped, whole};
use super::{Scope, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    Some(match call.program {
        "cargo" => cargo(call),
        "cargo-nextest" => nextest(call),
        "rustc" => whole(Build, "rustc"),
        "rustfmt" if call.has(&["--check"]) => whole(Lint, "rustfmt --check"),
        "rustfmt" => whole(Format, "rustfmt"),
        "go" => go(call),
        "gotestsum" => gotestsum(call),
        "ginkgo" => scoped(Test, "ginkgo", go_scope(call)),
        "gofmt" | "goimports" | "gofumpt" if call.has(&["-w"]) => whole(Format, "gofmt -w"),
        "gofmt" | "goimports" | "gofumpt" => whole(Lint, "gofmt"),
        "golangci-lint" => golangci(call),
        "goreleaser" => goreleaser(call),
        "ctest" => ctest(call),
        "cmake" => cmake(call),
        "ninja" | "samu" => ninja(call),
        "meson" => meson(call),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" if call.args.is_empty() => Vec::new(),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" => whole(Build, "C compiler"),
        "zig" => zig(call),
        "swift" => swift(call),
        "xcodebuild" => xcodebuild(call),
        "dotnet" => dotnet(call),
        "stack" | "cabal" => cabal(call),
        "dune" => dune(call),
        "bazel" | "bazelisk" | "buck2" => bazel(call),
        "forge" => forge(call),
        "gleam" => gleam(call),
        _ => return None,
    })
}

const CARGO_VALUED: &[&str] = &[
    "--features",
    "-F",
    "--target",
    "--target-dir",
    "-j",
    "--jobs",
    "--profile",
    "--color",
    "--message-format",
    "--config",
    "-Z",
    "--test-threads",
    "--format",
    "--retries",
    "--cargo-profile",
    "-P",
    "--fail-fast",
    "--partition-count",
    "--output-format",
    "--toolchain",
];
const CARGO: Options = Options {
    narrowing: &[
        "-p",
        "--package",
        "--test",
        "--bin",
        "--example",
        "--bench",
        "--exclude",
        "--skip",
        "--manifest-path",
        "-E",
        "--filter-expr",
        "--filterset",
        "--partition",
    ],
    flags: &["--lib", "--bins", "--examples", "--doc", "--benches", "--ignored", "--exact"],
    valued: CARGO_VALUED,
    all: &[],
    long_dashes: false,
};

fn cargo(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["--manifest-path", "--config", "-C", "-Z", "--color"]);
    let rest = call.after(at + 1);
    match call.arg(at) {
        "test" | "t" if rest.has(&["--no-run"]) => whole(Build, "cargo test --no-run"),
        "test" | "t" if rest.has(&["--list"]) => whole(Read, "cargo test --list"),
        "test" | "t" => scoped(Test, "cargo test", rest.scope(&CARGO)),
        "nextest" => nextest(&rest),
        "llvm-cov" | "tarpaulin" | "insta" => {
            let rest = if matches!(rest.arg(0), "test" | "nextest") { rest.after(1) } else { rest };
            scoped(Test, "cargo test", rest.scope(&CARGO))
        }
        "miri" | "hack" | "careful" => {
            let inner = rest.sub(&["--feature-powerset"]);
            match rest.arg(inner) {
                "test" => scoped(Test, "cargo test", rest.after(inner + 1).scope(&CARGO)),
                "check" | "build" => whole(Build, "cargo build"),
                "clippy" => whole(Lint, "cargo clippy"),
                _ => Vec::new(),
            }
        }
        "build" | "b" => scoped(Build, "cargo build", rest.scope(&CARGO)),
        "check" | "c" => {
            let mut found = scoped(Build, "cargo check", rest.scope(&CARGO));
            found.extend(scoped(Lint, "cargo check", rest.scope(&CARGO)));
            found
        }
        "clippy" if rest.has(&["--fix"]) => whole(Format, "cargo clippy --fix"),
        "clippy" => {
            // Arguments after `--` go to the compiler.
            let end = rest.texts().position(|text| text == "--").unwrap_or(rest.args.len());
            let args = rest.args.get(..end).unwrap_or_default();
            scoped(Lint, "cargo clippy", Call { program: "cargo", args }.scope(&CARGO))
        }
        "fmt" if rest.has(&["--check"]) => whole(Lint, "cargo fmt --check"),
        "fmt" => whole(Format, "cargo fmt"),
        "deny" | "audit" | "machete" | "udeps" | "semver-checks" => whole(Lint, "cargo deny"),
        "doc" | "rustdoc" => whole(Build, "cargo doc"),
        "run" | "r" => whole(Run, "cargo run"),
        "bench" => whole(Run, "cargo bench"),
        "xtask" => tasks::by_name(rest.arg(0), "cargo xtask"),
        "install" | "add" | "remove" | "update" | "fetch" => whole(Install, "cargo install"),
        "publish" if rest.has(&["--dry-run", "-n"]) => whole(Build, "cargo package"),
        "publish" => whole(Publish, "cargo publish"),
        "package" => whole(Build, "cargo package"),
        "tree" | "metadata" | "search" | "info" => whole(Read, "cargo tree"),
        _ => Vec::new(),
    }
}

fn nextest(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "run" | "r" => scoped(Test, "cargo nextest", call.after(1).scope(&CARGO)),
        "list" => whole(Read, "cargo nextest list"),
        _ => Vec::new(),
    }
}

const GO: Options = Options {
    narrowing: &["-run", "--run", "-skip", "--skip", "-test.run", "--focus", "--label-filter"],
    flags: &["-short", "--short", "-test.short"],
    valued: &[
        "-count",
        "-timeout",
        "-tags",
        "-coverprofile",
        "-covermode",
        "-coverpkg",
        "-parallel",
        "-cpu",
        "-p",
        "-o",
        "-exec",
        "-ldflags",
        "-gcflags",
        "-asmflags",
        "-mod",
        "-modfile",
        "-overlay",
        "-vet",
        "-bench",
        "-benchtime",
        "-fuzz",
        "-fuzztime",
        "-shuffle",
        "-C",
        "-outputdir",
        "-memprofile",
        "-cpuprofile",
        "-toolexec",
        "-pkgdir",
        "-buildmode",
        "--tags",
        "--count",
        "--timeout",
        "--procs",
        "--nodes",
    ],
    all: &["./...", "...", "all"],
    long_dashes: true,
};

/// Without packages, Go only covers the package in the current directory.
fn go_scope(call: &Call<'_>) -> Scope {
    match call.scope(&GO) {
        Scope::Whole if !call.has(GO.all) => Scope::Subset(".".to_owned()),
        scope => scope,
    }
}

fn go(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-C"]);
    let rest = call.after(at + 1);
    match call.arg(at) {
        "test" if rest.has(&["-c", "-o"]) => scoped(Build, "go test -c", go_scope(&rest)),
        "test" if rest.has(&["-list", "-n"]) => whole(Read, "go test -list"),
        "test" => scoped(Test, "go test", go_scope(&rest)),
        // Without packages, this builds the program in the current directory, which is all there is
        // to build.
        "build" => scoped(Build, "go build", rest.scope(&GO)),
        "install" if rest.texts().any(|text| text.contains('@')) => whole(Install, "go install"),
        "install" => scoped(Build, "go install", go_scope(&rest)),
        "vet" => scoped(Lint, "go vet", go_scope(&rest)),
        "fmt" => whole(Format, "go fmt"),
        "run" => whole(Run, "go run"),
        "generate" => whole(Run, "go generate"),
        "get" => whole(Install, "go get"),
        "mod" => match rest.arg(0) {
            "tidy" | "download" | "vendor" => whole(Install, "go mod"),
            "verify" => whole(Lint, "go mod verify"),
            _ => whole(Read, "go mod"),
        },
        "doc" | "list" | "env" | "version" => whole(Read, "go list"),
        _ => Vec::new(),
    }
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
    let scope = match rest.scope(&GO) {
        Scope::Whole if packages.is_empty() || packages.contains(&"./...") => Scope::Whole,
        Scope::Whole => Scope::Subset(packages.join(" ")),
        narrowed => narrowed,
    };
    scoped(Test, "gotestsum", scope)
}

fn golangci(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-c", "--config", "--color"]);
    let rest = call.after(at + 1);
    let options = Options {
        narrowing: &["-E", "--enable-only", "--enable", "-D", "--disable", "--new-from-rev"],
        flags: &["--new", "--disable-all", "--fast"],
        valued: &["-c", "--config", "--timeout", "--color", "-j", "--concurrency", "--build-tags"],
        all: &["./...", "...", "."],
        long_dashes: false,
    };
    match call.arg(at) {
        "run" => scoped(Lint, "golangci-lint", rest.scope(&options)),
        "fmt" if rest.has(&["--diff", "-d"]) => whole(Lint, "golangci-lint fmt --diff"),
        "fmt" => whole(Format, "golangci-lint fmt"),
        _ => Vec::new(),
    }
}

fn ctest(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["-N", "--show-only"]) {
        return whole(Read, "ctest -N");
    }
    scoped(
        Test,
        "ctest",
        call.scope(&Options {
            narrowing: &[
                "-R",
                "--tests-regex",
                "-E",
                "--exclude-regex",
                "-L",
                "--label-regex",
                "-LE",
                "--label-exclude",
                "-I",
            ],
            flags: &["--rerun-failed"],
            valued: &[
                "-C",
                "--build-config",
                "-j",
                "--parallel",
                "--test-dir",
                "--timeout",
                "--preset",
            ],
            ..Options::default()
        }),
    )
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

fn swift(call: &Call<'_>) -> Vec<Found> {
    let options = Options {
        narrowing: &["--filter", "--skip", "--test-product", "-s", "--specifier"],
        valued: &["--package-path", "-c", "--configuration", "-j", "-Xswiftc", "-Xlinker"],
        ..Options::default()
    };
    match call.arg(0) {
        "test" => scoped(Test, "swift test", call.after(1).scope(&options)),
        "build" => whole(Build, "swift build"),
        "run" => whole(Run, "swift run"),
        _ => Vec::new(),
    }
}

fn xcode_scope(call: &Call<'_>) -> Scope {
    match call.texts().find(|text| text.starts_with("-only-testing")) {
        Some(text) => Scope::Subset(text.to_owned()),
        None => Scope::Whole,
    }
}

fn dotnet(call: &Call<'_>) -> Vec<Found> {
    let options = Options {
        narrowing: &["--filter"],
        valued: &[
            "-c",
            "--configuration",
            "-f",
            "--framework",
            "-v",
            "--verbosity",
            "--logger",
            "-l",
            "--collect",
            "-r",
            "--results-directory",
            "-o",
            "--output",
            "--runtime",
            "--settings",
        ],
        ..Options::default()
    };
    match call.arg(0) {
        "test" | "vstest" => match call.after(1).scope(&options) {
            Scope::Subset(reason) if reason.ends_with(".sln") => whole(Test, "dotnet test"),
            scope => scoped(Test, "dotnet test", scope),
        },
        "build" | "msbuild" | "publish" | "pack" => whole(Build, "dotnet build"),
        "run" | "watch" => whole(Run, "dotnet run"),
        "restore" | "add" | "tool" => whole(Install, "dotnet restore"),
        "format" if call.has(&["--verify-no-changes"]) => whole(Lint, "dotnet format"),
        "format" => whole(Format, "dotnet format"),
        "nuget" if call.arg(1) == "push" => whole(Publish, "dotnet nuget push"),
        _ => Vec::new(),
    }
}

fn haskell_test(call: &Call<'_>) -> Vec<Found> {
    let rest = call.after(call.sub(&[]) + 1);
    scoped(
        Test,
        "cabal test",
        rest.scope(&Options {
            narrowing: &["--test-arguments", "--ta", "--test-option", "--match"],
            all: &["all"],
            ..Options::default()
        }),
    )
}

fn bazel(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&[]);
    let rest = call.after(at + 1);
    let options = Options {
        narrowing: &["--test_filter", "--test_tag_filters"],
        all: &["//...", "...", "//...:all"],
        ..Options::default()
    };
    match call.arg(at) {
        "test" | "coverage" => scoped(Test, "bazel test", rest.scope(&options)),
        "build" => scoped(Build, "bazel build", rest.scope(&options)),
        "run" => whole(Run, "bazel run"),
        "query" | "cquery" | "info" => whole(Read, "bazel query"),
        _ => Vec::new(),
    }
}

fn goreleaser(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "build" => whole(Build, "goreleaser build"),
        "release" if call.has(&["--snapshot", "--skip"]) => whole(Build, "goreleaser"),
        "release" => whole(Publish, "goreleaser release"),
        "check" => whole(Lint, "goreleaser check"),
        _ => Vec::new(),
    }
}

fn meson(call: &Call<'_>) -> Vec<Found> {
    let options = Options { valued: &["-C"], narrowing: &["--suite"], ..Options::default() };
    match call.arg(0) {
        "test" => scoped(Test, "meson test", call.after(1).scope(&options)),
        "compile" => whole(Build, "meson compile"),
        "install" => whole(Install, "meson install"),
        _ => Vec::new(),
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

fn cabal(call: &Call<'_>) -> Vec<Found> {
    match call.arg(call.sub(&[])) {
        "test" | "v2-test" => haskell_test(call),
        "build" | "v2-build" => whole(Build, "cabal build"),
        "run" => whole(Run, "cabal run"),
        "install" => whole(Install, "cabal install"),
        _ => Vec::new(),
    }
}

fn dune(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" | "runtest" => scoped(Test, "dune test", call.after(1).scope(&Options::default())),
        "build" => whole(Build, "dune build"),
        _ => Vec::new(),
    }
}

fn forge(call: &Call<'_>) -> Vec<Found> {
    let options = Options {
        narrowing: &["--match-test", "--match-contract", "--match-path", "--mt", "--mc"],
        ..Options::default()
    };
    match call.arg(0) {
        "test" => scoped(Test, "forge test", call.after(1).scope(&options)),
        "build" => whole(Build, "forge build"),
        _ => Vec::new(),
    }
}

fn gleam(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" => whole(Test, "gleam test"),
        "build" => whole(Build, "gleam build"),
        _ => Vec::new(),
    }
}
