use counterfoil_shell::{ActivityKind, Git, Scope, Script, activities};

/// Compares activities, shown as `Kind` or `Kind(scope)`; reading and inspecting are left out.
fn check(script: &str, expected: &[&str]) -> Option<String> {
    let read = match Script::parse(script) {
        Ok(read) => read,
        Err(error) => return Some(format!("`{script}`: {error}")),
    };
    let found: Vec<String> = activities(&read)
        .into_iter()
        .filter(|a| {
            !matches!(a.kind, ActivityKind::Read | ActivityKind::VersionControl(Git::Inspect))
        })
        .map(|activity| {
            let kind = match activity.kind {
                ActivityKind::VersionControl(git) => format!("{git:?}"),
                kind => format!("{kind:?}"),
            };
            match activity.scope {
                Scope::Whole => kind,
                Scope::Subset(reason) => format!("{kind}({reason})"),
            }
        })
        .collect();
    (found != expected).then(|| format!("`{script}`: {found:?}, expected {expected:?}"))
}

#[test]
fn compiled_languages() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("cargo test", &["Test"] as &[&str]),
        ("cargo +nightly test --workspace --all-features", &["Test"]),
        ("cargo test -p model", &["Test(-p model)"]),
        ("cargo test parse -- --nocapture", &["Test(parse)"]),
        ("cargo test -- --test-threads 1", &["Test"]),
        ("cargo test --lib", &["Test(--lib)"]),
        ("cargo test --no-run", &["Build"]),
        ("cargo nextest run", &["Test"]),
        ("cargo nextest run -E 'test(x)'", &["Test(-E test(x))"]),
        ("cargo build --release", &["Build"]),
        ("cargo check", &["Build", "Lint"]),
        ("cargo clippy --all-targets -- -D warnings", &["Lint"]),
        ("cargo fmt --check", &["Lint"]),
        ("cargo fmt -- --check", &["Lint"]),
        ("cargo fmt", &["Format"]),
        ("cargo run", &["Run"]),
        ("cargo publish", &["Publish"]),
        ("cargo add serde", &["Install"]),
        ("cargo test --help", &[]),
        ("go test ./...", &["Test"]),
        ("go test -race -count=1 ./...", &["Test"]),
        ("go test", &["Test(.)"]),
        ("go test -run TestX ./...", &["Test(-run TestX)"]),
        ("go test -run=TestX ./pkg", &["Test(-run=TestX ./pkg)"]),
        ("go test -timeout 30s -v ./...", &["Test"]),
        ("go test -c ./pkg", &["Build(./pkg)"]),
        ("go build ./...", &["Build"]),
        ("go vet ./...", &["Lint"]),
        ("golangci-lint run", &["Lint"]),
        ("golangci-lint run ./pkg/...", &["Lint(./pkg/...)"]),
        ("gofmt -l .", &["Lint"]),
        ("gofmt -w .", &["Format"]),
        ("gotestsum -- -run X ./...", &["Test(-run X)"]),
        ("gotestsum --format testname ./...", &["Test"]),
        ("ctest --output-on-failure", &["Test"]),
        ("ctest -R login", &["Test(-R login)"]),
        ("cmake --build build -j 4", &["Build"]),
        ("cmake -B build", &[]),
        ("ninja -C build", &["Build"]),
        ("bazel test //...", &["Test"]),
        ("bazel test //pkg:x", &["Test(//pkg:x)"]),
        ("dotnet test", &["Test"]),
        ("dotnet test --filter Name=X", &["Test(--filter Name=X)"]),
        ("swift test", &["Test"]),
        ("zig build test", &["Test"]),
        ("cabal test all", &["Test"]),
        ("./gradlew test", &["Test"]),
        ("./gradlew build -x test", &["Build"]),
        ("./gradlew :app:test", &["Test(:app:test)"]),
        ("gradle test --tests 'A.b'", &["Test(--tests A.b)"]),
        ("mvn -q test", &["Test"]),
        ("mvn package -DskipTests", &["Build"]),
        ("./mvnw verify", &["Build", "Test"]),
        ("mvn test -Dtest=A", &["Test(-Dtest=A)"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn scripting_languages() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("pytest", &["Test"] as &[&str]),
        ("pytest -q tests/", &["Test"]),
        ("pytest -k login", &["Test(-k login)"]),
        ("pytest tests/test_a.py::test_b -x", &["Test(tests/test_a.py::test_b)"]),
        ("pytest --tb short -n 4", &["Test"]),
        ("pytest --collect-only", &[]),
        ("python -m pytest", &["Test"]),
        ("python3.12 -W ignore -m pytest tests/a.py", &["Test(tests/a.py)"]),
        ("python -m unittest", &["Test"]),
        ("python -m unittest discover -s tests", &["Test"]),
        ("python manage.py test app", &["Test(app)"]),
        ("tox", &["Test"]),
        ("tox -e py311", &["Test(-e py311)"]),
        ("tox -e lint", &["Lint"]),
        ("nox -s tests", &["Test"]),
        ("uv run pytest", &["Test"]),
        ("poetry run pytest -m slow", &["Test(-m slow)"]),
        ("hatch run test", &["Test"]),
        ("coverage run -m pytest", &["Test"]),
        ("ruff check .", &["Lint"]),
        ("ruff format --check", &["Lint"]),
        ("black .", &["Format"]),
        ("black --check .", &["Lint"]),
        ("mypy src", &["Lint"]),
        ("flake8", &["Lint"]),
        ("pip install -e .", &["Install"]),
        ("python test_fix.py", &["Test(test_fix.py)"]),
        ("python reproduce.py", &["Run"]),
        ("python -c 'print(1)'", &["Run"]),
        ("npm test", &["Test"]),
        ("npm test -- login", &["Test(login)"]),
        ("npm run test:unit", &["Test(test:unit)"]),
        ("npm run build", &["Build"]),
        ("npm run lint", &["Lint"]),
        ("npm run format:check", &["Lint"]),
        ("npm run dev", &["Run"]),
        ("npm ci", &["Install"]),
        ("npm publish", &["Publish"]),
        ("pnpm --filter app test", &["Test(--filter app)"]),
        ("pnpm lint", &["Lint"]),
        ("yarn", &["Install"]),
        ("yarn test", &["Test"]),
        ("yarn tsc --noEmit", &["Lint"]),
        ("bun test", &["Test"]),
        ("npx jest", &["Test"]),
        ("npx jest -t name", &["Test(-t name)"]),
        ("npx vitest run", &["Test"]),
        ("npx tsc --noEmit", &["Lint"]),
        ("npx tsc", &["Lint", "Build"]),
        ("npx eslint src", &["Lint"]),
        ("npx prettier --check .", &["Lint"]),
        ("npx prettier --write .", &["Format"]),
        ("npx playwright test", &["Test"]),
        ("node --test", &["Test"]),
        ("node server.js", &["Run"]),
        ("node node_modules/.bin/jest", &["Test"]),
        ("deno test", &["Test"]),
        ("bundle exec rspec spec/a_spec.rb", &["Test(spec/a_spec.rb)"]),
        ("rake test", &["Test"]),
        ("vendor/bin/phpunit", &["Test"]),
        ("composer test", &["Test"]),
        ("mix test", &["Test"]),
        ("mix format --check-formatted", &["Lint"]),
        ("flutter test", &["Test"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tasks_and_the_rest() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("make", &["Build"] as &[&str]),
        ("make test", &["Test"]),
        ("make -j4 check", &["Test"]),
        ("make lint test", &["Lint", "Test"]),
        ("make clean", &[]),
        ("make -n test", &[]),
        ("make test-unit", &["Test(test-unit)"]),
        ("just test", &["Test"]),
        ("just test login", &["Test(login)"]),
        ("task lint", &["Lint"]),
        ("mise run test", &["Test"]),
        ("mise run test:ci", &["Test"]),
        ("mise run fmt && mise run lint", &["Format", "Lint"]),
        ("pre-commit run --all-files", &["Lint"]),
        ("shellcheck x.sh", &["Lint"]),
        ("./run_tests.sh", &["Test"]),
        ("./test", &["Run"]),
        ("bash scripts/test.sh", &["Test"]),
        ("docker build -t x .", &["Build"]),
        ("docker compose up -d", &["Run"]),
        ("docker compose exec app pytest", &["Test"]),
        ("terraform apply", &["Deploy"]),
        ("kubectl apply -f x.yml", &["Deploy"]),
        ("vercel --prod", &["Deploy"]),
        ("fly deploy", &["Deploy"]),
        ("curl https://example.com", &["Fetch"]),
        ("git add -A && git commit -m 'run tests'", &["Add", "Commit"]),
        ("git -C x commit --amend --no-edit", &["Commit"]),
        ("git push origin main", &["Push"]),
        ("git push --dry-run", &[]),
        ("git merge main", &["Merge"]),
        ("git checkout -b x", &["BranchCreate"]),
        ("git switch -c x", &["BranchCreate"]),
        ("git branch -D x", &["BranchChange"]),
        ("git branch", &[]),
        ("git tag v1", &["Tag"]),
        ("git tag -l", &[]),
        ("git stash", &["Stash"]),
        ("gh pr create --fill", &["PullRequest", "Push"]),
        ("gh pr merge 1", &["Merge"]),
        ("gh release create v1", &["Publish"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_name_is_not_a_run() {
    let mut wrong: Vec<String> = Vec::new();
    for script in [
        "echo pytest",
        "echo 'cargo test'",
        "grep 'cargo test' README.md",
        "grep -rn \"go test\" .",
        "cat pytest.ini",
        "which pytest",
        "command -v cargo",
        "cat > run.sh <<'EOF'\ncargo test\nEOF",
        "sed -n '/npm test/p' package.json",
        "rg 'make test'",
        "find . -name 'test_*.py'",
        "ls tests",
        "rm -rf test",
        "man pytest",
        "test -f x",
        "[ -d tests ]",
        "f() { cargo test; }",
        "printf 'npm test\\n'",
        "git log --grep='cargo test'",
        "cargo --version",
        "go version",
        "npm --version",
    ] {
        wrong.extend(check(script, &[]));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
