use counterfoil_judge::{Ask, Case, OpinionLine, digest};
use counterfoil_record::Record;

use crate::scene::{contradicted, opinion, session};

#[test]
fn a_digest_is_of_case_and_model() {
    let digest_of = |answer: &str, model: &str| {
        let transcript = session("Hi.", &[("look", "{}", "x 5")], answer);
        let record = Record::of(&transcript);
        digest(&Case::of(record.up_to(3), &Ask::default()).unwrap(), model)
    };
    assert_eq!(digest_of("It is 5.", "m"), digest_of("It is 5.", "m"));
    assert_ne!(digest_of("It is 5.", "m"), digest_of("It is 6.", "m"));
    assert_ne!(digest_of("It is 5.", "m"), digest_of("It is 5.", "n"));
}

#[test]
fn a_line_is_read_as_it_was_written() {
    let transcript = session("Hi.", &[("look", "{}", "x 5")], "It is 6.");
    let record = Record::of(&transcript);
    let case = Case::of(record.up_to(3), &Ask::default()).unwrap();
    let line = OpinionLine::new(&case, "m", opinion(vec![contradicted("is 6", "R1", "x 5")]));
    let text = line.write().unwrap();
    assert_eq!(OpinionLine::read(&text).unwrap(), line);
    for (wrong, expected) in [
        (
            text.replace("\"version\":1", "\"version\":2"),
            "version 2 of a line of opinions is not known",
        ),
        (text.replace("0.9", "9"), "no opinion: the reply does not have the form"),
        (text.replace("\"findings\"", "\"x\""), "no opinion"),
        (String::new(), "no opinion"),
        (text.replace("\"digest\":\"", "\"digest\":\"0"), "no opinion"),
    ] {
        let error = OpinionLine::read(&wrong).unwrap_err().to_string();
        assert!(error.starts_with(expected), "{error}, expected {expected}");
    }
}
