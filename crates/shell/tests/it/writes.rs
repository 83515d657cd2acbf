use counterfoil_shell::{Script, WordKind};

fn check(script: &str, expected: &[&str]) -> Option<String> {
    let read = Script::parse(script).unwrap();
    let found: Vec<String> =
        read.writes().iter().map(|w| format!("{:?} {}", w.effect, w.path.text)).collect();
    (found != expected).then(|| format!("`{script}`: {found:?}, expected {expected:?}"))
}

#[test]
fn writes() {
    let mut wrong: Vec<String> = Vec::new();
    for (script, expected) in [
        ("echo a > f", &["Created f"] as &[&str]),
        ("echo a >> f", &["Changed f"]),
        ("echo a >| f 2>/dev/null", &["Created f"]),
        ("cat > f <<'EOF'\nrm x\nEOF", &["Created f"]),
        ("{ a; b; } > f", &["Created f"]),
        ("cd d && echo a > f", &["Created d/f"]),
        ("cd d && rm ../x /y", &["Deleted x", "Deleted /y"]),
        ("rm -rf a b", &["Deleted a", "Deleted b"]),
        ("rm -- -x", &["Deleted -x"]),
        ("sudo rm a", &["Deleted a"]),
        ("mv a b", &["Moved a", "Created b"]),
        ("mv -t d a b", &["Moved a", "Moved b", "Created d"]),
        ("cp -r a b", &["Created b"]),
        ("ln -s a b", &["Created b"]),
        ("touch a b", &["Created a", "Created b"]),
        ("mkdir -p a/b", &["Created a/b"]),
        ("a | tee f", &["Created f"]),
        ("a | tee -a f", &["Changed f"]),
        ("dd if=a of=b bs=1", &["Created b"]),
        ("truncate -s 0 f", &["Changed f"]),
        ("sed -i 's/a/b/' f g", &["Changed f", "Changed g"]),
        ("sed -i '' 's/a/b/' f", &["Changed f"]),
        ("sed -i.bak -e 's/a/b/' f", &["Changed f"]),
        ("sed -n '1,5p' f", &[]),
        ("perl -pi -e 's/a/b/' f", &["Changed f"]),
        ("git rm a", &["Deleted a"]),
        ("git mv a b", &["Moved a", "Created b"]),
        ("git checkout -- a b", &["Changed a", "Changed b"]),
        ("git reset --hard", &["Changed ."]),
        ("git clean -fd", &["Deleted ."]),
        ("git restore a", &["Changed a"]),
        ("git status", &[]),
        ("patch -p1 f", &["Changed f"]),
        ("curl -o f https://example.com", &["Created f"]),
        ("find . -name '*.o' -exec rm {} +", &["Deleted {}"]),
        ("echo 'rm x'", &[]),
    ] {
        wrong.extend(check(script, expected));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn files_that_no_word_names() {
    for (script, expected) in [
        ("find . -name '*.log' -delete", true),
        ("ls *.log | xargs rm", true),
        ("cat list | xargs sed -i s/a/b/", true),
        ("python3 -c \"open('a', 'w')\" > out", true),
        ("rm a", false),
        ("find . -name '*.log'", false),
        ("ls > out", false),
    ] {
        assert_eq!(Script::parse(script).unwrap().changes_unnamed(), expected, "{script}");
    }
    let script = Script::parse(r"find . -exec rm {} \;").unwrap();
    let kinds: Vec<WordKind> = script.writes().into_iter().map(|write| write.path.kind).collect();
    assert_eq!(kinds, [WordKind::Dynamic]);
}
