//! A witness signs only one history of a ledger, no matter who asks and how often.

use counterfoil_ledger::{Checkpoint, KeyKind, Submission, VerifierKey, Witness, WitnessRefusal};

use super::*;

fn key_of(ledger: &Ledger) -> VerifierKey {
    VerifierKey { name: ledger.origin(), kind: KeyKind::Ledger, key: ledger.public_key() }
}

fn witness(folder: &Path, ledgers: &[&Ledger]) -> Witness {
    let ledgers = ledgers.iter().map(|ledger| key_of(ledger)).collect();
    let randomness = Counted(700.into());
    Witness::open(folder, "example.org/w1", ledgers, SetClock::at(NOW), &randomness).unwrap()
}

fn submission(ledger: &Ledger, old: u64) -> Submission {
    let (checkpoint, proof) = ledger.consistency(old).unwrap();
    Submission { old, proof, checkpoint }
}

/// Two ledgers with the same key and name, which diverge after some event.
fn two_histories() -> (Ledger, Ledger) {
    let ledgers = (in_memory(), in_memory());
    for ledger in [&ledgers.0, &ledgers.1] {
        (0..5).for_each(|number| execute(ledger, "s", &id(number), b"the same"));
    }
    execute(&ledgers.0, "s", &id(5), b"this");
    execute(&ledgers.1, "s", &id(5), b"that");
    assert_eq!(ledgers.0.origin(), ledgers.1.origin());
    assert_ne!(ledgers.0.checkpoint().unwrap().root(), ledgers.1.checkpoint().unwrap().root());
    ledgers
}

#[test]
fn what_continues_is_cosigned_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, forged) = two_histories();
    let stranger = Ledger::in_memory(SetClock::at(NOW), Arc::new(Counted(9.into()))).unwrap();
    execute(&stranger, "s", &id(0), b"x");
    let witness = witness(folder.path(), &[&ledger]);
    let own = witness.verifier_key();
    let add = |submission: &Submission| witness.add(&submission.to_string());

    let first = submission(&ledger, 0);
    let line = add(&first).unwrap();
    assert_eq!(own.cosigned(&first.checkpoint, &line), Some(NOW.unsigned_abs() / 1000));
    assert_eq!(
        witness.latest(&ledger.origin()).unwrap(),
        Some(format!("{}{line}", first.checkpoint))
    );

    // A repeated submission gets the existing cosignature, and nothing is added.
    assert_eq!(add(&submission(&ledger, 12)), Ok(line));

    let forked = submission(&forged, 12);
    let mut longer = submission(&ledger, 12);
    longer.proof.0.push(Digest::of_bytes(b"more"));
    let wrong = WitnessRefusal::Malformed;
    let lines: String = std::iter::repeat_n("A".repeat(43) + "=\n", 64).collect();
    let whole = first.to_string();
    for (name, body, expected) in [
        ("as if nothing had been seen", whole.clone(), WitnessRefusal::OtherSize(12)),
        ("from an earlier size", submission(&ledger, 5).to_string(), WitnessRefusal::OtherSize(12)),
        ("another history", forked.to_string(), WitnessRefusal::Forked),
        ("a proof too long", longer.to_string(), WitnessRefusal::Inconsistent),
        (
            "a stranger",
            submission(&stranger, 0).to_string(),
            WitnessRefusal::UnknownOrigin(stranger.origin()),
        ),
        ("another signature", whole.replace("\n12\n", "\n13\n"), WitnessRefusal::Unsigned),
        (
            "a proof from later",
            whole.replace("old 0\n", "old 13\n"),
            wrong("the old size is larger than the size of the checkpoint"),
        ),
        (
            "no size",
            whole.replace("old 0\n", "old 00\n"),
            wrong("its first line must be `old` followed by a size"),
        ),
        (
            "a sign",
            whole.replace("old 0\n", "old +0\n"),
            wrong("its first line must be `old` followed by a size"),
        ),
        (
            "no hash",
            whole.replace("old 0\n", "old 0\nAAAA\n"),
            wrong("a line of its proof is not a hash"),
        ),
        (
            "64 hashes",
            whole.replace("old 0\n", &format!("old 0\n{lines}")),
            wrong("its proof is too long"),
        ),
        (
            "no checkpoint",
            "old 0\n\nelse\n".to_owned(),
            wrong("the part after the empty line is not a checkpoint"),
        ),
        ("nothing", String::new(), wrong("it has no empty line")),
    ] {
        assert_eq!(witness.add(&body), Err(expected), "{name}");
    }

    assert_eq!(add(&forked), Err(WitnessRefusal::Forked));
    // The forged history continues, with a proof that is valid for it.
    execute(&forged, "s", &id(6), b"more");
    assert_eq!(add(&submission(&forged, 12)), Err(WitnessRefusal::Inconsistent));
    execute(&ledger, "s", &id(6), b"more");
    let later = submission(&ledger, 12);
    let line = add(&later).unwrap();
    assert!(own.cosigned(&later.checkpoint, &line).is_some());

    // The contradiction was stored once; an invalid proof is no evidence.
    let kept = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let kept =
        kept.into_iter().find(|path| path.extension().is_some_and(|e| e == "contradictions"));
    let kept = std::fs::read_to_string(kept.unwrap()).unwrap();
    assert_eq!(kept, forked.checkpoint.to_string());
}

