//! Bundles keep every digit of a number, and older bundles still verify.

use std::path::Path;
use std::sync::Arc;

use counterfoil_ledger::{Bundle, Draft, Ledger, LedgerSettings, Provable};
use counterfoil_model::Digest;
use serde_json::json;

use crate::Desk;
use crate::bundle::{all_agree, closed, has_python, in_python, opened};
use crate::steady::{Counted, Ticking};

/// Numbers that exceed 64 bits and doubles, as a model wrote them.
const WRITTEN: &str = r#"{"most": 18446744073709551615, "id": 123456789012345678901234567890,
    "rate": 0.10000000000000000555, "tiny": 1e-400, "plain": [1.0, 1e2, 1E21]}"#;

/// The same numbers in a bundle.
const CANONICAL: &str = r#"{"id":123456789012345678901234567890,"most":18446744073709551615,"plain":[1,100,1e+21],"rate":0.10000000000000000555,"tiny":1e-400}"#;

/// Returns the bundle of a call with these arguments, and the key of its ledger.
fn bundle_of(state: &Path, arguments: &str) -> (String, Digest) {
    let id = "pay_1793620800000_00000001";
    let clock = Arc::new(Ticking::from(1_793_620_800_000));
    let randomness = Arc::new(Counted::from(7));
    let settings = LedgerSettings::default();
    let (ledger, _) = Ledger::open(&state.join("ledger.db"), settings, clock, randomness).unwrap();
    let mut draft: Draft = serde_json::from_value(opened(id, &json!({}))).unwrap();
    if let Draft::Opened(opened) = &mut draft {
        opened.arguments = serde_json::from_str(arguments).unwrap();
    }
    ledger.append("s", draft, Vec::new()).wait().unwrap();
    let draft = serde_json::from_value(closed(id, "completed", b"paid")).unwrap();
    ledger.append("s", draft, vec![b"paid".to_vec()]).wait().unwrap();
    let wanted = Provable::Session { name: "s".to_owned(), since: None };
    let bundle = Bundle::create(&ledger, &wanted, true).unwrap();
    (bundle.to_line().unwrap(), ledger.public_key().fingerprint())
}

#[test]
fn every_digit_is_in_a_bundle_and_another_one_is_found() {
    let desk = Desk::with(&[("state/.keep", "")]);
    let (line, key) = bundle_of(&desk.path().join("state"), WRITTEN);
    let quoted = CANONICAL.replace('"', "\\\"");
    assert_eq!(line.matches(CANONICAL).count(), 1, "in the receipt: {line}");
    assert_eq!(line.matches(&quoted).count(), 1, "in the event: {line}");
    assert!(line.ends_with(",\"version\":2}"), "{line}");
    let receipt = |was: &str, is: &str| line.replacen(CANONICAL, &CANONICAL.replace(was, is), 1);
    let wrong = "receipt `pay_1793620800000_00000001` does not match its events";
    let unlike = "the bundle was modified after it was written";
    let cases = [
        ("as it is", line.clone(), ""),
        ("a digit of an id", receipt("567890,", "567891,"), wrong),
        ("a digit of 64 bits", receipt("551615", "551614"), wrong),
        ("a digit of a fraction", receipt("0555", "0556"), wrong),
        ("a power of ten", receipt("1e-400", "1e-401"), wrong),
        (
            "a double in its place",
            receipt("123456789012345678901234567890", "1.2345678901234568e+29"),
            wrong,
        ),
        ("another spelling", receipt("[1,100,", "[1.0,100,"), unlike),
        ("a zero more", receipt("00555", "005550"), unlike),
        ("the digits of 10^21", receipt("1e+21", "1000000000000000000000"), unlike),
        ("too large for a double", receipt("1e+21", "1e+309"), unlike),
        (
            "a digit of the event",
            line.replacen(&quoted, &quoted.replace("567890,", "567891,"), 1),
            "event 0 is not in the signed tree",
        ),
        ("the other form", line.replacen(",\"version\":2}", ",\"version\":1}", 3), unlike),
    ];
    let names: Vec<String> = cases.iter().map(|case| case.0.to_owned()).collect();
    let bundles: Vec<_> = cases.iter().map(|case| (case.1.clone(), Some(key))).collect();
    for ((sound, rows), (name, _, says)) in
        all_agree(desk.path(), &names, &bundles).iter().zip(&cases)
    {
        assert_eq!(*sound, says.is_empty(), "{name}: {rows:#?}");
        assert!(
            says.is_empty() || rows.iter().any(|(_, row)| row.starts_with(says)),
            "{name}: {rows:#?}"
        );
    }
}

/// Made by a build before form 2, in which numbers of a model were doubles.
#[test]
fn a_bundle_in_form_1_still_verifies() {
    let desk = Desk::with(&[]);
    let golden = include_str!("../fixtures/bundles/form-1.json").trim_end();
    let key = "b38dc3f4e917183b049e9071115ff3f1eb3cee9b381623be01a31c4c69684ec1";
    let key = Digest::from_hex(key);
    assert!(golden.contains("\"message_id\":1234567890123456800,"), "{golden}");
    let cases = [
        (golden.to_owned(), true),
        (golden.replacen("456800,", "456801,", 1), false),
        (golden.replacen("1e+21", "1000000000000000000000", 2), false),
        (
            golden.replacen(
                "\"message_id\":1234567890123456800,",
                "\"message_id\":1234567890123456768,",
                1,
            ),
            false,
        ),
    ];
    let names: Vec<String> = (0..cases.len()).map(|case| case.to_string()).collect();
    let bundles: Vec<_> = cases.iter().map(|case| (case.0.clone(), key)).collect();
    for ((sound, rows), (_, expected)) in
        all_agree(desk.path(), &names, &bundles).iter().zip(&cases)
    {
        assert_eq!(sound, expected, "{rows:#?}");
    }
}

const IN_PYTHON: &str = "
import json, sys
sys.path.insert(0, '.')
import verify
for line in sys.stdin:
    text, form = json.loads(line)
    try:
        print(json.dumps(verify.canonical(verify.parsed(text), form)))
    except (ValueError, OverflowError):
        print(json.dumps('refused'))
";
/// The vectors of `spec/canonical-form.md`, which the model's own tests also read.
#[test]
fn the_verifier_has_the_same_canonical_forms() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../spec/canonical-form.md");
    let page = std::fs::read_to_string(page).unwrap();
    let rows = page.lines().filter_map(|line| {
        let cells = line.strip_prefix("| `")?.strip_suffix("` |")?;
        <[&str; 3]>::try_from(cells.split("` | `").collect::<Vec<_>>()).ok()
    });
    let cases: Vec<(&str, u32, &str)> = rows
        .flat_map(|[written, first, second]| [(written, 1, first), (written, 2, second)])
        .collect();
    assert!(cases.len() > 80, "{}", cases.len());
    let desk = Desk::with(&[]);
    if !has_python() {
        return;
    }
    let lines = cases.iter().map(|(written, form, _)| format!("{}\n", json!([written, form])));
    let printed = in_python(desk.path(), IN_PYTHON, lines.collect());
    assert_eq!(printed.len(), cases.len());
    for (printed, (written, form, expected)) in printed.iter().zip(&cases) {
        assert_eq!(printed, expected, "{written} in form {form}");
    }
}
