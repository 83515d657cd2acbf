//! Ruby, PHP, Elixir, Dart and Perl.

use super::ActivityKind::{Build, Format, Install, Lint, Publish, Run, Test};
use super::call::{Call, Found, Options, scoped, whole};
use super::{files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "rspec" => Some(scoped(
            Test,
            "rspec",
            call.scope(&Options {
                narrowing: &["-e", "--example", "-t", "--tag", "-P", "--pattern"],
                flags: &["--only-failures", "--next-failure"],
                valued: &["-f", "--format", "-o", "--out", "-r", "--require", "--seed", "-I"],
                all: &["spec", "spec/"],
                long_dashes: false,
            }),
        )),
        "rails" => Some(match call.arg(0) {
            "test" | "spec" => scoped(Test, "rails test", call.after(1).scope(&RUBY)),
            "server" | "s" | "console" | "runner" => whole(Run, "rails"),
            _ => Vec::new(),
        }),
        "minitest" | "cucumber" | "mutant" => Some(scoped(Test, "minitest", call.scope(&RUBY))),
        "ruby" => {
            let at = call.sub(&["-I", "-r"]);
            Some(if call.has(&["-c"]) {
                whole(Lint, "ruby -c")
            } else if call.has(&["-e"]) || call.args.len() <= at {
                whole(Run, "ruby")
            } else {
                files::interpreted(call.arg(at), &call.after(at + 1), "ruby")
            })
        }
        "rubocop" | "standardrb" | "sorbet" | "srb" | "brakeman" | "reek" => {
            Some(if call.has(&["-a", "-A", "--autocorrect", "--auto-correct", "--fix"]) {
                whole(Format, "rubocop -a")
            } else {
                whole(Lint, "rubocop")
            })
        }
        "bundle" | "bundler" => Some(match call.arg(0) {
            "install" | "update" | "add" | "" => whole(Install, "bundle install"),
            _ => Vec::new(),
        }),
        "gem" => Some(match call.arg(0) {
            "install" => whole(Install, "gem install"),
            "push" => whole(Publish, "gem push"),
            "build" => whole(Build, "gem build"),
            _ => Vec::new(),
        }),
        "phpunit" | "pest" | "paratest" | "phpspec" | "behat" | "codecept" => Some(phpunit(call)),
        "phpstan" | "psalm" | "phpcs" | "phan" | "phpmd" => Some(whole(Lint, "phpstan")),
        "php-cs-fixer" | "pint" | "phpcbf" => {
            Some(if call.has(&["--dry-run", "--test"]) || call.arg(0) == "check" {
                whole(Lint, "php-cs-fixer --dry-run")
            } else {
                whole(Format, "php-cs-fixer")
            })
        }
        "composer" => Some(match call.arg(call.sub(&["-d"])) {
            "install" | "require" | "update" | "remove" => whole(Install, "composer install"),
            "run" | "run-script" => tasks::by_name(call.arg(1), "composer run"),
            "validate" | "audit" => whole(Lint, "composer validate"),
            name => tasks::by_name(name, "composer"),
        }),
        "php" => {
            let at = call.sub(&["-d", "-c"]);
            Some(if call.has(&["-l"]) {
                whole(Lint, "php -l")
            } else if call.arg(at) == "artisan" && call.arg(at + 1) == "test" {
                scoped(Test, "artisan test", call.after(at + 2).scope(&PHP))
            } else if call.has(&["-r"]) || call.args.len() <= at {
                whole(Run, "php")
            } else {
                files::interpreted(call.arg(at), &call.after(at + 1), "php")
            })
        }
        "mix" => Some(match call.arg(0) {
            "test" => scoped(
                Test,
                "mix test",
                call.after(1).scope(&Options {
                    narrowing: &["--only", "--exclude", "--include"],
                    flags: &["--failed", "--stale"],
                    valued: &["--seed", "--max-failures", "--max-cases", "--formatter"],
                    ..Options::default()
                }),
            ),
            "compile" | "release" => whole(Build, "mix compile"),
            "format" if call.has(&["--check-formatted"]) => whole(Lint, "mix format --check"),
            "format" => whole(Format, "mix format"),
            "credo" | "dialyzer" | "sobelow" => whole(Lint, "mix credo"),
            "deps.get" | "deps.update" | "setup" => whole(Install, "mix deps.get"),
            "run" | "phx.server" => whole(Run, "mix run"),
            "hex.publish" => whole(Publish, "mix hex.publish"),
            _ => Vec::new(),
        }),
        "flutter" | "dart" => Some(match (call.arg(0), call.arg(1)) {
            ("test", _) => scoped(
                Test,
                "flutter test",
                call.after(1).scope(&Options {
                    narrowing: &["--name", "-n", "--plain-name", "-N", "--tags", "-t"],
                    valued: &["-r", "--reporter", "-j", "--concurrency"],
                    ..Options::default()
                }),
            ),
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
        }),
        "prove" => Some(scoped(
            Test,
            "prove",
            call.scope(&Options {
                valued: &["-I", "-j", "--jobs"],
                all: &["t", "t/"],
                ..Options::default()
            }),
        )),
        "bats" | "busted" | "elm-test" | "shunit2" => Some(scoped(
            Test,
            "bats",
            call.scope(&Options {
                narrowing: &["-f", "--filter", "--filter-tags"],
                valued: &["-j", "--jobs", "--formatter", "-F"],
                all: &["test", "tests", "test/", "tests/"],
                ..Options::default()
            }),
        )),
        _ => None,
    }
}

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
