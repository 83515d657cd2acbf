//! Notes: what is kept, what is refused, what is gone.

use counterfoil_agent::{LONGEST_NOTE, Note, NoteError, NoteId, NoteOrigin, Store, StoredNote};

use super::{note, open, place};

#[test]
fn a_note_comes_back_as_it_was() {
    let store = Store::in_memory().unwrap();
    for origin in [NoteOrigin::User, NoteOrigin::Agent, NoteOrigin::Tool("web_fetch".to_owned())] {
        let note = Note {
            text: format!(" \n said by {origin:?}\t"),
            session: Some("s-1".to_owned()),
            origin: origin.clone(),
            at: 42,
        };
        let id = store.save(&note, None).unwrap();
        let expected = StoredNote {
            id,
            text: format!("said by {origin:?}"),
            origin,
            session: Some("s-1".to_owned()),
            at: 42,
        };
        assert_eq!(store.list(1).unwrap(), [expected]);
    }
    assert_eq!(store.count(), Ok(3));
}

#[test]
fn lengths() {
    let store = Store::in_memory().unwrap();
    let most = "é".repeat(LONGEST_NOTE / 2);
    let cases = [
        ("", Err(NoteError::Empty)),
        (" \u{3000}\n", Err(NoteError::Empty)),
        ("x", Ok(NoteId(1))),
        (most.as_str(), Ok(NoteId(2))),
        (&format!("  {most}  "), Ok(NoteId(2))),
        (&format!("{most}x"), Err(NoteError::TooLong { bytes: LONGEST_NOTE + 1 })),
        ("a\0b", Ok(NoteId(3))),
        ("a\0c", Ok(NoteId(4))),
    ];
    for (text, expected) in cases {
        assert_eq!(store.save(&note(text), None), expected);
    }
    assert_eq!(store.list(1).unwrap().first().map(|note| note.text.as_str()), Some("a\0c"));
}

#[test]
fn a_text_is_stored_once() {
    let store = Store::in_memory().unwrap();
    let id = store.save(&note("likes tea"), None).unwrap();
    let again = Note { origin: NoteOrigin::Tool("mail".to_owned()), at: 9, ..note(" likes tea ") };
    assert_eq!(store.save(&again, Some(&[1.0, 0.0])), Ok(id));
    assert_eq!(store.save(&again, Some(&[0.0, 1.0])), Ok(id));
    assert_ne!(store.save(&note("Likes tea"), None), Ok(id));
    let kept = store.list(9).unwrap().pop().unwrap();
    assert_eq!((kept.origin, kept.at), (NoteOrigin::User, 1_700_000_000_000));
    // The first vector stayed.
    let found = store.search("", Some(&[1.0, 0.0]), 9).unwrap();
    assert_eq!(found.iter().map(|found| found.id).collect::<Vec<_>>(), [id]);
}

#[test]
fn vectors_come_later() {
    let store = Store::in_memory().unwrap();
    let first = store.save(&note("first"), None).unwrap();
    let second = store.save(&note("second"), Some(&[1.0])).unwrap();
    let third = store.save(&note("third"), None).unwrap();
    let without = || -> Vec<NoteId> {
        store.without_vector(9).unwrap().into_iter().map(|note| note.id).collect()
    };
    assert_eq!(without(), [first, third]);
    assert_eq!(store.set_vector(first, &[0.0, 1.0]), Ok(true));
    assert_eq!(store.set_vector(second, &[0.0, 1.0]), Ok(true));
    assert_eq!(store.set_vector(NoteId(99), &[0.0, 1.0]), Ok(false));
    assert_eq!(store.set_vector(third, &[]), Err(NoteError::Vector));
    assert_eq!(store.save(&note("fourth"), Some(&[f32::NAN])), Err(NoteError::Vector));
    assert_eq!(without(), [third]);
    assert_eq!(store.search("", Some(&[0.0, 1.0]), 9).unwrap().len(), 2);
    assert_eq!(store.without_vector(0).unwrap(), []);
    assert_eq!(store.count(), Ok(3));
}

#[test]
fn what_is_forgotten_is_gone_from_the_file() {
    let (_folder, path) = place();
    let store = open(&path);
    store.save(&note("the harmless one"), None).unwrap();
    let id = store.save(&note("Xylophonistin plays zzyzx"), Some(&[1.0, 2.0])).unwrap();
    for number in 0..50 {
        store.save(&note(&format!("another note {number}")), None).unwrap();
    }
    drop(store);
    let holds = |bytes: &[u8], word: &str| {
        bytes.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word.as_bytes()))
    };
    assert!(holds(&std::fs::read(&path).unwrap(), "xylophonistin"));

    let store = open(&path);
    assert_eq!(store.forget(id), Ok(true));
    assert_eq!(store.forget(id), Ok(false));
    assert_eq!(store.search("Xylophonistin ophonis", Some(&[1.0, 2.0]), 9).unwrap(), []);
    assert_eq!(store.check(), Ok(()));
    let next = store.save(&note("another one"), None).unwrap();
    assert!(next > id);
    drop(store);
    let left = std::fs::read(&path).unwrap();
    assert!(holds(&left, "harmless"));
    for word in ["xylophon", "ophonistin", "zzyzx"] {
        assert!(!holds(&left, word), "{word}");
    }
    assert!(!path.with_file_name("agent.sqlite-wal").exists());
}

#[test]
fn no_limit_is_too_large() {
    let store = Store::in_memory().unwrap();
    store.save(&note("one"), Some(&[1.0])).unwrap();
    assert_eq!(store.list(usize::MAX).unwrap().len(), 1);
    assert_eq!(store.search("one", Some(&[1.0]), usize::MAX).unwrap().len(), 1);
    assert_eq!(store.without_vector(usize::MAX).unwrap(), []);
}
