//! Package managers, interpreters and monorepos of JavaScript.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Build, Install, Lint, Publish, Run, Test};
use super::kind::Scope;
use super::runners::options;
use super::{files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "npm" | "pnpm" | "yarn" | "bun" | "cnpm" => Some(package_manager(call)),
        "node" | "tsx" | "ts-node" | "nodejs" => Some(node(call)),
        "deno" if call.arg(0) == "task" => Some(tasks::by_name(call.arg(1), "deno task")),
        "turbo" | "nx" | "lerna" => Some(monorepo(call)),
        _ => None,
    }
}

fn node(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--test"]) {
        return scoped(Test, "node --test", call.scope(options("node")));
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

fn package_manager(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&options("workspaces").narrowing);
    let before = Call { program: call.program, args: call.args.get(..at).unwrap_or_default() };
    let rest = call.after(at + 1);
    let narrowed = match before.scope(options("workspaces")) {
        Scope::Subset(reason) if !before.has(&["-C", "--cwd", "--prefix", "--dir"]) => Some(reason),
        _ => None,
    };
    let found = match (call.program, call.arg(at)) {
        ("bun", "test") => return scoped(Test, "bun test", rest.scope(options("javascript"))),
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
    match rest.scope(options("javascript")) {
        Scope::Subset(reason) => Scope::Subset(reason),
        Scope::Whole => {
            match rest.texts().find(|text| options("workspaces").narrowing.contains(text)) {
                Some(text) => Scope::Subset(text.to_owned()),
                None => Scope::Whole,
            }
        }
    }
}

fn script(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&options("workspaces").narrowing);
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
