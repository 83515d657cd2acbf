use counterfoil_shell::ActivityKind::{self, Build, Commit, Install, Lint, Push, Run, Test};
use counterfoil_shell::OutputVerdict::{Failed, Passed};
use counterfoil_shell::{Git, OutputVerdict, commit_of, exit_code_in_text, strip_ansi, summary};

/// Compares `numbers`: passed, failed, errors, skipped, warnings; `-` if the output does not say.
fn check(
    kind: ActivityKind,
    output: &str,
    verdict: Option<OutputVerdict>,
    numbers: &str,
    evidence: &str,
) -> Option<String> {
    let read = summary(output, kind);
    let shown: Vec<String> = [read.passed, read.failed, read.errors, read.skipped, read.warnings]
        .iter()
        .map(|n| n.map_or_else(|| "-".to_owned(), |n| n.to_string()))
        .collect();
    let found = (read.verdict, shown.join(" "), output.get(read.evidence.clone()).unwrap());
    let expected = (verdict, numbers.to_owned(), evidence);
    (found != expected).then(|| format!("{output}\n  found    {found:?}\n  expected {expected:?}"))
}

#[test]
fn test_runners() {
    let mut wrong: Vec<String> = Vec::new();
    let p = Some(Passed);
    let f = Some(Failed);
    for (output, verdict, numbers, evidence) in [
        (
            "[doctest] test cases:  7 |  7 passed | 0 failed | 11 skipped\n",
            p,
            "7 0 - 11 -",
            "[doctest] test cases:  7 |  7 passed | 0 failed | 11 skipped",
        ),
        (
            "[doctest] test cases: 3 | 2 passed | 1 failed |\n[doctest] assertions: 9 | 8 passed | 1 failed |\n",
            f,
            "2 1 - - -",
            "[doctest] test cases: 3 | 2 passed | 1 failed |",
        ),
        (
            "running 2 tests\ntest a ... ok\ntest b ... ok\n\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\n   Doc-tests x\n\nrunning 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
            p,
            "2 0 - 0 -",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
        ),
        (
            "test result: ok. 6 passed; 0 failed; 1 ignored\ntest result: FAILED. 3 passed; 2 failed; 0 ignored\nerror: test failed, to rerun pass `--lib`",
            f,
            "9 2 - 1 -",
            "error: test failed, to rerun pass `--lib`",
        ),
        (
            "     Summary [   0.531s] 42 tests run: 42 passed, 3 skipped",
            p,
            "42 - - 3 -",
            "     Summary [   0.531s] 42 tests run: 42 passed, 3 skipped",
        ),
        (
            "     Summary [   0.5s] 42 tests run: 40 passed, 2 failed, 0 skipped\nerror: test run failed",
            f,
            "40 2 - 0 -",
            "error: test run failed",
        ),
        (
            "error[E0425]: cannot find value `x` in this scope\n --> src/lib.rs:1:1\nerror: could not compile `x` (lib test) due to 1 previous error",
            f,
            "- - - - -",
            "error[E0425]: cannot find value `x` in this scope",
        ),
        (
            "============================= test session starts ==============================\ncollected 42 items\n\n=================== 3 failed, 38 passed, 1 skipped in 2.31s ====================",
            f,
            "38 3 - 1 -",
            "=================== 3 failed, 38 passed, 1 skipped in 2.31s ====================",
        ),
        ("..........\n10 passed in 0.12s", p, "10 - - - -", "10 passed in 0.12s"),
        (
            "======== 10 passed, 2 warnings in 0.12s ========",
            p,
            "10 - - - 2",
            "======== 10 passed, 2 warnings in 0.12s ========",
        ),
        (
            "  No test matches the given testcase filter `Refund` in /w/Api.Tests.dll",
            None,
            "- - - - -",
            "  No test matches the given testcase filter `Refund` in /w/Api.Tests.dll",
        ),
        (
            "nox > Running session tests\nnox > Session tests was successful.",
            p,
            "- - - - -",
            "nox > Session tests was successful.",
        ),
        (
            "nox > Command pytest failed with exit code 1\nnox > Session tests failed.",
            f,
            "- - - - -",
            "nox > Session tests failed.",
        ),
        ("Testing started\n** TEST FAILED **", f, "- - - - -", "** TEST FAILED **"),
        ("======= 1 error in 0.20s =======", f, "- - 1 - -", "======= 1 error in 0.20s ======="),
        (
            "ERROR tests/test_a.py - ImportError\n!!!!!!!! Interrupted: 1 error during collection !!!!!!!!",
            f,
            "- - - - -",
            "!!!!!!!! Interrupted: 1 error during collection !!!!!!!!",
        ),
        ("Ran 5 tests in 0.003s\n\nOK", p, "5 - - - -", "OK"),
        ("Ran 5 tests in 0.003s\n\nOK (skipped=2)", p, "3 - - 2 -", "OK (skipped=2)"),
        (
            "Ran 5 tests in 0.003s\n\nFAILED (failures=1, errors=2)",
            f,
            "2 1 2 - -",
            "FAILED (failures=1, errors=2)",
        ),
        (
            "ok  \texample.com/a\t0.012s\nok  \texample.com/b\t(cached)",
            p,
            "- - - - -",
            "ok  \texample.com/b\t(cached)",
        ),
        (
            "--- FAIL: TestA (0.00s)\n    a_test.go:9: no\nFAIL\nFAIL\texample.com/a\t0.010s\nok  \texample.com/b\t0.1s\nFAIL",
            f,
            "- 1 - - -",
            "FAIL",
        ),
        (
            "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\nPASS\nok  \texample.com/a\t0.010s",
            p,
            "1 - - 1 -",
            "ok  \texample.com/a\t0.010s",
        ),
        (
            "# example.com/a\n./a.go:3:2: undefined: x\nFAIL\texample.com/a [build failed]",
            f,
            "- - - - -",
            "FAIL\texample.com/a [build failed]",
        ),
        (
            "DONE 42 tests, 1 skipped, 2 failures in 1.2s",
            f,
            "39 2 - 1 -",
            "DONE 42 tests, 1 skipped, 2 failures in 1.2s",
        ),
        (
            "Test Suites: 1 failed, 3 passed, 4 total\nTests:       1 failed, 41 passed, 42 total\nSnapshots:   0 total",
            f,
            "41 1 - - -",
            "Tests:       1 failed, 41 passed, 42 total",
        ),
        (
            " Test Files  2 passed (2)\n      Tests  12 passed | 1 skipped (13)\n   Duration  1.2s",
            p,
            "12 - - 1 -",
            "      Tests  12 passed | 1 skipped (13)",
        ),
        (
            "\u{1b}[2m Test Files \u{1b}[22m \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m (1)\n\u{1b}[2m      Tests \u{1b}[22m 2 passed (2)",
            f,
            "2 - - - -",
            "\u{1b}[2m Test Files \u{1b}[22m \u{1b}[1m\u{1b}[31m1 failed\u{1b}[39m (1)",
        ),
        ("\n  12 passing (30ms)\n  1 pending\n", p, "12 - - 1 -", "  12 passing (30ms)"),
        ("  11 passing (30ms)\n  1 failing\n\n  1) a", f, "11 1 - - -", "  1 failing"),
        ("# tests 3\n# pass 3\n# fail 0\n# skipped 0", p, "3 0 - 0 -", "# pass 3"),
        ("ℹ tests 3\nℹ pass 2\nℹ fail 1", f, "2 1 - - -", "ℹ fail 1"),
        ("1..2\nok 1 - a\nnot ok 2 - b", f, "1 1 - - -", "not ok 2 - b"),
        ("1..2\nok 1 - a\nnot ok 2 - b # TODO later", p, "1 - - - -", "ok 1 - a"),
        ("5 examples, 1 failure, 1 pending", f, "3 1 - 1 -", "5 examples, 1 failure, 1 pending"),
        ("5 examples, 0 failures", p, "5 0 - - -", "5 examples, 0 failures"),
        (
            "8 runs, 12 assertions, 0 failures, 1 errors, 0 skips",
            f,
            "7 0 1 0 -",
            "8 runs, 12 assertions, 0 failures, 1 errors, 0 skips",
        ),
        ("OK (5 tests, 10 assertions)", p, "5 - - - -", "OK (5 tests, 10 assertions)"),
        (
            "FAILURES!\nTests: 5, Assertions: 10, Failures: 1.",
            f,
            "4 1 - - -",
            "Tests: 5, Assertions: 10, Failures: 1.",
        ),
        (
            "100% tests passed, 0 tests failed out of 12",
            p,
            "12 0 - - -",
            "100% tests passed, 0 tests failed out of 12",
        ),
        (
            "92% tests passed, 1 tests failed out of 12",
            f,
            "11 1 - - -",
            "92% tests passed, 1 tests failed out of 12",
        ),
        ("> Task :test\n\nBUILD SUCCESSFUL in 3s", p, "- - - - -", "BUILD SUCCESSFUL in 3s"),
        (
            "5 tests completed, 1 failed\n> Task :test FAILED\nBUILD FAILED in 2s",
            f,
            "4 1 - - -",
            "BUILD FAILED in 2s",
        ),
        (
            "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s - in A\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1\n[INFO] BUILD SUCCESS",
            p,
            "4 0 0 1 -",
            "[INFO] BUILD SUCCESS",
        ),
        (
            "00:02 +5: a\n00:09 +11 ~1 -2: /app/test/card_test.dart: small [E]\n  Pixel test failed\n00:09 +11 ~1 -2: Some tests failed.",
            f,
            "11 2 - 1 -",
            "00:09 +11 ~1 -2: Some tests failed.",
        ),
        (
            "[ FAIL 0 | WARN 0 | SKIP 1 | PASS 20 ]\n[ FAIL 0 | WARN 0 | SKIP 1 | PASS 42 ]",
            p,
            "42 0 - 1 -",
            "[ FAIL 0 | WARN 0 | SKIP 1 | PASS 42 ]",
        ),
        ("00:03 +6: All tests passed!", p, "6 - - - -", "00:03 +6: All tests passed!"),
        (
            "Failed!  - Failed:     1, Passed:     5, Skipped:     0, Total:     6, Duration: 9 ms",
            f,
            "5 1 - 0 -",
            "Failed!  - Failed:     1, Passed:     5, Skipped:     0, Total:     6, Duration: 9 ms",
        ),
        (
            "3 doctests, 5 tests, 0 failures, 1 skipped",
            p,
            "7 0 - 1 -",
            "3 doctests, 5 tests, 0 failures, 1 skipped",
        ),
        (
            "\t Executed 2 tests, with 0 failures (0 unexpected) in 0.1 (0.1) seconds\n\t Executed 5 tests, with 1 failure (0 unexpected) in 0.2 (0.2) seconds",
            f,
            "4 1 - - -",
            "\t Executed 5 tests, with 1 failure (0 unexpected) in 0.2 (0.2) seconds",
        ),
        ("  1 failed\n    a.spec.ts:3:1 › b\n  3 passed (2.1s)", f, "3 1 - - -", "  1 failed"),
        ("ok | 5 passed | 0 failed (10ms)", p, "5 0 - - -", "ok | 5 passed | 0 failed (10ms)"),
        (" 5 pass\n 1 fail\nRan 6 tests across 1 files. [9.00ms]", f, "5 1 - - -", " 1 fail"),
        ("All tests successful.\nFiles=1, Tests=4\nResult: PASS", p, "- - - - -", "Result: PASS"),
        (
            "make: *** [Makefile:3: test] Error 1",
            f,
            "- - - - -",
            "make: *** [Makefile:3: test] Error 1",
        ),
        (
            "npm ERR! Test failed.  See above for more details.",
            f,
            "- - - - -",
            "npm ERR! Test failed.  See above for more details.",
        ),
        ("[test] ERROR task failed", f, "- - - - -", "[test] ERROR task failed"),
        ("bash: pytest: command not found", f, "- - - - -", "bash: pytest: command not found"),
        (
            "Traceback (most recent call last):\n  File \"a.py\"",
            f,
            "- - - - -",
            "Traceback (most recent call last):",
        ),
        (
            "error: the log of a passing test\n10 passed in 0.1s",
            p,
            "10 - - - -",
            "10 passed in 0.1s",
        ),
        ("", None, "- - - - -", ""),
        ("all good\nnothing of note", None, "- - - - -", ""),
        ("Ran the command in 5s", None, "- - - - -", ""),
    ] {
        wrong.extend(check(Test, output, verdict, numbers, evidence));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_was_collected() {
    for output in [
        "no tests ran in 0.01s",
        "collected 0 items\n\n====== no tests ran in 0.01s ======",
        "====== 5 deselected in 0.01s ======",
        "Ran 0 tests in 0.000s\n\nOK",
        "Ran 0 tests in 0.000s\n\nNO TESTS RAN",
        "ok  \texample.com/a\t0.01s [no tests to run]",
        "?   \texample.com/a\t[no test files]",
        "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 3 filtered out",
        "No tests found, exiting with code 1",
        "0 examples, 0 failures",
        "No tests were found!!!",
        "1..0",
        "No tests executed!",
        "  0 passing (1ms)",
    ] {
        let read = summary(output, Test);
        assert!(read.collected_none, "{output}");
        assert_eq!(read.verdict, None, "{output}");
    }
    let read = summary("?   \ta\t[no test files]\nok  \tb\t0.1s", Test);
    assert_eq!((read.collected_none, read.verdict), (false, Some(Passed)));
}

#[test]
fn compilers_and_linters() {
    let p = Some(Passed);
    let f = Some(Failed);
    for (kind, output, verdict, numbers) in [
        (
            Build,
            "warning: `x` (lib) generated 3 warnings\n    Finished `dev` profile [unoptimized] target(s) in 0.1s",
            p,
            "- - - - 3",
        ),
        (
            Build,
            "error[E0308]: mismatched types\nerror: could not compile `x` (lib) due to 2 previous errors",
            f,
            "- - 2 - -",
        ),
        (Build, "# example.com/a\n./a.go:3:2: undefined: x", f, "- - 1 - -"),
        (Build, "src/a.ts(3,1): error TS2304: Cannot find name 'x'.", f, "- - 1 - -"),
        (Build, "a.c:3:1: error: unknown type name 'x'\n1 error generated.", f, "- - 1 - -"),
        (Build, "make: *** [Makefile:9: all] Error 2", f, "- - - - -"),
        (Build, "make: *** [Makefile:9: x] Error 1 (ignored)", None, "- - - - -"),
        (Build, "ninja: build stopped: subcommand failed.", f, "- - - - -"),
        (Build, "✓ built in 1.25s", p, "- - - - -"),
        (Build, "webpack 5.1.0 compiled with 1 error in 900 ms", f, "- - - - -"),
        (Build, "Build succeeded.\n    2 Warning(s)\n    0 Error(s)", p, "- - 0 - 2"),
        (Build, "A.java:3: error: ';' expected\n1 error", f, "- - 1 - -"),
        (Lint, "a.ts(1,1): error TS1005: ';' expected.\nFound 1 error in a.ts:1", f, "- - 1 - -"),
        (Lint, "✖ 3 problems (1 error, 2 warnings)", f, "- - 1 - 2"),
        (Lint, "✖ 2 problems (0 errors, 2 warnings)", p, "- - 0 - 2"),
        (Lint, "0 issues.", p, "- - 0 - -"),
        (Lint, "a.go:3:1: unused (unused)\n2 issues:\n* unused: 2", f, "- - 2 - -"),
        (Lint, "All checks passed!", p, "- - - - -"),
        (Lint, "Found 3 errors.", f, "- - 3 - -"),
        (Lint, "Found 3 errors (3 fixed, 0 remaining).", p, "- - 0 - -"),
        (Lint, "Success: no issues found in 3 source files", p, "- - - - -"),
        (
            Lint,
            "a.py:3: error: Name \"x\" is not defined  [name-defined]\nFound 1 error in 1 file (checked 3 source files)",
            f,
            "- - 1 - -",
        ),
        (
            Lint,
            "a.py:1:80: E501 line too long (90 > 79 characters)\na.py:2:1: F401 'os' imported but unused",
            f,
            "- - 2 - -",
        ),
        (Lint, "0 errors, 1 warning, 0 informations", p, "- - 0 - 1"),
        (
            Lint,
            "[warn] src/a.ts\n[warn] Code style issues found in the above file.",
            f,
            "- - - - -",
        ),
        (Lint, "All matched files use Prettier code style!", p, "- - - - -"),
        (Lint, "cmd/a.go\npkg/b.go", f, "- - 2 - -"),
        (
            Lint,
            "would reformat a.py\nOh no! 💥 💔 💥\n1 file would be reformatted.",
            f,
            "- - - - -",
        ),
        (Lint, "Diff in /x/src/lib.rs:3:", f, "- - - - -"),
        (
            Lint,
            "black....................................................................Failed",
            f,
            "- - - - -",
        ),
        (
            Lint,
            "black....................................................................Passed",
            p,
            "- - - - -",
        ),
        (Lint, "10 files inspected, 3 offenses detected", f, "- - 3 - -"),
        (Lint, "In x.sh line 3:\necho $x\n     ^-- SC2086", f, "- - 1 - -"),
        (Lint, "Your code has been rated at 9.50/10", f, "- - - - -"),
        (Lint, "", None, "- - - - -"),
        (Run, "thread 'main' panicked at src/main.rs:1:1:\nno", f, "- - - - -"),
        (Run, "hello", None, "- - - - -"),
        (Install, "added 12 packages in 3s", p, "- - - - -"),
        (Install, "ERROR: No matching distribution found for x", f, "- - - - -"),
        (Commit, "[main abc1234] fix: x\n 1 file changed, 2 insertions(+)", p, "- - - - -"),
        (Commit, "On branch main\nnothing to commit, working tree clean", f, "- - - - -"),
        (
            Commit,
            "fatal: not a git repository (or any of the parent directories): .git",
            f,
            "- - - - -",
        ),
        (
            Commit,
            "ruff.....................................................................Failed\n- hook id: ruff",
            f,
            "- - - - -",
        ),
        (Push, "To github.example:a/b.git\n   abc1234..def5678  main -> main", p, "- - - - -"),
        (Push, "To github.example:a/b.git\n * [new branch]      x -> x", p, "- - - - -"),
        (Push, "Everything up-to-date", p, "- - - - -"),
        (
            Push,
            "To github.example:a/b.git\n ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs to 'github.example:a/b.git'",
            f,
            "- - - - -",
        ),
        (
            ActivityKind::VersionControl(Git::Merge),
            "CONFLICT (content): Merge conflict in a",
            f,
            "- - - - -",
        ),
        (ActivityKind::VersionControl(Git::Merge), "Already up to date.", p, "- - - - -"),
        (
            ActivityKind::VersionControl(Git::PullRequest),
            "https://forge.example/a/b/pull/7",
            p,
            "- - - - -",
        ),
        (ActivityKind::Read, "FAIL\nerror: x", None, "- - - - -"),
    ] {
        let read = summary(output, kind);
        let shown: Vec<String> =
            [read.passed, read.failed, read.errors, read.skipped, read.warnings]
                .iter()
                .map(|n| n.map_or_else(|| "-".to_owned(), |n| n.to_string()))
                .collect();
        assert_eq!((read.verdict, shown.join(" ").as_str()), (verdict, numbers), "{output}");
    }
}

#[test]
fn exit_codes_in_the_text() {
    for (output, code) in [
        ("Exit code 1\nFAIL", Some(1)),
        ("<returncode>0</returncode>\n<output>", Some(0)),
        ("Chunk ID: a\nWall time: 1s\nProcess exited with code 2\nOutput:", Some(2)),
        ("x\nProcess exited with code 0", Some(0)),
        ("Output: x\nError: (none)\nExit Code: 3", Some(3)),
        ("a\n(exit status 4)", Some(4)),
        ("Exit code -1", Some(-1)),
        ("no code\nExit code 1 is what you get\nlast", None),
        ("", None),
    ] {
        assert_eq!(exit_code_in_text(output), code, "{output}");
    }
}

#[test]
fn commits() {
    for (output, hash) in [
        ("[main abc1234] fix", Some("abc1234")),
        ("[main (root-commit) 0123abc] first", Some("0123abc")),
        ("[detached HEAD deadbee] x", Some("deadbee")),
        ("[feature/x-1 abcdef0] a\n[feature/x-1 1234567] b", Some("1234567")),
        ("[INFO] x", None),
        ("[1/3] building", None),
        ("nothing", None),
    ] {
        assert_eq!(commit_of(output), hash, "{output}");
    }
}

#[test]
fn escapes_are_removed() {
    assert_eq!(strip_ansi("\u{1b}[1;31mred\u{1b}[0m"), "red");
    assert_eq!(strip_ansi("\u{1b}]0;title\u{7}x"), "x");
    assert_eq!(strip_ansi("plain"), "plain");
    assert_eq!(strip_ansi("x\u{1b}"), "x");
}
