//! What filters remove from the output of commands, and what they never remove.
#![expect(clippy::disallowed_methods, reason = "the files are the test's own")]

use std::collections::BTreeSet;
use std::sync::Arc;

use counterfoil_guard::{
    Draft, Filter, FilterOptions, FilterSettings, Guard, GuardSettings, SessionStart,
    ShellExecutor, TrustLevel,
};
use counterfoil_model::Digest;
use counterfoil_tools::{
    CommandMatcher, FilterCall, FilterConfidence, FilterDeclaration, FilterId, FilterPipeline,
    Filtered, is_preserved,
};
use proptest::prelude::*;
use serde_json::json;

use crate::desk::{run, wait};

/// One page per filter. Each has cases from commands that were run, and some written by hand.
const PAGES: [(&str, &str); 15] = [
    ("cargo", include_str!("../../../../spec/filters/cargo.md")),
    ("pytest", include_str!("../../../../spec/filters/pytest.md")),
    ("unittest", include_str!("../../../../spec/filters/unittest.md")),
    ("packages-js", include_str!("../../../../spec/filters/packages-js.md")),
    ("tests-js", include_str!("../../../../spec/filters/tests-js.md")),
    ("go", include_str!("../../../../spec/filters/go.md")),
    ("logs", include_str!("../../../../spec/filters/logs.md")),
    ("git", include_str!("../../../../spec/filters/git.md")),
    ("list", include_str!("../../../../spec/filters/list.md")),
    ("docker", include_str!("../../../../spec/filters/docker.md")),
    ("kubectl", include_str!("../../../../spec/filters/kubectl.md")),
    ("make", include_str!("../../../../spec/filters/make.md")),
    ("pip", include_str!("../../../../spec/filters/pip.md")),
    ("apt", include_str!("../../../../spec/filters/apt.md")),
    ("jvm", include_str!("../../../../spec/filters/jvm.md")),
];

/// A case of a page: `` `command` failed; full, 12 lines less: ``, then the printed output and what
/// is shown of it.
struct Case {
    command: String,
    failed: bool,
    confidence: FilterConfidence,
    left_out: usize,
    input: String,
    shown: String,
}

fn cases(page: &str) -> Vec<Case> {
    let blocks: Vec<&str> = page.split("\n````").collect();
    // The text before the first block, between blocks, and after the last one; blocks come in
    // pairs.
    let mut cases = Vec::new();
    for group in blocks.chunks(4) {
        let [before, input, _, shown] = group else { break };
        let line = before.lines().rev().find(|line| line.starts_with('`')).unwrap();
        let (command, rest) = line.strip_prefix('`').unwrap().split_once("` ").unwrap();
        let (how, rest) = rest.split_once("; ").unwrap();
        let (confidence, rest) = rest.split_once(", ").unwrap();
        let text = |block: &str, kind: &str| {
            let text = block.strip_prefix(kind).unwrap();
            let text = text.strip_prefix('\n').unwrap_or(text);
            // Characters that a page cannot contain are written as symbols.
            format!("{}\n", text.replace('␛', "\u{1b}").replace('␍', "\r"))
        };
        cases.push(Case {
            command: command.to_owned(),
            failed: how == "failed",
            confidence: serde_json::from_value(json!(confidence)).unwrap(),
            left_out: rest.split_once(' ').unwrap().0.parse().unwrap(),
            input: text(input, "input"),
            shown: text(shown, "shown"),
        });
    }
    cases
}

fn pipeline() -> FilterPipeline {
    FilterPipeline::new(&FilterSettings::default())
}

