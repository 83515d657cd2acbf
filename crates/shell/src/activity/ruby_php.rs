//! Interpreters of Ruby and PHP, and `composer`.

use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Install, Lint, Run, Test};
use super::runners::options;
use super::{files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    Some(match call.program {
        "ruby" => ruby(call),
        "composer" => composer(call),
        "php" => php(call),
        _ => return None,
    })
}

fn ruby(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-I", "-r"]);
    if call.has(&["-c"]) {
        whole(Lint, "ruby -c")
    } else if call.has(&["-e"]) || call.args.len() <= at {
        whole(Run, "ruby")
    } else {
        files::interpreted(call.arg(at), &call.after(at + 1), "ruby")
    }
}

fn composer(call: &Call<'_>) -> Vec<Found> {
    match call.arg(call.sub(&["-d"])) {
        "install" | "require" | "update" | "remove" => whole(Install, "composer install"),
        "run" | "run-script" => tasks::by_name(call.arg(1), "composer run"),
        "validate" | "audit" => whole(Lint, "composer validate"),
        name => tasks::by_name(name, "composer"),
    }
}

fn php(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["-d", "-c"]);
    if call.has(&["-l"]) {
        whole(Lint, "php -l")
    } else if call.arg(at) == "artisan" && call.arg(at + 1) == "test" {
        scoped(Test, "artisan test", call.after(at + 2).scope(options("php")))
    } else if call.has(&["-r"]) || call.args.len() <= at {
        whole(Run, "php")
    } else {
        files::interpreted(call.arg(at), &call.after(at + 1), "php")
    }
}
