use super::ActivityKind::{Build, Format, Install, Lint, Publish, Read, Run, Test};
use super::call::{Call, Found, Options, scoped, whole};
use super::{Scope, files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" => Some(package_manager(call)),
        "jest" | "vitest" | "mocha" | "ava" | "tap" | "tape" | "jasmine" | "uvu" => {
            Some(runner(call))
        }
        "playwright" | "cypress" | "wdio" | "karma" | "ng" | "react-scripts" | "next" | "vite"
        | "astro" | "nuxt" | "expo" | "storybook" | "vue-cli-service" | "hardhat" | "webpack"
        | "rollup" | "esbuild" | "tsup" | "parcel" | "swc" => Some(framework(call)),
        "node" | "tsx" | "ts-node" | "nodejs" => Some(node(call)),
        "deno" => Some(deno(call)),
        "tsc" | "vue-tsc" | "tsgo" => Some(tsc(call)),
        "svelte-check" | "oxlint" | "stylelint" | "tslint" | "standard" | "xo" | "knip"
        | "markdownlint" | "markdownlint-cli2" => Some(whole(Lint, "javascript linter")),
        "eslint" => Some(scoped(
            Lint,
            "eslint",
            call.scope(&Options {
                narrowing: &["--rule"],
                valued: &[
                    "-c",
                    "--config",
                    "--ext",
                    "-f",
                    "--format",
                    "--max-warnings",
                    "--cache-location",
                    "--ignore-pattern",
                    "-o",
                ],
                all: &[".", "./", "src", "src/", "./src"],
                ..Options::default()
            }),
        )),
        "biome" => Some(match call.arg(0) {
            "check" | "lint" | "ci" if !call.has(&["--write", "--apply", "--fix"]) => {
                whole(Lint, "biome")
            }
            "format" if !call.has(&["--write"]) => whole(Lint, "biome format"),
            "check" | "lint" | "format" => whole(Format, "biome --write"),
            _ => Vec::new(),
        }),
        "prettier" => Some(if call.has(&["--check", "-c", "-l", "--list-different"]) {
            whole(Lint, "prettier --check")
        } else if call.has(&["--write", "-w"]) {
            whole(Format, "prettier --write")
        } else {
            Vec::new()
        }),
        "turbo" | "nx" | "lerna" => Some(monorepo(call)),
        _ => None,
    }
}

const RUNNER: Options = Options {
    narrowing: &[
        "-t",
        "--testNamePattern",
        "-g",
        "--grep",
        "--testPathPattern",
        "--testPathPatterns",
        "--project",
        "--selectProjects",
        "-p",
        "--changedSince",
        "--findRelatedTests",
        "--match",
        "-m",
        "--shard",
        "--test-name-pattern",
        "--filter",
        "--spec",
        "-s",
    ],
    flags: &["--onlyChanged", "-o", "--changed", "--onlyFailures", "--last-failed"],
    valued: &[
        "-c",
        "--config",
        "--reporter",
        "--reporters",
        "--maxWorkers",
        "-w",
        "--coverageProvider",
        "--environment",
        "--env",
        "--timeout",
        "--testTimeout",
        "-r",
        "--require",
        "--root",
        "--pool",
        "--outputFile",
        "--coverageDirectory",
        "--workers",
        "--browser",
        "--ui",
    ],
    all: &["run", "watch", ".", "--"],
    long_dashes: false,
};

fn runner(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--listTests", "--showConfig"]) || call.arg(0) == "list" {
        return whole(Read, "test list");
    }
    let name = match call.program {
        "jest" => "jest",
        "vitest" => "vitest",
        "mocha" => "mocha",
        "ava" => "ava",
        _ => "javascript tests",
    };
    if call.arg(0) == "typecheck" {
        return whole(Lint, "vitest typecheck");
    }
    scoped(Test, name, call.scope(&RUNNER))
}

