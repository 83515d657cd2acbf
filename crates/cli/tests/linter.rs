//! Features of every build, including the linter alone: `cargo test -p counterfoil
//! --no-default-features`.
#![expect(clippy::unwrap_used, reason = "a test may fail")]
#![expect(clippy::disallowed_methods, reason = "the program itself is started")]

use std::path::Path;
use std::process::Command;

/// Runs the binary in the root of the sources; returns its exit code, output and error output.
fn counterfoil(words: &[&str]) -> (i32, String, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO_BIN_EXE_counterfoil"))
        .args(words)
        .current_dir(root)
        .env_clear()
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn it_checks_validates_and_explains() {
    let (code, out, err) = counterfoil(&["check", "examples"]);
    assert_eq!(code, 1, "{err}");
    assert!(out.contains("error[FK010]"), "{out}");
    for words in [["rules", "--format=json"], ["explain", "FK010"], ["check", "--help"]] {
        let (code, out, err) = counterfoil(&words);
        assert!(code == 0 && !out.is_empty(), "{words:?}: {err}");
    }
}

/// Every build accepts the keys of the full build and no others.
#[test]
fn it_reads_the_configuration_of_the_full_build() {
    let known = "[tools.permissions]\ndefault = \"ask\"\n[tools.policy]\n[llm]\n[mcp]\n[proxy]\n\
                 [hooks]\nundo = true\n[ledger]\n[check]\nfail_on = \"never\"\n";
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("linter.toml");
    let check = |text: &str| {
        std::fs::write(&file, text).unwrap();
        counterfoil(&["check", "examples", "--quiet", "--config", file.to_str().unwrap()])
    };
    let (code, _, err) = check(known);
    assert_eq!((code, err.as_str()), (0, ""));
    for (text, what) in [
        ("[hooks]\nundoo = true\n", "unknown key `undoo` in [hooks]"),
        ("[tools.sandbox]\nprofil = \"off\"\n", "unknown key `profil` in [tools.sandbox]"),
        ("[nonsense]\n", "unknown key `nonsense`"),
    ] {
        let (code, _, err) = check(text);
        assert!(code == 2 && err.contains(what), "{text}: {err}");
    }
}

/// The examples of the help name only flags that there are.
#[test]
fn the_help_names_no_flag_that_is_missing() {
    let (_, out, _) = counterfoil(&["check", "--help"]);
    let (flags, examples) = out.split_once("\nExamples:").unwrap();
    let named = examples.split_whitespace().filter(|word| word.starts_with("--"));
    for flag in named {
        assert!(flags.contains(flag), "{flag}");
    }
}

#[test]
fn a_command_that_it_does_not_have_is_named() {
    let missing = "is not part of this build";
    for (words, what, help) in [
        (["chekc", "log.json"], "there is no command `chekc`", "did you mean `check`?"),
        (["README.md", "-q"], "`README.md` is a path", "run `counterfoil check README.md -q`"),
        (["lgo.json", "-q"], "no command `lgo.json`", "run `counterfoil check PATH`"),
        (["frobnicate", "x"], "no command `frobnicate`", "`counterfoil --help` lists"),
        (["serve", "--nonsense"], missing, "`cargo install --locked --path crates/cli`"),
    ] {
        if what == missing && cfg!(feature = "guard") {
            continue;
        }
        let (code, out, err) = counterfoil(&words);
        assert_eq!((code, out.as_str()), (2, ""), "{words:?}");
        assert!(err.contains(what) && err.contains(help), "{words:?}: {err}");
    }
}