#[test]
fn every_filter_has_a_page_whose_cases_hold() {
    let pipeline = pipeline();
    let (mut tests, mut less) = (0, 0);
    for (id, page) in PAGES {
        assert!(page.starts_with(&format!("# Filter: {id}\n")), "{id}");
        let cases = cases(page);
        assert!(!cases.is_empty(), "{id}");
        for case in cases {
            let commands = [case.command.clone()];
            let call = FilterCall { commands: &commands, failed: case.failed };
            let made = pipeline.apply(&case.input, &call);
            assert_eq!(made.text, case.shown, "{id}: {}", case.command);
            assert_eq!(made.filters, [FilterId(id.to_owned())], "{}", case.command);
            assert_eq!((made.confidence, made.left_out), (case.confidence, case.left_out), "{id}");
            // Every line that reports a problem is still there.
            let shown: BTreeSet<&str> = made.text.lines().collect();
            let input = case.input.replace('\r', "\n");
            for line in input.lines().filter(|line| is_preserved(line)) {
                assert!(line.contains('\u{1b}') || shown.contains(line), "{id}: {line}");
            }
            if !case.failed && case.command.contains("test") {
                tests += case.input.len();
                less += case.input.len() - made.text.len();
            }
        }
    }
    // The goal for test runs that pass.
    assert!(less * 100 >= tests * 70, "{less} of {tests} bytes saved");
}

/// Lines that filters handle, and others, in any order.
fn line() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "   Compiling serde v1.0.200",
        "    Finished `test` profile",
        "running 3 tests",
        "test a::b ... ok",
        "test a::b ... FAILED",
        "test result: ok. 3 passed; 0 failed",
        "error: nothing works",
        "[12 lines left out]",
        "[the line above once more]",
        "remote: Counting objects: 100% (3/3), done.",
        "Counting objects: 1%\rCounting objects: 100%\r\n",
        "\u{1b}[32mok\u{1b}[0m",
        "\u{1b}\u{1b}[[1mm",
        "",
        "  ",
        "ünï — 🙂",
        "plain",
    ]);
    prop_oneof![4 => known.prop_map(str::to_owned), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// INVARIANT: filtering is idempotent, no line that must stay is lost, and nothing is made up:
    /// every shown line was printed, or is a note.
    #[test]
    fn filters_are_idempotent_and_keep_what_must_stay(
        lines in prop::collection::vec(line(), 0..60),
        times in 1usize..12,
        commands in prop::sample::subsequence(
            vec!["cargo test", "git push", "ls -l", "kubectl logs x", "make", "npm test", "pytest"], 1..4),
        failed: bool,
    ) {
        let pipeline = pipeline();
        let text = lines.iter().flat_map(|l| std::iter::repeat_n(l.as_str(), times)).collect::<Vec<_>>().join("\n");
        let commands: Vec<String> = commands.into_iter().map(str::to_owned).collect();
        let call = FilterCall { commands: &commands, failed };
        let once = pipeline.apply(&text, &call);
        let twice = pipeline.apply(&once.text, &call);
        prop_assert_eq!(&once.text, &twice.text);
        prop_assert!(once.text.len() <= text.len() + 40 * lines.len().max(1));
        if !text.contains(['\r', '\u{1b}']) {
            let printed: BTreeSet<&str> = text.lines().collect();
            let shown: BTreeSet<&str> = once.text.lines().collect();
            for line in text.lines().filter(|line| is_preserved(line)) {
                prop_assert!(shown.contains(line), "{:?} is lost", line);
            }
            for line in shown {
                let note = line.starts_with('[') && line.ends_with(']');
                prop_assert!(note || printed.contains(line), "{:?} is invented", line);
            }
        }
    }
}

/// A custom filter that fails in a given way.
#[derive(Debug)]
struct Wrong {
    matchers: Vec<CommandMatcher>,
    how: &'static str,
}

impl Filter for Wrong {
    fn id(&self) -> FilterId {
        FilterId("wrong".to_owned())
    }

    fn matchers(&self) -> &[CommandMatcher] {
        &self.matchers
    }

