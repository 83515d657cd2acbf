use super::ActivityKind::{Build, Format, Install, Lint, Publish, Read, Run, Test};
use super::call::{Call, Found, Options, scoped, whole};
use super::{Scope, files, tasks};

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        name if is_python(name) => Some(python(call)),
        "pytest" | "py.test" => Some(pytest(call)),
        "unittest" => Some(unittest(call)),
        "nosetests" | "nose2" | "trial" | "ward" | "stestr" | "behave" | "robot" => {
            Some(scoped(Test, "python tests", call.scope(&PYTEST)))
        }
        "coverage" => Some(coverage(call)),
        "tox" => Some(tox(call)),
        "nox" => Some(nox(call)),
        "ruff" => Some(ruff(call)),
        "black" => Some(style(call, &["--check", "--diff"], "black")),
        "isort" => Some(style(call, &["--check", "--check-only", "-c", "--diff"], "isort")),
        "autopep8" | "yapf" => Some(style(call, &["--diff", "-d", "--exit-code"], "yapf")),
        "flake8" | "pylint" | "pycodestyle" | "pydocstyle" | "pyflakes" | "bandit" | "vulture" => {
            Some(scoped(Lint, "flake8", lint_scope(call)))
        }
        "mypy" | "pyright" | "basedpyright" | "pytype" | "pyre" => {
            Some(scoped(Lint, "mypy", lint_scope(call)))
        }
        "dmypy" | "ty" if matches!(call.arg(0), "run" | "check") => Some(whole(Lint, "mypy")),
        "py_compile" | "compileall" => Some(whole(Build, "py_compile")),
        "pip" | "pip3" | "pipx" => Some(match call.arg(call.sub(&[])) {
            "install" | "uninstall" | "sync" => whole(Install, "pip install"),
            "download" => whole(super::ActivityKind::Fetch, "pip download"),
            "list" | "show" | "freeze" | "check" => whole(Read, "pip list"),
            "wheel" => whole(Build, "pip wheel"),
            _ => Vec::new(),
        }),
        "uv" | "poetry" | "pdm" | "pipenv" | "hatch" | "rye" => Some(project(call)),
        "conda" | "mamba" | "micromamba" => Some(match call.arg(0) {
            "install" | "create" | "update" => whole(Install, "conda install"),
            _ => Vec::new(),
        }),
        "twine" if call.arg(0) == "upload" => Some(whole(Publish, "twine upload")),
        "twine" => Some(Vec::new()),
        "maturin" => Some(match call.arg(0) {
            "develop" | "build" => whole(Build, "maturin build"),
            "publish" => whole(Publish, "maturin publish"),
            _ => Vec::new(),
        }),
        "manage.py" | "django-admin" => Some(django(call)),
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
                    "doctest" => scoped(Test, "doctest", module.scope(&Options::default())),
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

const PYTEST: Options = Options {
    narrowing: &["-k", "-m", "--deselect", "--ignore", "--ignore-glob", "--lfnf"],
    flags: &["--lf", "--last-failed", "--sw", "--stepwise", "--nf"],
    valued: &[
        "-n",
        "--numprocesses",
        "-c",
        "--tb",
        "--rootdir",
        "-p",
        "-o",
        "--override-ini",
        "-W",
        "--cov",
        "--cov-report",
        "--cov-config",
        "--timeout",
        "--junitxml",
        "--junit-xml",
        "--durations",
        "--confcutdir",
        "--basetemp",
        "--color",
        "--log-level",
        "--log-cli-level",
        "--maxfail",
        "--import-mode",
        "--dist",
        "--html",
        "-r",
        "--verbosity",
        "--capture",
    ],
    all: &[".", "./", "tests", "tests/", "./tests", "./tests/", "test", "test/", "./test"],
    long_dashes: false,
};

fn pytest(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--collect-only", "--co", "--fixtures", "--markers", "--setup-plan"]) {
        return whole(Read, "pytest --collect-only");
    }
    scoped(Test, "pytest", call.scope(&PYTEST))
}

fn unittest(call: &Call<'_>) -> Vec<Found> {
    let rest = if call.arg(0) == "discover" { call.after(1) } else { call.after(0) };
    scoped(
        Test,
        "unittest",
        rest.scope(&Options {
            narrowing: &["-k", "-p", "--pattern"],
            valued: &["-s", "--start-directory", "-t", "--top-level-directory"],
            all: PYTEST.all,
            ..Options::default()
        }),
    )
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
    match dashes.map(|at| call.after(at + 1).scope(&PYTEST)) {
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

fn ruff(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "format" if call.has(&["--check", "--diff"]) => whole(Lint, "ruff format --check"),
        "format" => whole(Format, "ruff format"),
        "check" => scoped(Lint, "ruff check", lint_scope(&call.after(1))),
        _ => Vec::new(),
    }
}

fn style(call: &Call<'_>, checks: &[&str], name: &'static str) -> Vec<Found> {
    let kind = if call.has(checks) { Lint } else { Format };
    whole(kind, name)
}

fn lint_scope(call: &Call<'_>) -> Scope {
    call.scope(&Options {
        narrowing: &["--select", "-p", "--package", "-m", "--module", "--disable", "--ignore"],
        valued: &[
            "--config",
            "--config-file",
            "-c",
            "--rcfile",
            "--output-format",
            "--format",
            "--max-line-length",
            "-j",
            "--jobs",
            "--python-version",
            "--project",
        ],
        all: &[".", "./", "src", "src/", "tests", "tests/"],
        ..Options::default()
    })
}

fn project(call: &Call<'_>) -> Vec<Found> {
    let at = call.sub(&["--directory", "--project", "-C"]);
    let rest = call.after(at + 1);
    match call.arg(at) {
        "sync" | "add" | "remove" | "install" | "lock" | "update" | "venv" => {
            whole(Install, "python dependencies")
        }
        "pip" if rest.arg(0) == "install" => whole(Install, "uv pip install"),
        "tool" if rest.arg(0) == "install" => whole(Install, "uv tool install"),
        "build" => whole(Build, "python build"),
        "publish" => whole(Publish, "python publish"),
        "test" if matches!(call.program, "hatch" | "rye") => {
            scoped(Test, "hatch test", rest.scope(&PYTEST))
        }
        "fmt" if rest.has(&["--check"]) => whole(Lint, "hatch fmt --check"),
        "fmt" => whole(Format, "hatch fmt"),
        "lint" if call.program == "rye" => whole(Lint, "rye lint"),
        _ => Vec::new(),
    }
}

fn django(call: &Call<'_>) -> Vec<Found> {
    match call.arg(0) {
        "test" => scoped(
            Test,
            "manage.py test",
            call.after(1).scope(&Options {
                narrowing: &["-k", "--tag", "--exclude-tag", "-p", "--pattern"],
                valued: &["--settings", "-v", "--verbosity", "--parallel", "--pythonpath"],
                ..Options::default()
            }),
        ),
        "check" => whole(Lint, "manage.py check"),
        "runserver" | "migrate" | "shell" => whole(Run, "manage.py"),
        _ => Vec::new(),
    }
}

/// `manage.py` run by an interpreter.
pub(super) fn django_script(call: &Call<'_>) -> Vec<Found> {
    django(call)
}