fn framework(call: &Call<'_>) -> Vec<Found> {
    let rest = call.after(1);
    match (call.program, call.arg(0)) {
        ("playwright", "test") if rest.has(&["--list"]) => whole(Read, "playwright --list"),
        ("playwright", "test") => scoped(Test, "playwright", rest.scope(&RUNNER)),
        ("playwright" | "expo", "install") => whole(Install, "playwright install"),
        ("cypress" | "wdio", "run") => scoped(Test, "cypress", rest.scope(&RUNNER)),
        ("karma", "start") => whole(Test, "karma"),
        ("ng" | "react-scripts" | "vue-cli-service" | "hardhat", "test" | "test:unit") => {
            scoped(Test, "framework tests", rest.scope(&RUNNER))
        }
        ("hardhat", "compile") => whole(Build, "hardhat compile"),
        ("ng" | "next" | "vue-cli-service", "lint") | ("astro", "check") => {
            whole(Lint, "framework lint")
        }
        (_, "build") | ("webpack" | "rollup" | "esbuild" | "tsup" | "parcel" | "swc", _) => {
            whole(Build, "bundler")
        }
        (_, "dev" | "start" | "serve" | "preview") => whole(Run, "dev server"),
        _ => Vec::new(),
    }
}

fn tsc(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--init", "--showConfig"]) {
        return Vec::new();
    }
    let scope = call.scope(&Options {
        valued: &["--target", "--module", "--outDir", "--lib", "--jsx", "--moduleResolution"],
        narrowing: &["-p", "--project"],
        ..Options::default()
    });
    let mut found = scoped(Lint, "tsc", scope.clone());
    if !call.has(&["--noEmit"]) {
        found.extend(scoped(Build, "tsc", scope));
    }
    found
}

fn node(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--test"]) {
        return scoped(
            Test,
            "node --test",
            call.scope(&Options {
                narrowing: &["--test-name-pattern", "--test-only", "--test-skip-pattern"],
                valued: &[
                    "--import",
                    "--require",
                    "-r",
                    "--loader",
                    "--test-reporter",
                    "--test-concurrency",
                    "--test-timeout",
                    "--test-reporter-destination",
                ],
                ..Options::default()
            }),
        );
    }
    if call.has(&["-e", "--eval", "-p", "--print", "--check", "-c"]) {
        return if call.has(&["--check", "-c"]) {
            whole(Lint, "node --check")
        } else {
            whole(Run, "node")
        };
    }
    let at = call.sub(&["-r", "--require", "--import", "--loader", "--env-file"]);
    if call.args.len() <= at {
        return Vec::new();
    }
    files::interpreted(call.arg(at), &call.after(at + 1), "node")
}

fn deno(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" => scoped(Test, "deno test", call.after(1).scope(&RUNNER)),
        "lint" => whole(Lint, "deno lint"),
        "check" => whole(Lint, "deno check"),
        "fmt" if call.has(&["--check"]) => whole(Lint, "deno fmt --check"),
        "fmt" => whole(Format, "deno fmt"),
        "task" => tasks::by_name(call.arg(1), "deno task"),
        "run" | "serve" => whole(Run, "deno run"),
        "compile" | "bundle" => whole(Build, "deno compile"),
        "install" | "add" | "cache" => whole(Install, "deno install"),
        "publish" => whole(Publish, "deno publish"),
        _ => Vec::new(),
    }
}

const NARROW: &[&str] =
    &["--filter", "-F", "-w", "--workspace", "--prefix", "-C", "--dir", "--cwd"];