    fn apply(&self, text: &str, _: &FilterCall<'_>) -> Filtered {
        let text = match self.how {
            "breaks off" => panic!("oh no"),
            "never settles" => format!("{text}x"),
            "loses a failure" => "all is well\n".to_owned(),
            _ => text.lines().filter(|line| line.starts_with("error")).collect(),
        };
        Filtered { text, confidence: FilterConfidence::Partial, left_out: 1 }
    }
}

/// INVARIANT: a filter that fails leaves the text unchanged.
#[test]
fn a_filter_that_fails_passes_the_text_on() {
    let text = "a\nerror: it is broken\nb\n";
    for (how, expected, failed) in [
        ("breaks off", text, 1),
        ("never settles", text, 1),
        ("loses a failure", text, 1),
        ("works", "error: it is broken", 0),
    ] {
        let custom = CommandMatcher::Custom(Arc::new(|command| command.starts_with("mine")));
        let settings = FilterSettings::default().with(Wrong { matchers: vec![custom], how });
        let pipeline = FilterPipeline::new(&settings);
        let commands = ["mine --now".to_owned()];
        let made = pipeline.apply(text, &FilterCall { commands: &commands, failed: false });
        assert_eq!(made.text, expected, "{how}");
        assert_eq!(pipeline.metrics().counts()[&FilterId("wrong".to_owned())].failed, failed);
        let confidence =
            if failed == 1 { FilterConfidence::Fallback } else { FilterConfidence::Partial };
        assert_eq!(made.confidence, confidence, "{how}");
    }
}

#[test]
fn the_worst_confidence_wins_and_an_unknown_command_spoils_all() {
    let pipeline = pipeline();
    let text = "   Compiling a v0.1.0\n    Finished `dev` profile\nadded\n";
    for (commands, confidence, filters) in [
        (vec!["cargo build"], FilterConfidence::Full, 1),
        (vec!["cargo build", "npm test"], FilterConfidence::Partial, 2),
        (vec!["cargo build", "cat notes"], FilterConfidence::Fallback, 0),
        (vec!["grep Compiling log"], FilterConfidence::Fallback, 0),
    ] {
        let commands: Vec<String> = commands.into_iter().map(str::to_owned).collect();
        let made = pipeline.apply(text, &FilterCall { commands: &commands, failed: false });
        assert_eq!((made.confidence, made.filters.len()), (confidence, filters), "{commands:?}");
        assert_eq!(made.text == text, filters == 0, "{commands:?}");
    }
}

#[test]
fn a_configuration_may_add_filters_and_leave_some_out() {
    let options: FilterOptions = toml::from_str(
        "without = [\"cargo\"]\n[[own]]\nid = \"deploy\"\ncommands = [\"deploy\", \"make\"]\n\
         progress = [\"^step \", \"^error\"]\n",
    )
    .unwrap();
    let pipeline = FilterPipeline::new(&options.resolve().unwrap());
    for (command, text, expected) in [
        ("make", "step 1\nstep 2\nerror: no\ndone\n", "error: no\ndone\n"),
        ("deploy", "step 1\nstep 2: disk full\ndone\n", "step 2: disk full\ndone\n"),
        (
            "deploy",
            "step 1: java.lang.IllegalStateException\n",
            "step 1: java.lang.IllegalStateException\n",
        ),
        ("cargo build", "   Compiling a v0.1.0\n", "   Compiling a v0.1.0\n"),
    ] {
        let commands = [command.to_owned()];
        let made = pipeline.apply(text, &FilterCall { commands: &commands, failed: false });
        assert_eq!(made.text, expected, "{command}");
        // Without `recognise`, no line shows what the output is.
        assert_ne!(made.confidence, FilterConfidence::Full, "{command}");
    }
    for (options, error) in [
        ("without = [\"carg\"]", "`without`: there is no filter `carg`; available: cargo, "),
        ("[[own]]\nid = \"git\"\ncommands = [\"x\"]", "`own`: there are two filters named `git`"),
        ("[[own]]\nid = \"x y\"\ncommands = [\"x\"]", "`own`: `x y` is not a valid filter name; "),
        ("[[own]]\nid = \"x\"", "`own`: the filter `x` lists no commands"),
        (
            "[[own]]\nid = \"x\"\ncommands = [\"x\"]\nprogress = [\"a\", \"(\"]",
            "`own`: the filter `x`: `(` is not a valid regular expression: ",
        ),
        (
            "[[own]]\nid = \"x\"\ncommands = [\"x\"]\ncut = { above = 5, head = 3, tail = 2 }",
            "`own`: the filter `x`: `head` plus `tail` must be less than `above`",
        ),
    ] {
        let options: FilterOptions = toml::from_str(options).unwrap();
        let found = options.resolve().unwrap_err().to_string();
        assert!(found.starts_with(error), "{found}");
    }
    let off = FilterPipeline::new(&FilterSettings::off());
    let commands = ["cargo build".to_owned()];
    let made =
        off.apply("   Compiling a v0.1.0\n", &FilterCall { commands: &commands, failed: false });
    assert_eq!(made.text, "   Compiling a v0.1.0\n");
    let empty = FilterDeclaration::default().resolve().unwrap_err().to_string();
    assert_eq!(empty, "`` is not a valid filter name; use only letters, digits and `-`");
}

