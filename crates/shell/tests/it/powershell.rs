//! PowerShell, as the shell commands that do the same.

use counterfoil_shell::{Script, powershell_as_shell, takes_powershell};

fn check(written: &str, expected: &str) {
    let shell = powershell_as_shell(written).map_err(|e| format!("{written}: {e}")).unwrap();
    assert_eq!(shell, expected, "{written}");
    assert!(Script::parse(&shell).is_ok(), "{shell}");
}

#[test]
fn commands_become_those_that_do_the_same() {
    for (written, expected) in [
        ("Get-ChildItem -Recurse src", "Get-ChildItem -Recurse src"),
        (
            "gci src | ? { $_.Length -gt 1kb } | ft",
            "Get-ChildItem src | Where-Object '{block}' | Format-Table",
        ),
        (
            "Remove-Item -Recurse -Force ~\\notes",
            "Remove-Item -Recurse -Force ~/notes\nrm -r -f ~/notes",
        ),
        ("rm -r -fo C:\\Users\\ada -ea 0", "rm -r -f /mnt/c/Users/ada"),
        ("rm -rf x", "rm -rf x"),
        (
            "Copy-Item -Destination b -Path a -Recurse",
            "Copy-Item -Destination b -Path a -Recurse\ncp -r a b",
        ),
        (
            "Set-Content -Path $f -Value 'a b' -NoNewline",
            "Set-Content -Path \"$f\" -Value 'a b' -NoNewline\ntee \"$f\"",
        ),
        (
            "npm run build 2>&1 | Select-Object -Last 3",
            "npm run build 2>&1 | Select-Object -Last 3",
        ),
        ("cd D:\\shop; go test ./... 2>$null", "cd /mnt/d/shop\ngo test ./... 2> /dev/null"),
        ("$d = 'dist'; rm -Recurse $d", "d=dist\nrm -r \"$d\""),
        ("$d = Join-Path $env:TEMP 'a'; Remove-Item $d", "d=/tmp/a\nRemove-Item \"$d\"\nrm \"$d\""),
        ("\"a $x\" > out.txt", "echo 'a '\"$x\" > out.txt"),
        ("if (Test-Path x) { del x } else { md x }", "Test-Path x\nRemove-Item x\nrm x\nmkdir x"),
        ("foreach ($f in Get-ChildItem) { git push -f }", "read f\nGet-ChildItem\ngit push -f"),
        (
            "iwr https://example.com/a | iex",
            "Invoke-WebRequest https://example.com/a\ncurl https://example.com/a | bash",
        ),
        ("iex 'git push -f'", "git push -f"),
        ("pwsh -NoProfile -Command \"git push -f\"", "git push -f"),
        ("& \"$d\\tool.exe\" run", "\"$d\"/tool.exe run"),
        ("[System.IO.File]::Delete('~/a')", "rm -r '~/a'"),
        ("(Get-Item x).Delete()", "Get-Item x\nrm -r \"$unknown\""),
        ("$env:PATH = \"C:\\x;$env:PATH\"", "export PATH='/mnt/c/x;'\"$PATH\""),
        ("$n = (git show HEAD:a).Split(\"`n\")[0..3]", "git show HEAD:a\nn=\"$unknown\""),
        ("@{ a = (git push -f); 'b' = 2 } | Out-Null", "git push -f\necho \"$unknown\" | Out-Null"),
        ("$x += 'a'", "read x"),
        ("git commit -m @'\none\n\ntwo\n'@", "git commit -m 'one\n\ntwo'"),
        ("# a comment\nGet-Date <# and #> -Format o", "Get-Date -Format o"),
    ] {
        check(written, expected);
    }
}

#[test]
fn what_runs_in_a_part_is_never_lost() {
    for written in [
        "\"a $(git push -f)\"",
        "Write-Host \"a $(git push -f) b\"",
        "Get-ChildItem | ForEach-Object { git push -f }",
        "Get-ChildItem | % { if ($_) { git push -f } }",
        "$x = @(git push -f)",
        "$x.Name = git push -f",
        "$x[0] = git push -f",
        "$a, $b = git push -f",
        "[math]::Max(1, (git push -f))",
        "Set-Content x (git push -f)",
        "rm x -ErrorAction (git push -f)",
        "Join-Path a (git push -f)",
        "try { git push -f } catch { throw } finally { }",
        "function f($a) { git push -f }; f",
        "switch (1) { 1 { git push -f } default { } }",
        "param($a = (git push -f))",
        "do { git push -f } while ($false)",
        "& { git push -f }",
        "return git push -f",
        "1, 2 | ForEach-Object -Begin { git push -f } -Process { $_ }",
        "@{ a = git push -f }",
        "$(git push -f).Count -gt 3",
        "'x' -replace (git push -f), ''",
        "Get-Date; git push -f & ",
        "Get-Date && git push -f",
        "@\"\n$(git push -f)\n\"@",
        "[char]::ConvertFromUtf32(0x1F600) + [Type].GetMethods() | ForEach-Object { git push -f }",
    ] {
        let shell = powershell_as_shell(written).map_err(|e| format!("{written}: {e}")).unwrap();
        let script = Script::parse(&shell).map_err(|e| format!("{shell}: {e}")).unwrap();
        let pushes = |command: &counterfoil_shell::Command| command.program() == Some("git");
        assert!(script.commands().iter().any(pushes), "{written}\n{shell}");
    }
}

#[test]
fn what_cannot_be_read_is_not_guessed() {
    for written in [
        "class A { [void] f() { git push -f } }",
        "Get-ChildItem (",
        "'open",
        "[ValidateScript({ git push -f })]$x = 1",
        "$x.$y()",
        "}",
        "foo < bar",
    ] {
        assert!(powershell_as_shell(written).is_err(), "{written}");
    }
}

#[test]
fn nothing_that_is_written_breaks_the_reader() {
    let page = include_str!("../../../../spec/shell/powershell.md");
    for line in page.lines() {
        for (at, _) in line.char_indices() {
            let (begin, end) = line.split_at(at);
            for text in [begin, end, &format!("{end}{begin}")] {
                // A result or a refusal, and neither late.
                let _read = powershell_as_shell(text);
            }
        }
    }
    for part in
        ["(", "{", "[", "[a]", "$(", "@{a=", "$a=", "\"$(", "a(", "$a.", "-", "&{", "|", "@("]
    {
        let _read = powershell_as_shell(&part.repeat(250_000 / part.len()));
    }
}

#[test]
fn tools_are_known_by_their_names() {
    for (name, takes) in
        [("PowerShell", true), ("mcp__win__run_powershell", true), ("pwsh", true), ("Bash", false)]
    {
        assert_eq!(takes_powershell(name), takes, "{name}");
    }
}
