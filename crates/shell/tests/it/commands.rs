use counterfoil_shell::{Command, Destination, Doubt, Position, Script, Status};

fn shown(command: &Command) -> String {
    let name = match &command.name {
        None => "-".to_owned(),
        Some(_) if command.is_dynamic() => "<dynamic>".to_owned(),
        Some(_) => command.program().unwrap_or_default().to_owned(),
    };
    match command.status {
        Status::Decides => name,
        Status::Conditional => format!("{name}?"),
        Status::Masked(why) => format!("{name}!{why:?}"),
    }
}

/// Compares commands, shown by base name, with `?` if conditional, and with `!` and the reason if
/// the status is masked.
fn check(script: &str, expected: &[&str]) -> Option<String> {
    let read = match Script::parse(script) {
        Ok(read) => read,
        Err(error) => return Some(format!("`{script}`: {error}")),
    };
    let found: Vec<String> = read.commands().iter().map(shown).collect();
    (found != expected).then(|| format!("`{script}`: {found:?}, expected {expected:?}"))
}

#[test]
fn lists_and_pipelines() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("", &[] as &[&str]),
        ("# only a comment", &[]),
        ("ls", &["ls"]),
        ("/usr/bin/ls -l", &["ls"]),
        ("a; b", &["a!Sequence", "b"]),
        ("a\nb", &["a!Sequence", "b"]),
        ("a && b", &["a", "b"]),
        ("a && b && c", &["a", "b", "c"]),
        ("a || b", &["a!Fallback", "b?"]),
        ("a || true", &["a!Fallback", "true?"]),
        ("a || exit 1", &["a", "exit?"]),
        ("a || { echo no; exit 2; }", &["a", "echo!Sequence", "exit?"]),
        ("a || exit 0", &["a!Fallback", "exit?"]),
        ("a && b || c", &["a!Fallback", "b!Fallback", "c?"]),
        ("a || b && c", &["a!Fallback", "b?", "c"]),
        ("a && b; c", &["a!Sequence", "b!Sequence", "c"]),
        ("a | b", &["a!Pipe", "b"]),
        ("a |& b", &["a!Pipe", "b"]),
        ("a | b && c", &["a!Pipe", "b", "c"]),
        ("set -o pipefail; a | b", &["set!Sequence", "a", "b"]),
        ("set -euo pipefail\na | b\nc", &["set!Sequence", "a", "b", "c"]),
        ("set -e; a; b", &["set!Sequence", "a", "b"]),
        ("set -e; a && b; c", &["set!Sequence", "a!Sequence", "b", "c"]),
        ("set -e; set +e; a; b", &["set!Sequence", "set", "a!Sequence", "b"]),
        ("a & b", &["a!Background", "b"]),
        ("a &", &["a!Background"]),
        ("! a", &["a!Negated"]),
        ("time a", &["a"]),
        ("a; exit $?", &["a", "exit"]),
        ("a; exit", &["a", "exit"]),
        ("a 2>&1 | tee log; exit ${PIPESTATUS[0]}", &["a!Sequence", "tee!Sequence", "exit"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn compound_commands() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("(a; b)", &["a!Sequence", "b"] as &[&str]),
        ("{ a; b; }", &["a!Sequence", "b"]),
        ("(a) && b", &["a", "b"]),
        ("( (a) )", &["a"]),
        ("((a) )", &["a"]),
        ("( (a); (b))", &["a!Sequence", "b"]),
        ("((a); (b))", &["a!Sequence", "b"]),
        ("((a))", &[]),
        ("if a; then b; else c; fi", &["a!Condition", "b?", "c?"]),
        ("if a; then b; elif c; then d; fi", &["a!Condition", "b?", "c!Condition", "d?"]),
        ("for x in 1 2; do a; done", &["-", "a!Loop"]),
        ("for x in $(ls); do a; done", &["ls!Substitution", "-", "a!Loop"]),
        ("for ((i=0; i<$(n); i++)); do a; done", &["n!Substitution", "a!Loop"]),
        ("set -e; for x in 1 2; do a; done", &["set!Sequence", "-", "a?"]),
        ("while a; do b; done", &["a!Condition", "b!Loop"]),
        ("until a; do b; done", &["a!Condition", "b!Loop"]),
        ("case x in a) b;; *) c;; esac", &["b?", "c?"]),
        ("case $(a) in b) c;; esac", &["a!Substitution", "c?"]),
        ("[[ -f a && $(b) = c ]] && d", &["[[", "b!Substitution", "d"]),
        ("[ -f a ] && b", &["[", "b"]),
        ("(( x > 1 )) && a", &["a"]),
        ("(( x > $(n) )) && a", &["n!Substitution", "a"]),
        ("f() { a; }; f", &["a?", "f"]),
        ("{ a; b; } > log", &["-!Sequence", "a!Sequence", "b"]),
        ("coproc a", &["a!Background"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn substitutions() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("echo $(a)", &["echo", "a!Substitution"] as &[&str]),
        ("echo `a`", &["echo", "a!Substitution"]),
        ("echo `a \\`b\\``", &["echo", "a!Substitution", "b!Substitution"]),
        ("echo \"x $(a \"$(b)\") y\"", &["echo", "a!Substitution", "b!Substitution"]),
        ("echo '$(a)'", &["echo"]),
        ("echo \\$(a", &[] as &[&str]),
        ("echo ${x:-$(a)}", &["echo", "a!Substitution"]),
        // In Bash, too, the apostrophe opens a quote.
        ("echo \"${x:-it's $(a)}\"", &[]),
        ("echo \"${x//'\"'/$(a)}\"", &["echo", "a!Substitution"]),
        ("echo $((1 + $(a)))", &["echo", "a!Substitution"]),
        ("echo $((1 << 2))", &["echo"]),
        ("echo $( (a) )", &["echo", "a!Substitution"]),
        ("echo $(case x in (y) a;; esac)", &["echo", "a!Substitution"]),
        ("echo $(case x in y) a;; esac)", &["echo", "a!Substitution"]),
        ("echo $((a) | (b))", &["echo", "a!Substitution", "b!Substitution"]),
        ("echo $((a) )", &["echo", "a!Substitution"]),
        ("echo $(a # it's )\n)", &["echo", "a!Substitution"]),
        ("x=$(a)", &["-", "a"]),
        ("x=$(a) b", &["b", "a!Substitution"]),
        ("x=$(a); b", &["-!Sequence", "a!Sequence", "b"]),
        ("x=(1 $(a))", &["-", "a"]),
        ("diff <(a) <(b)", &["diff", "a!Substitution", "b!Substitution"]),
        ("a > >(b)", &["a", "b!Substitution"]),
        ("$(a) b", &["<dynamic>", "a!Substitution"]),
        ("$CMD test", &["<dynamic>"]),
        ("cat <<EOF\n$(a)\nEOF", &["cat", "a!Substitution"]),
        ("cat <<'EOF'\n$(a)\nEOF", &["cat"]),
        ("cat <<EOF\n\\$(a)\nEOF", &["cat"]),
        ("cat <<< \"$(a)\"", &["cat", "a!Substitution"]),
        (
            "git commit -m \"$(cat <<'EOF'\nfix: it's `done` (really)\nEOF\n)\"",
            &["git", "cat!Substitution"],
        ),
        ("cat <<EOF | a\nx\nEOF\nb", &["cat!Sequence", "a!Sequence", "b"]),
    ] {
        if expected.is_empty() {
            assert!(Script::parse(script).is_err(), "{script}");
        } else {
            wrong.extend(check(script, expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn wrappers() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("sudo rm -rf x", &["sudo", "rm"] as &[&str]),
        ("sudo -u me FOO=1 rm x", &["sudo", "rm"]),
        ("env A=1 B=2 cmd", &["env", "cmd"]),
        ("env -i -u X cmd arg", &["env", "cmd"]),
        ("env -S 'cmd arg; other'", &["env", "cmd!Sequence", "other"]),
        ("command rm x", &["command", "rm"]),
        ("command -v rm", &["command"]),
        ("exec cmd", &["exec", "cmd"]),
        ("nice -n 10 cmd", &["nice", "cmd"]),
        ("nohup cmd &", &["nohup!Background", "cmd!Background"]),
        ("timeout 60 cmd", &["timeout", "cmd"]),
        ("timeout -k 5 --signal=KILL 60s cmd -x", &["timeout", "cmd"]),
        ("stdbuf -oL cmd", &["stdbuf", "cmd"]),
        ("setsid cmd", &["setsid", "cmd"]),
        ("/usr/bin/time -v cmd", &["time", "cmd"]),
        ("echo x | xargs -n 1 -I {} rm {}", &["echo!Pipe", "xargs", "rm?"]),
        ("find . -name x -exec rm {} \\;", &["find", "rm!Wrapper"]),
        ("find . -exec grep a {} + -exec b {} \\;", &["find", "grep?", "b!Wrapper"]),
        ("bash -c 'a; b'", &["bash", "a!Sequence", "b"]),
        ("bash -lc \"a && b\"", &["bash", "a", "b"]),
        ("zsh -lc 'a'", &["zsh", "a"]),
        ("bash -eo pipefail -c 'a | b; c'", &["bash", "a", "b", "c"]),
        ("sh -c \"$x\"", &["sh"]),
        ("bash script.sh", &["bash"]),
        ("bash <<'EOF'\na\nb\nEOF", &["bash", "a!Sequence", "b"]),
        ("bash -c \"bash -c 'bash -c a'\"", &["bash", "bash", "bash", "a"]),
        ("eval 'a; b'", &["eval", "a!Sequence", "b"]),
        ("watch -n 1 cmd arg", &["watch", "cmd!Wrapper"]),
        ("script -qc 'cmd' /dev/null", &["script", "cmd"]),
        ("trap 'rm x' EXIT; a", &["trap!Sequence", "rm!Sequence", "a"]),
        ("ssh host 'a && b'", &["ssh", "a", "b"]),
        ("ssh -p 22 host uptime", &["ssh", "uptime"]),
        ("docker exec -it c pytest -q", &["docker", "pytest"]),
        ("docker run --rm -v a:b image make test", &["docker", "make"]),
        ("docker compose -f x.yml exec app pytest", &["docker", "pytest"]),
        ("uv run --with x pytest", &["uv", "pytest"]),
        ("uv run -m pytest", &["uv", "python"]),
        ("poetry run pytest", &["poetry", "pytest"]),
        ("bundle exec rspec", &["bundle", "rspec"]),
        ("npx --yes jest@29", &["npx", "jest"]),
        ("pnpm -C app exec vitest run", &["pnpm", "vitest"]),
        ("mise exec -- go test ./...", &["mise", "go"]),
        ("sudo $cmd", &["sudo", "<dynamic>"]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Cases in which misjudging the end of a part would hide or invent a command.
#[test]
fn parts_end_where_bash_ends_them() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        // With a blank after the delimiter, the document continues.
        (
            "cat <<E\nE \ncat <<X\nE\nhidden\nX",
            &["cat!Sequence", "hidden!Sequence", "X"] as &[&str],
        ),
        ("cat <<E\nE \nE\na", &["cat!Sequence", "a"]),
        ("cat <<E\nx\\\nE\nE\na", &["cat!Sequence", "a"]),
        ("cat <<'E'\nx\\\nE\na", &["cat!Sequence", "a"]),
        ("cat <<-E\n\tx\n\tE\na", &["cat!Sequence", "a"]),
        ("cat <<A <<'B'\n$(a)\nA\n$(b)\nB\nc", &["cat!Sequence", "a!Sequence", "c"]),
        ("cat <<E && a\n$(b)\nE", &["cat", "b!Substitution", "a"]),
        ("cat <<E \\\n | a\nx\nE", &["cat!Pipe", "a"]),
        ("for ((;;)); do cat <<E\n$(a)\nE\ndone", &["cat!Loop", "a!Loop"]),
        ("[[ a ]] <<E\n$(a)\nE", &["-!Sequence", "a!Sequence", "[["]),
        ("(cat <<E)\nx\nE\na", &["cat!Sequence", "a"]),
        // Bash reads the document from an unexpected place, or prints a warning.
        ("echo $(cat <<E\nx\nE)", &[]),
        ("echo $(cat <<E)\nx\nE\na", &[]),
        ("cat <<E $(a\n)\nx\nE", &[]),
        ("cat <<E \"x\ny\"\nE", &[]),
        ("cat <<E # x \\\ny\nE", &[]),
        ("cat <<$x\n$x", &[]),
        ("cat <<E\nx", &[]),
        // Split by a line continuation.
        ("su\\\ndo a", &["sudo", "a"]),
        ("a &\\\n& b", &["a", "b"]),
        ("echo $\\\n(a)", &["echo", "a!Substitution"]),
        ("i\\\nf a; then b; fi", &[]),
        ("x\\\n=1 a", &[]),
        ("a 2\\\n> f", &[]),
        // Quotes in expansions.
        ("echo ${x:-'$(a)'}", &["echo"]),
        ("echo \"${x:-'$(a)'}\"", &["echo", "a!Substitution"]),
        ("echo \"${x//$'\\n'/$(a)}\"", &["echo", "a!Substitution"]),
        ("echo ${x:-\"}\"}; a", &["echo!Sequence", "a"]),
        ("echo \"`a \\\"b; c\\\"`\"", &["echo", "a!Substitution"]),
        ("echo `a \\\"b; c\\\"`", &["echo", "a!Substitution", "c\"!Substitution"]),
        ("echo $(( ')' + $(a) ))", &["echo", "a!Substitution"]),
        ("echo $[ $(a) ]", &["echo", "a!Substitution"]),
        ("x[$(a)]=1", &["-", "a"]),
        ("x[i + 1]=1", &["-"]),
        ("x[i; a]=1", &[]),
        ("((a; b))", &[]),
        ("${ a; }", &[]),
        // Text that only looks like a construct, or that only looks harmless.
        ("echo if then } fi", &["echo"]),
        ("!(a)", &["a!Negated"]),
        ("! ! a", &["a"]),
        ("a | time b", &["a!Pipe", "time", "b"]),
        ("x=1 if", &["if"]),
        ("echo @(a|b) !(c)", &["echo"]),
        ("echo a#b; a # b; c", &["echo!Sequence", "a"]),
        ("x<(a)", &["<dynamic>", "a!Substitution"]),
        ("x=<(a)", &["-", "a!Substitution"]),
        ("select x in 1; do a; done", &["-", "a!Loop"]),
        ("coproc x { a; }", &["a!Background"]),
        ("echo > f&1 <g", &["echo!Background", "1"]),
        ("a |& b", &["a!Pipe", "b"]),
    ] {
        if expected.is_empty() {
            assert!(Script::parse(script).is_err(), "{script}");
        } else {
            wrong.extend(check(script, expected));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Scripts that Bash rejects are rejected.
#[test]
fn what_bash_refuses() {
    for script in [
        "f() a",
        "f()",
        "f() { }",
        "f (x) { a; }",
        "coproc",
        "coproc coproc a",
        "coproc x= { a; }",
        "for x in a | b; do c; done",
        "for x in a do b; done",
        "for ((;)); do a; done",
        "case x in a; b) c;; esac",
        "case x in a b) c;; esac",
        "case x in |a) b;; esac",
        "if a; then fi",
        "if; then a; fi",
        "while a; do done",
        "{ }",
        "( )",
        "(a) b",
        "{ a; } b",
        "a }; }",
        "}",
        "then",
        "in",
        "]]",
        "a;;",
        "a & & b",
        "; a",
        "| a",
        "a | ! b",
        "a >",
        "a <<<",
        "echo (a)",
        "echo a=(b)",
        "x=(a; b)",
        "[[ a b ]]",
        "[[ -f ]]",
        "[[ ]]",
        "[[ a ]] b",
        "[[ a\n&& b ]]",
        "((a) ",
        "echo $((1)",
        "echo ${x",
        "echo `a",
        "echo <(a",
        "echo @(a",
        "a \\",
        "echo \"${x:-it's}\"",
    ] {
        assert!(Script::parse(script).is_err(), "{script}");
    }
}

#[test]
fn streams_of_redirects() {
    use counterfoil_shell::Stream;
    for (script, stream) in [
        ("a > f", Stream::Fd(1)),
        ("a 2> f", Stream::Fd(2)),
        ("a 2 > f", Stream::Fd(1)),
        ("a 10>f", Stream::Fd(10)),
        ("a {x}> f", Stream::Fd(10)),
        ("a {1}> f", Stream::Fd(1)),
        ("a < f", Stream::Fd(0)),
        ("a &> f", Stream::OutputAndError),
        ("a >& f", Stream::OutputAndError),
        ("a >| f", Stream::Fd(1)),
        ("a <> f", Stream::Fd(0)),
        ("a 3<> f", Stream::Fd(3)),
    ] {
        let read = Script::parse(script).unwrap();
        assert_eq!(read.commands()[0].redirects[0].stream, stream, "{script}");
    }
}

#[test]
fn where_the_output_goes() {
    use Destination::{Captured, Discarded, File, Filtered, Shown};
    for (script, stdout, stderr) in [
        ("a", Shown, Shown),
        ("a > f", File, Shown),
        ("a >/dev/null", Discarded, Shown),
        ("a 2>/dev/null", Shown, Discarded),
        ("a >/dev/null 2>&1", Discarded, Discarded),
        ("a 2>&1 >/dev/null", Discarded, Shown),
        ("a &>/dev/null", Discarded, Discarded),
        ("a >& f", File, File),
        ("a &>> f", File, File),
        ("a >&2", Shown, Shown),
        ("a >&-", Discarded, Shown),
        ("a | tail -5", Filtered, Shown),
        ("a 2>&1 | tail -5", Filtered, Filtered),
        ("a |& tail -5", Filtered, Filtered),
        ("a | tee log", Shown, Shown),
        ("a | tee log | tail", Filtered, Shown),
        ("a | grep x > f", File, Shown),
        ("a | cat > /dev/null", Discarded, Shown),
    ] {
        let read = Script::parse(script).unwrap();
        let first = &read.commands()[0];
        assert_eq!((first.stdout, first.stderr), (stdout, stderr), "{script}");
    }
    let read = Script::parse("x=$(a 2>&1)").unwrap();
    assert_eq!(read.commands()[1].stdout, Captured);
    let read = Script::parse("{ a; } > f").unwrap();
    assert_eq!(read.commands()[1].stdout, File);
    assert!(!read.commands()[1].output_visible());
}

#[test]
fn directories_and_positions() {
    for (script, directory) in [
        ("a", Some("")),
        ("cd x && a", Some("x")),
        ("cd x; cd ../y; a", Some("y")),
        ("cd /x/y/.. && a", Some("/x")),
        ("cd; a", Some("~")),
        ("cd - && a", None),
        ("cd $X && a", None),
        ("cd $X && cd /y && a", Some("/y")),
        ("(cd x); a", Some("")),
        ("{ cd x; }; a", Some("x")),
        ("if b; then cd x; fi; a", None),
        ("(cd x && a)", Some("x")),
        ("bash -c 'cd x && a'", Some("x")),
        ("ssh host a", None),
    ] {
        let read = Script::parse(script).unwrap();
        let last = read.commands().last().unwrap();
        assert_eq!(last.directory.as_deref(), directory, "{script}");
    }
    for (script, position) in [
        ("a", Position::Script),
        ("(a)", Position::Script),
        ("if b; then a; fi", Position::Branch),
        ("b $(a)", Position::Substitution),
        ("b <(a)", Position::ProcessSubstitution),
        ("sudo a", Position::Wrapper),
        ("ssh h a", Position::Remote),
        ("ssh h 'if b; then a; fi'", Position::Remote),
        ("f() { a; }", Position::UnusedFunction),
    ] {
        let read = Script::parse(script).unwrap();
        assert_eq!(read.commands().last().unwrap().inside, position, "{script}");
    }
    let read = Script::parse("f() { a; }; f").unwrap();
    assert_eq!(read.commands()[0].inside, Position::Function);
}

#[test]
fn counts_for_the_guard() {
    let read = Script::parse("a <(b) <<< x $(c `d`)").unwrap();
    assert_eq!(
        (read.substitutions(), read.process_substitutions(), read.here_strings()),
        (2, 1, 1)
    );
    let read = Script::parse("A=1 B+=2 c").unwrap();
    let assigned: Vec<_> = read.commands()[0]
        .assignments
        .iter()
        .map(|a| (a.name.as_str(), a.value.text.as_str(), a.append))
        .collect();
    assert_eq!(assigned, [("A", "1", false), ("B", "2", true)]);
}

#[test]
fn words_lose_their_quotes() {
    for (script, word, fixed) in [
        ("a b", "b", true),
        ("a 'b c'", "b c", true),
        ("a \"b c\"", "b c", true),
        ("a b\\ c", "b c", true),
        ("a $'x\\ty'", "x\ty", true),
        ("a 'b'\"c\"d", "bcd", true),
        ("a \"it's\"", "it's", true),
        ("a $B", "$B", false),
        ("a \"${B}\"/c", "${B}/c", false),
        ("a *.rs", "*.rs", false),
        ("a '*.rs'", "*.rs", true),
        ("a {b,c}", "{b,c}", false),
        ("a {}", "{}", true),
        ("a @{u}", "@{u}", true),
    ] {
        let read = Script::parse(script).unwrap();
        let first = &read.commands()[0].args[0];
        assert_eq!((first.text.as_str(), first.literal().is_some()), (word, fixed), "{script}");
    }
}

/// Reasons why a script does not show the result of its first runner, `pytest`.
#[test]
fn what_a_script_does_not_show() {
    for (text, expected) in [
        ("pytest", None),
        ("cd app && pytest -q 2>&1 | tail -20", None),
        ("pytest | tee log.txt", None),
        ("pytest || true", None),
        ("pytest > out.txt; cat out.txt", None),
        ("pytest > out.txt 2>&1; tail -5 out.txt", None),
        ("pytest | grep -E 'passed|failed'", None),
        ("PATH=/opt/bin:$PATH pytest", None),
        ("PATH=$PWD/venv/bin:$PATH pytest", None),
        ("./venv/bin/pytest", None),
        ("if [ -d tests ]; then pytest; fi", None),
        ("true && pytest", None),
        ("(exit 0); pytest", None),
        ("false || pytest", None),
        ("exit 0; pytest", Some(Doubt::NeverStarts)),
        ("exec true; pytest", Some(Doubt::NeverStarts)),
        ("false && pytest", Some(Doubt::NeverStarts)),
        ("true || pytest", Some(Doubt::NeverStarts)),
        ("if false; then pytest; fi", Some(Doubt::NeverStarts)),
        ("while false; do pytest; done", Some(Doubt::NeverStarts)),
        ("pytest() { echo ok; }; pytest", Some(Doubt::Replaced)),
        ("alias pytest='echo ok'; pytest", Some(Doubt::Replaced)),
        ("PATH=.:$PATH pytest", Some(Doubt::Replaced)),
        ("export PATH=.:$PATH; pytest", Some(Doubt::Replaced)),
        ("./pytest", Some(Doubt::Replaced)),
        ("pytest | sed 's/failed/passed/'", Some(Doubt::Rewritten)),
        ("pytest | grep passed", Some(Doubt::Rewritten)),
        ("pytest 2>&1 | grep -v failed | tail -3", Some(Doubt::Rewritten)),
        ("pytest > /dev/null", Some(Doubt::Unseen)),
        ("pytest > out.txt", Some(Doubt::Unseen)),
        ("pytest > out.txt; sed -i s/1/0/ out.txt; cat out.txt", Some(Doubt::Unseen)),
    ] {
        let script = Script::parse(text).unwrap();
        let at = script.commands().iter().rposition(|c| c.program() == Some("pytest")).unwrap();
        assert_eq!(script.doubt(at), expected, "{text}");
    }
    assert!(Script::parse("trap 'exit 0' EXIT; pytest").unwrap().traps_exit());
    assert!(!Script::parse("trap 'rm -f x' EXIT; pytest").unwrap().traps_exit());
}
