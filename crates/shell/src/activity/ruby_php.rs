//! Ruby, PHP, Elixir, Dart and Perl.

use super::ActivityKind::{Build, Format, Install, Lint, Publish, Run, Test};
use super::call::{Call, Found, Options, scoped, whole};
use super::{files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    Some(match call.program {
        "rspec" => scoped(Test, "rspec", call.scope(&RSPEC)),
        "rails" => rails(call),
        "minitest" | "cucumber" | "mutant" => scoped(Test, "minitest", call.scope(&RUBY)),
        "ruby" => ruby(call),
        "rubocop" | "standardrb" | "sorbet" | "srb" | "brakeman" | "reek" => {
            if call.has(&["-a", "-A", "--autocorrect", "--auto-correct", "--fix"]) {
                whole(Format, "rubocop -a")
            } else {
                whole(Lint, "rubocop")
            }
        }
        "bundle" | "bundler" => match call.arg(0) {
            "install" | "update" | "add" | "" => whole(Install, "bundle install"),
            _ => Vec::new(),
        },
        "gem" => gem(call),
        "phpunit" | "pest" | "paratest" | "phpspec" | "behat" | "codecept" => phpunit(call),
        "phpstan" | "psalm" | "phpcs" | "phan" | "phpmd" => whole(Lint, "phpstan"),
        "php-cs-fixer" | "pint" | "phpcbf" => {
            if call.has(&["--dry-run", "--test"]) || call.arg(0) == "check" {
                whole(Lint, "php-cs-fixer --dry-run")
            } else {
                whole(Format, "php-cs-fixer")
            }
        }
        "composer" => composer(call),
        "php" => php(call),
        "mix" => mix(call),
        "flutter" | "dart" => dart(call),
        "prove" => scoped(Test, "prove", call.scope(&PROVE)),
        "bats" | "busted" | "elm-test" | "shunit2" => scoped(Test, "bats", call.scope(&BATS)),
        _ => return None,
    })
}

const RSPEC: Options = Options {
    narrowing: &["-e", "--example", "-t", "--tag", "-P", "--pattern"],
    flags: &["--only-failures", "--next-failure"],
    valued: &["-f", "--format", "-o", "--out", "-r", "--require", "--seed", "-I"],
    all: &["spec", "spec/"],
    long_dashes: false,
};

const RUBY: Options = Options {
    narrowing: &["-n", "--name", "-t", "--tags"],
    flags: &[],
    valued: &["-e", "--environment", "--seed", "-s"],
    all: &["test", "test/", "all"],
    long_dashes: false,
};

const PHP: Options = Options {
    narrowing: &["--filter", "--group", "--testsuite", "--exclude-group", "--exclude-filter"],
    flags: &[],
    valued: &["-c", "--configuration", "--bootstrap", "--log-junit", "--coverage-html"],
    all: &["tests", "tests/", "run"],
    long_dashes: false,
};

fn phpunit(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--list-tests", "--list-groups"]) {
        return Vec::new();
    }
    scoped(Test, "phpunit", call.scope(&PHP))
}

const MIX: Options = Options {
    narrowing: &["--only", "--exclude", "--include"],
    flags: &["--failed", "--stale"],
    valued: &["--seed", "--max-failures", "--max-cases", "--formatter"],
    all: &[],
    long_dashes: false,
};

const DART: Options = Options {
    narrowing: &["--name", "-n", "--plain-name", "-N", "--tags", "-t"],
    flags: &[],
    valued: &["-r", "--reporter", "-j", "--concurrency"],
    all: &[],
    long_dashes: false,
};

const PROVE: Options = Options {
    narrowing: &[],
    flags: &[],
    valued: &["-I", "-j", "--jobs"],
    all: &["t", "t/"],
    long_dashes: false,
};

const BATS: Options = Options {
    narrowing: &["-f", "--filter", "--filter-tags"],
    flags: &[],
    valued: &["-j", "--jobs", "--formatter", "-F"],
    all: &["test", "tests", "test/", "tests/"],
    long_dashes: false,
};

fn rails(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" | "spec" => scoped(Test, "rails test", call.after(1).scope(&RUBY)),
        "server" | "s" | "console" | "runner" => whole(Run, "rails"),
        _ => Vec::new(),
    }
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

fn gem(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "install" => whole(Install, "gem install"),
        "push" => whole(Publish, "gem push"),
        "build" => whole(Build, "gem build"),
        _ => Vec::new(),
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
        scoped(Test, "artisan test", call.after(at + 2).scope(&PHP))
    } else if call.has(&["-r"]) || call.args.len() <= at {
        whole(Run, "php")
    } else {
        files::interpreted(call.arg(at), &call.after(at + 1), "php")
    }
}

fn mix(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" => scoped(Test, "mix test", call.after(1).scope(&MIX)),
        "compile" | "release" => whole(Build, "mix compile"),
        "format" if call.has(&["--check-formatted"]) => whole(Lint, "mix format --check"),
        "format" => whole(Format, "mix format"),
        "credo" | "dialyzer" | "sobelow" => whole(Lint, "mix credo"),
        "deps.get" | "deps.update" | "setup" => whole(Install, "mix deps.get"),
        "run" | "phx.server" => whole(Run, "mix run"),
        "hex.publish" => whole(Publish, "mix hex.publish"),
        _ => Vec::new(),
    }
}

fn dart(call: &Call<'_>) -> Vec<Found> {
    match (call.arg(0), call.arg(1)) {
        ("test", _) => scoped(Test, "flutter test", call.after(1).scope(&DART)),
        ("analyze", _) => whole(Lint, "dart analyze"),
        ("format", _) if call.has(&["--set-exit-if-changed", "-o", "--output"]) => {
            whole(Lint, "dart format")
        }
        ("format", _) => whole(Format, "dart format"),
        ("build" | "compile", _) => whole(Build, "flutter build"),
        ("pub", "get" | "add" | "upgrade") => whole(Install, "dart pub get"),
        ("pub", "publish") => whole(Publish, "dart pub publish"),
        ("run", _) => whole(Run, "dart run"),
        _ => Vec::new(),
    }
}