/// End to end: the record has every line, the agent sees fewer, and the receipt has the digest of
/// what it saw. The output is filtered once, after the receipt is closed.
#[test]
#[cfg(target_os = "linux")]
fn the_record_is_whole_and_what_was_shown_has_its_digest() {
    let folder = tempfile::tempdir().unwrap();
    let settings = GuardSettings::default();
    let shell = ShellExecutor::new(settings.shell.clone());
    let guard = Guard::builder()
        .settings(settings)
        .executor(shell)
        .workspace(folder.path())
        .build()
        .unwrap();
    let start = SessionStart { trust: TrustLevel::Trusted, ..SessionStart::default() };
    let session = guard.session(start).unwrap();
    // A program with a name that a filter knows.
    let script = "#!/bin/sh\nfor n in 1 2 3 4 5 6 7 8 9; do echo \"   Compiling crate$n v1.0.$n (x)\"; \
                  done\necho 'error: it is broken'\necho password=hunter2hunter2\nexit 101\n";
    let path = folder.path().join("cargo");
    std::fs::write(&path, script).unwrap();
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let arguments = json!({ "command": "./cargo build" }).to_string();
    let answer = wait(run(&session, "shell", &arguments));
    assert_eq!(answer.filtered, Some(FilterConfidence::Partial));
    assert!(answer.text.starts_with("error: it is broken\npassword=[REDACTED:"), "{}", answer.text);
    assert!(answer.text.contains("[9 of 12 lines left out: "), "{}", answer.text);
    assert!(answer.text.contains("[tool_error]"), "{}", answer.text);
    let receipt = guard.ledger().receipt(&answer.execution_id).unwrap().unwrap();
    assert_eq!(receipt.shown_digest, Some(Digest::of_bytes(answer.text.as_bytes())));
    assert_eq!(receipt.filters, ["cargo", "feedback"]);
    let recorded = guard.ledger().result(&receipt.recorded_digest.unwrap()).unwrap().unwrap();
    let recorded = String::from_utf8(recorded).unwrap();
    assert_eq!(recorded.matches("Compiling").count(), 9);
    assert!(!recorded.contains("hunter2"));
    let kinds: Vec<&str> = guard
        .ledger()
        .events(session.id())
        .unwrap()
        .iter()
        .map(|event| event.draft.name())
        .collect();
    assert_eq!(kinds, ["began", "opened", "closed", "shown"]);
    let events = guard.ledger().events(session.id()).unwrap();
    assert!(matches!(&events[3].draft, Draft::Shown { filters, .. } if filters.len() == 2));
    assert_eq!(guard.filter_metrics().counts()[&FilterId("cargo".to_owned())].partial, 1);
}
