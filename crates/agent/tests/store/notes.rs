//! Notes: what is kept, what is refused, what is gone.

use counterfoil_agent::{LONGEST_NOTE, Note, NoteError, NoteId, NoteOrigin, Store};

use super::note;

#[test]
fn a_note_comes_back_as_it_was() {
    let store = Store::in_memory().unwrap();
    for origin in [NoteOrigin::User, NoteOrigin::Agent] {
        let note = Note {
            text: format!(" \n said by {origin:?}\t"),
            session: Some("s-1".to_owned()),
            origin,
            at: 42,
        };
        let id = store.save(&note, None).unwrap();
        let kept = store.list(1).unwrap().pop().unwrap();
        assert_eq!(kept.id, id);
        assert_eq!(kept.note, Note { text: format!("said by {origin:?}"), ..note });
    }
    assert_eq!(store.list(9).unwrap().len(), 2);
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
        (&format!("{most}x"), Err(NoteError::TooLong(LONGEST_NOTE + 1))),
        // A text that was there already has used up a number.
        ("a\0b", Ok(NoteId(4))),
        ("a\0c", Ok(NoteId(5))),
    ];
    for (text, expected) in cases {
        assert_eq!(store.save(&note(text), None), expected);
    }
    assert_eq!(store.list(1).unwrap().first().map(|kept| kept.note.text.as_str()), Some("a\0c"));
}

#[test]
fn a_text_is_stored_once() {
    let store = Store::in_memory().unwrap();
    let id = store.save(&note("likes tea"), None).unwrap();
    let again = Note { origin: NoteOrigin::Agent, at: 9, ..note(" likes tea ") };
    assert_eq!(store.save(&again, Some(&[1.0, 0.0])), Ok(id));
    assert_eq!(store.save(&again, Some(&[0.0, 1.0])), Ok(id));
    assert_ne!(store.save(&note("Likes tea"), None), Ok(id));
    let kept = store.list(9).unwrap().pop().unwrap().note;
    assert_eq!((kept.origin, kept.at), (NoteOrigin::User, 1_700_000_000_000));
    // The first vector stayed.
    let found = store.search("", Some(&[1.0, 0.0]), 9).unwrap();
    assert_eq!(found.iter().map(|found| found.kept.id).collect::<Vec<_>>(), [id]);
}

#[test]
fn a_note_whose_vector_is_of_no_use_is_kept_without_it() {
    let store = Store::in_memory().unwrap();
    for (text, vector) in [("first", &[f32::NAN][..]), ("second", &[]), ("third", &[1.0])] {
        store.save(&note(text), Some(vector)).unwrap();
    }
    assert_eq!(store.list(9).unwrap().len(), 3);
    let found = store.search("", Some(&[1.0]), 9).unwrap();
    assert_eq!(
        found.iter().map(|found| found.kept.note.text.as_str()).collect::<Vec<_>>(),
        ["third"]
    );
}

#[test]
fn no_limit_is_too_large() {
    let store = Store::in_memory().unwrap();
    store.save(&note("one"), Some(&[1.0])).unwrap();
    assert_eq!(store.list(usize::MAX).unwrap().len(), 1);
    assert_eq!(store.search("one", Some(&[1.0]), usize::MAX).unwrap().len(), 1);
}