/// A witness remembers its history when it is reopened, even after a crash.
#[test]
fn a_witness_remembers() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = in_memory();
    execute(&ledger, "s", &id(0), b"x");
    let first = witness(folder.path(), &[&ledger]);
    first.add(&submission(&ledger, 0).to_string()).unwrap();
    let (key, latest) = (first.verifier_key(), first.latest(&ledger.origin()).unwrap());
    drop(first);
    let file =
        folder.path().join(format!("{}.checkpoints", Digest::of_bytes(ledger.origin().as_bytes())));
    let whole = std::fs::read(&file).unwrap();
    execute(&ledger, "s", &id(1), b"y");
    let next = submission(&ledger, 2);
    let torn = format!("{}\u{2014} exam", next.checkpoint);
    let odd = [&torn.as_bytes()[..torn.len() - 5], b"\xe2\x80"].concat();
    let cuts = (0..=torn.len()).map(|cut| &torn.as_bytes()[..cut]).chain([&odd[..]]);
    for torn in cuts {
        std::fs::write(&file, [&whole[..], torn].concat()).unwrap();
        let again = witness(folder.path(), &[&ledger]);
        assert_eq!(
            (again.verifier_key(), again.latest(&ledger.origin()).unwrap()),
            (key.clone(), latest.clone())
        );
        again.add(&next.to_string()).unwrap();
        let read: Checkpoint = again.latest(&ledger.origin()).unwrap().unwrap().parse().unwrap();
        assert_eq!(read, next.checkpoint);
    }
    assert!(witness(folder.path(), &[]).add(&next.to_string()).is_err());
}

/// After a tampered history the latest checkpoint is unknown: nothing is cosigned, and nothing of
/// it is dropped.
#[test]
fn a_history_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = in_memory();
    execute(&ledger, "s", &id(0), b"x");
    witness(folder.path(), &[&ledger]).add(&submission(&ledger, 0).to_string()).unwrap();
    let file =
        folder.path().join(format!("{}.checkpoints", Digest::of_bytes(ledger.origin().as_bytes())));
    let first = std::fs::read_to_string(&file).unwrap();
    execute(&ledger, "s", &id(1), b"y");
    let second = submission(&ledger, 2);
    witness(folder.path(), &[&ledger]).add(&second.to_string()).unwrap();
    let whole = std::fs::read_to_string(&file).unwrap();
    let cosignature = whole.trim_end().rfind(' ').unwrap() + 1;
    let with = |at: usize, byte: &str| {
        [whole.get(..at).unwrap(), byte, whole.get(at + 1..).unwrap()].concat()
    };
    for (name, changed) in [
        ("another text", "Dear all,\n\nno.\n".to_owned()),
        ("zeros", "\0".repeat(whole.len())),
        ("the last cosignature", with(cosignature, "?")),
        ("the empty line of the first", whole.replacen("\n\n", "\n", 1)),
        ("something after it", format!("{whole}Dear all,\n")),
        ("something between", format!("{first}\nno\n\n{}", whole.get(first.len()..).unwrap())),
    ] {
        std::fs::write(&file, &changed).unwrap();
        let here = witness(folder.path(), &[&ledger]);
        let refused = [
            here.latest(&ledger.origin()).map(drop),
            here.add(&submission(&ledger, 0).to_string()).map(drop),
            here.add(&submission(&ledger, 2).to_string()).map(drop),
        ];
        for refused in refused {
            let is_expected = matches!(&refused, Err(WitnessRefusal::Storage(why)) if why.contains("was changed"));
            assert!(is_expected, "{name}: {refused:?}");
        }
        assert_eq!(std::fs::read_to_string(&file).unwrap(), changed, "{name}");
    }
}

/// A history is bounded: its older half is dropped, and the rest still counts.
#[test]
fn a_history_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = in_memory();
    execute(&ledger, "s", &id(0), b"x");
    let first = witness(folder.path(), &[&ledger]);
    first.add(&submission(&ledger, 0).to_string()).unwrap();
    let file =
        folder.path().join(format!("{}.checkpoints", Digest::of_bytes(ledger.origin().as_bytes())));
    let note = std::fs::read_to_string(&file).unwrap();
    let largest = 1024 * 1024;
    let many = note.repeat(largest / note.len());
    std::fs::write(&file, &many).unwrap();
    // Another witness that waits for the lock meanwhile gets the replacement file.
    let second = witness(folder.path(), &[&ledger]);
    let mut old = 2;
    for number in 1..4 {
        execute(&ledger, "s", &id(number), b"y");
        let next = submission(&ledger, old);
        let by = if number == 1 { &first } else { &second };
        by.add(&next.to_string()).unwrap();
        old = next.checkpoint.size();
        let latest: Checkpoint = first.latest(&ledger.origin()).unwrap().unwrap().parse().unwrap();
        assert_eq!(latest, next.checkpoint);
    }
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(
        kept.len() <= largest / 2 + 4 * note.len() && kept.len() > largest / 4,
        "{}",
        kept.len()
    );
    assert!(kept.starts_with(&note), "notes are whole");
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "the key and the history: {left:?}");
}

/// Of two concurrent submissions from the same size, one is cosigned.
#[test]
fn two_at_once_are_one_after_the_other() {
    let folder = tempfile::tempdir().unwrap();
    let (ledger, forged) = two_histories();
    let witnesses = [witness(folder.path(), &[&ledger]), witness(folder.path(), &[&ledger])];
    let bodies = [submission(&ledger, 0).to_string(), submission(&forged, 0).to_string()];
    let added = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|n| {
                let (witness, body) = (&witnesses[n % 2], &bodies[n / 4]);
                scope.spawn(move || witness.add(body).is_ok())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|added| *added).count()
    });
    assert_eq!(added, 1);
}
