use std::time::{Duration, Instant};

use counterfoil_shell::{
    ActivityKind, NotAnalysable, Script, activities, commit_of, exit_code_in_text, summary,
};

/// Half the usual stack of a worker thread.
const STACK: usize = 1024 * 1024;

/// Parses on a small stack, within a time limit.
fn read(script: String) -> Result<Script, NotAnalysable> {
    let start = Instant::now();
    let result = std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(move || Script::parse(&script))
        .unwrap()
        .join()
        .unwrap();
    assert!(start.elapsed() < Duration::from_secs(20));
    result
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [
        ("$(", ")"),
        ("$((", "))"),
        ("${a:-", "}"),
        ("\"$(", ")\""),
        ("(", ")"),
        ("( ", ")"),
        ("{ ", ";}"),
        ("if a; then ", "; fi"),
        ("while a; do ", "; done"),
        ("case a in b) ", ";; esac"),
        ("f() { ", "; }"),
        ("coproc ", ""),
        ("coproc X { ", "; }"),
        ("((a+$((", ") ) ) )"),
        ("\"${a:-'", "'}\""),
        ("x=(", ")"),
        ("a[", "]=1"),
        ("echo `", "`"),
        ("[[ ( ", " ) ]]"),
        ("a[${b:-", "}]=1"),
        ("a[$((", "))]=1"),
        ("eval ", ""),
        ("sudo ", ""),
        ("<(", ")"),
        ("@(", ")"),
    ] {
        for depth in [24, 40, 48, 200, 20_000] {
            let _ = read(open.repeat(depth) + "x" + &close.repeat(depth));
            let _ = read(open.repeat(depth));
        }
        let deep = read(open.repeat(20_000) + "x" + &close.repeat(20_000));
        // Brackets in arithmetic and patterns are counted, and backquotes close one another.
        if !matches!(open, "(" | "@(" | "a[" | "echo `") {
            assert!(deep.is_err(), "{open}");
        }
    }
}

#[test]
fn odd_numbers_are_refused() {
    for script in
        ["a 99999999999999999999>b", "99999999999999999999<b a", "echo ~+99999999999999999999 x"]
    {
        let _ = Script::parse(script);
    }
    assert!(Script::parse("a 99999999999999999999>b").is_err());
    assert!(Script::parse(&"a;".repeat(200_000)).is_err());
}

#[test]
fn syntax_errors_are_not_analysable() {
    for script in
        ["if", "a |", "a &&", "(a", "a)", "echo 'x", "echo \"x", "cat <<EOF\nx", "$(a", "case"]
    {
        assert!(Script::parse(script).is_err(), "{script}");
    }
}

const SEEDS: &[&str] = &[
    "set -euo pipefail; cargo test 2>&1 | tail -5 || { echo \"x $(date)\"; exit 1; }",
    "git commit -m \"$(cat <<'EOF'\nit's `done` (really)\nEOF\n)\" && git push",
    "for x in $(ls *.rs); do case $x in a) rm \"$x\";; esac; done > log",
    "bash -lc 'cd \"${D:-$(pwd)}\" && env -S \"a b\" < <(c <<< \"$(d)\") >&2'",
    "[[ $a =~ ^(x|y)+$ && -f b ]] && (( n > $((1 << 2)) )) && a[$i]=(1 2)",
    "find . -name '*.o' -exec rm {} \\; | xargs -I{} sh -c 'echo {}' &",
    "cat <<A <<-'B' | tee x\n$(a)\nA\n\tb\n\tB\necho `c \\`d\\`` \"${e:-'}'}\" >&$f || { !g; }",
    "coproc h { i; }; select j in @(k|l)*; do ((m)) || $((n) ); done {o}>p <<E 2>&1-\\\nq\nE",
];

const OUTPUTS: &[&str] = &[
    "test result: ok. 2 passed; 0 failed; 0 ignored\n= 3 failed, 39 passed in 2.3s =\nRan 5 tests in 0.1s\n\nFAILED (failures=1)",
    "ok  \tpkg\t0.1s\n--- FAIL: TestA (0.0s)\nFAIL\tpkg [build failed]\n✖ 3 problems (1 error, 2 warnings)\nℹ pass 3",
    "\u{1b}[31mTests: 1 failed, 2 total\u{1b}[0m\r\n[main abc1234] x\nTo host\n a..b  m -> m\nExit code 1\na.py:1:2: E501 x",
];

/// A small generator with a fixed seed, so that mutations are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit.max(1) as u64).unwrap()
    }
}