fn package_manager(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(NARROW);
    let before = Call { program: call.program, args: call.args.get(..at).unwrap_or_default() };
    let rest = call.after(at + 1);
    let narrowed = match before.scope(&Options { narrowing: NARROW, ..Options::default() }) {
        Scope::Subset(reason) if !before.has(&["-C", "--cwd", "--prefix", "--dir"]) => Some(reason),
        _ => None,
    };
    let found = match (call.program, call.arg(at)) {
        ("bun", "test") => return scoped(Test, "bun test", rest.scope(&RUNNER)),
        ("bun", "build") => whole(Build, "bun build"),
        (_, "test" | "t" | "tst" | "it") => scoped(Test, "npm test", script_scope(&rest)),
        (_, "run" | "run-script" | "rum") => script(&rest),
        ("yarn", "workspace") => package_manager(&rest.renamed("yarn", 1)),
        ("yarn", "workspaces") if rest.arg(0) == "foreach" => {
            let at = rest.texts().position(|text| text == "run").unwrap_or(0);
            script(&rest.after(at + 1))
        }
        (
            _,
            "install" | "i" | "ci" | "add" | "remove" | "uninstall" | "update" | "up" | "upgrade"
            | "dedupe" | "link" | "install-test" | "clean-install",
        ) => whole(Install, "npm install"),
        ("yarn", "") => whole(Install, "yarn install"),
        (_, "publish") if rest.has(&["--dry-run"]) => Vec::new(),
        (_, "publish") => whole(Publish, "npm publish"),
        (_, "audit") => whole(Lint, "npm audit"),
        (_, "start") => whole(Run, "npm start"),
        (_, "pack") => whole(Build, "npm pack"),
        (
            _,
            "ls" | "list" | "view" | "why" | "outdated" | "info" | "exec" | "dlx" | "x" | "config"
            | "init" | "create" | "cache" | "version" | "help" | "",
        ) => Vec::new(),
        // Yarn, pnpm and bun accept a script or a program without `run`.
        ("yarn" | "pnpm" | "bun", name) => {
            let direct = super::of_call(&call.renamed(name, at + 1));
            if direct.is_empty() { script(&call.after(at)) } else { direct }
        }
        _ => Vec::new(),
    };
    match narrowed {
        None => found,
        Some(reason) => found
            .into_iter()
            .map(|found| Found { scope: add(&reason, found.scope), ..found })
            .collect(),
    }
}

fn add(reason: &str, scope: Scope) -> Scope {
    Scope::Subset(match scope {
        Scope::Whole => reason.to_owned(),
        Scope::Subset(other) => format!("{reason} {other}"),
    })
}

/// The scope of a test script, from the arguments passed on to the runner.
fn script_scope(rest: &Call<'_>) -> Scope {
    match rest.scope(&RUNNER) {
        Scope::Subset(reason) => Scope::Subset(reason),
        Scope::Whole => match rest.texts().find(|text| NARROW.contains(text)) {
            Some(text) => Scope::Subset(text.to_owned()),
            None => Scope::Whole,
        },
    }
}

fn script(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(NARROW);
    if at >= call.args.len() {
        return Vec::new();
    }
    let rest = call.after(at + 1);
    tasks::by_name(call.arg(at), "npm run")
        .into_iter()
        .map(|found| match (found.kind, script_scope(&rest)) {
            (Test, Scope::Subset(reason)) => Found { scope: add(&reason, found.scope), ..found },
            _ => found,
        })
        .collect()
}

fn monorepo(call: &Call<'_>) -> Vec<Found> {
    let valued = &["--filter", "-F", "--projects", "-p", "--scope", "--parallel", "--exclude"];
    let mut words = call.operands(valued);
    let narrowed = call.texts().find(|text| {
        text.starts_with("--filter")
            || text.starts_with("--scope")
            || text.starts_with("--projects")
    });
    let name: &'static str = "monorepo runner";
    if matches!(words.first(), Some(&("run" | "run-many" | "affected"))) {
        words.remove(0);
    }
    let targets = call.texts().filter_map(|text| {
        text.strip_prefix("--target=").or_else(|| text.strip_prefix("--targets="))
    });
    let mut found: Vec<Found> =
        targets.flat_map(|list| list.split(',')).flat_map(|t| tasks::by_name(t, name)).collect();
    for word in &words {
        // `nx run app:test`
        let target = word.rsplit(':').next().unwrap_or(word);
        found.extend(tasks::by_name(target, name));
        if target != *word
            && let Some(last) = found.last_mut()
        {
            last.scope = Scope::Subset((*word).to_owned());
        }
        if call.program == "nx" {
            break;
        }
    }
    if call.program == "nx"
        && let Some(project) = words.get(1)
        && let Some(first) = found.first_mut()
    {
        first.scope = Scope::Subset((*project).to_owned());
    }
    if let Some(reason) = narrowed {
        found.iter_mut().for_each(|f| f.scope = Scope::Subset(reason.to_owned()));
    }
    found
}