fn mutated(seed: &str, all: &[&str], random: &mut Random) -> String {
    const PIECES: &[&str] = &[
        "$(",
        ")",
        "`",
        "\"",
        "'",
        "${",
        "}",
        "\\",
        "\n",
        ";",
        "|",
        "&&",
        "<<EOF\n",
        "\nEOF\n",
        "((",
        "))",
        "case x in",
        "esac",
        "é",
        "\u{1b}[",
        "9",
        " ",
        "\t",
        "#",
        "<(",
        ">&",
        "[[",
        "]]",
        "if ",
        "fi",
        "~+9",
        "=",
        "(",
        ".go:",
        ": ",
        "%",
        "\r",
        "💥",
    ];
    let mut text: Vec<char> = seed.chars().collect();
    for _ in 0..=random.below(6) {
        let at = random.below(text.len() + 1);
        match random.below(4) {
            0 => drop(text.drain(at..(at + random.below(8)).min(text.len()))),
            1 => {
                let piece = PIECES[random.below(PIECES.len())];
                text.splice(at..at, piece.chars());
            }
            2 => {
                let other: Vec<char> = all[random.below(all.len())].chars().collect();
                let from = random.below(other.len());
                let len = random.below(20);
                text.splice(at..at, other.into_iter().skip(from).take(len));
            }
            _ => text.truncate(at),
        }
    }
    text.into_iter().collect()
}

#[test]
fn mutations_never_panic() {
    let mut random = Random(0x5eed_1234_abcd_0001);
    for round in 0..12_000 {
        let script = mutated(SEEDS[round % SEEDS.len()], SEEDS, &mut random);
        if let Ok(read) = Script::parse(&script) {
            let _ = activities(&read);
            let _ = read.writes();
        }
        let output = mutated(OUTPUTS[round % OUTPUTS.len()], OUTPUTS, &mut random);
        for kind in [
            ActivityKind::Test,
            ActivityKind::Build,
            ActivityKind::Lint,
            ActivityKind::Commit,
            ActivityKind::Push,
            ActivityKind::Run,
        ] {
            let found = summary(&output, kind);
            assert!(output.get(found.evidence.clone()).is_some(), "{output:?}");
        }
        let _ = (exit_code_in_text(&output), commit_of(&output));
    }
}

/// A long, flat text is parsed in time proportional to its length.
#[test]
fn flat_texts_are_read_quickly() {
    for part in [
        "a && ",
        "a | ",
        "a; ",
        "a\n",
        "f() { a; }\n",
        "a || ",
        "x=(a) ",
        "a[1] ",
        "[",
        "${a}",
        "$(a)",
        "`a`",
        "((a) ); ",
        "cat <<E <<E\nE\nE\n",
        "<<E ",
        "'a'",
        "# a\n",
        "a \\\n",
        "eval ",
        "{a}>b ",
    ] {
        let _ = read(part.repeat(100_000 / part.len()));
    }
}

/// Scripts composed of valid parts are valid, and their commands are found.
#[test]
fn valid_parts_make_valid_scripts() {
    const WHOLES: &[&str] = &[
        "{}",
        "( {})",
        "{ {}; }",
        "{} | b",
        "{} && b",
        "{} || b",
        "if {}; then b; fi",
        "while {}; do b; done",
        "for x in 1; do {}; done",
        "case x in (x) {};; esac",
        "b $( {})",
        "b \"$( {})\"",
        "! {}",
        "time {}",
        "f() { {}; }",
        "b <( {})",
        "b <<E\n$( {})\nE",
        "{} > f 2>&1",
        "x=$( {})",
        "b \"${x:-$( {})}\"",
    ];
    const PARTS: &[&str] = &["marker", "marker 'a b' \"c\"", "A=1 marker -x", "marker <<< y"];
    for part in PARTS {
        for outer in WHOLES {
            for inner in WHOLES {
                // Skip repeated `!`, `!` before a pipe, and here-documents inside other parts.
                let script = outer.replace("{}", &inner.replace("{}", part));
                if inner.starts_with("! ") && outer.contains("! ")
                    || outer.ends_with("| b") && inner.starts_with('!')
                    || inner.contains("\nE") && *outer != "{}"
                {
                    continue;
                }
                let read =
                    Script::parse(&script).unwrap_or_else(|error| panic!("`{script}`: {error}"));
                let found = read.commands().iter().any(|c| c.program() == Some("marker"));
                assert!(found, "{script}");
            }
        }
    }
}
