//! Verifies a bundle, by itself and with a key from elsewhere.
//!
//! INVARIANT: the verifier that goes with a bundle, in Python, reports the same in the same words.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_model::{
    CanonicalForm, Digest, JsonLimits, Status, canonical_bytes_of, canonical_text,
};
use serde_json::Value;

use super::verification::{BundleVerification, Placed, shown};
use super::{Bundle, NoBundle, Sums, named, sessions};
use crate::body;
use crate::event::{Draft, Event};
use crate::export::ExportedEvent;
use crate::key::PublicKey;
use crate::note::Note;
use crate::receipt::Receipt;

/// The content of an event of a known version.
enum EventContent {
    /// An event of a known kind.
    Known(Box<Event>),
    /// An event of a later kind.
    Unknown(String),
}

impl BundleVerification {
    /// Verifies the line of a bundle, with the fingerprint of a key from elsewhere if one is given.
    ///
    /// # Errors
    /// When the line is not a bundle, so that nothing can be checked.
    pub fn run(line: &str, given: Option<&Digest>) -> Result<Self, NoBundle> {
        let mut found = Self::default();
        let Some(bundle) = Bundle::read(line) else {
            if let Some(no_bundle) = NoBundle::diagnose(line) {
                return Err(no_bundle);
            }
            found.broken("the bundle was modified after it was written");
            return Ok(found);
        };
        found.check_keys(&bundle, given);
        let (places, events) = found.check_events(&bundle);
        sessions::check(&bundle, &places, &mut found);
        found.check_receipts(&bundle, &events);
        found.check_results(&bundle, &events);
        Ok(found)
    }

    /// Checks that each key is certified by the one before, and that one of them signed the
    /// checkpoint.
    fn check_keys(&mut self, bundle: &Bundle, given: Option<&Digest>) {
        let origin = bundle.checkpoint.split('\n').next().unwrap_or_default();
        let mut keys: Vec<(u64, PublicKey)> = Vec::new();
        for (at, text) in bundle.keys.iter().enumerate() {
            match vouched(text, origin, at, keys.last()) {
                Some(key) => keys.push(key),
                None => {
                    return self.broken(format!("key {at} is not certified by the previous key"));
                }
            }
        }
        let head = Head::parse(&bundle.checkpoint);
        let number = head.size.and_then(|size| keys.iter().rposition(|(since, _)| *since <= size));
        let signer = number.and_then(|number| Some((number, keys.get(number)?.1)));
        let signed = signer.filter(|(_, key)| {
            signed_lines(&bundle.checkpoint, key).is_some_and(|lines| lines.len() == 3)
        });
        let Some((number, key)) = signed else {
            return self.broken("the checkpoint is not signed by the key in use at that time");
        };
        let (size, own) = (head.size.unwrap_or_default(), key.fingerprint());
        self.holds(format!(
            "the checkpoint of {} is signed by key {number} of {}: sha256:{own}",
            counted(size, "event"),
            shown(origin),
        ));
        let mut earlier = keys.iter().take(number);
        match given {
            None => self.open(
                "no separately obtained public key was given: only the consistency of the bundle \
                 was checked, which a forged bundle also passes",
            ),
            Some(given) if *given == own => {
                self.holds("that key is the separately obtained public key");
            }
            Some(given) if earlier.any(|(_, key)| key.fingerprint() == *given) => {
                self.holds("the separately obtained public key certified that key");
            }
            Some(_) => self.broken(
                "that key is neither the separately obtained public key nor one certified by it",
            ),
        }
    }

    /// Checks that the events are in the signed tree. Returns their places, and the events that
    /// could be read.
    fn check_events(&mut self, bundle: &Bundle) -> (Vec<Placed>, Vec<Event>) {
        let head = Head::parse(&bundle.checkpoint);
        let (mut places, mut events): (Vec<Placed>, Vec<Event>) = (Vec::new(), Vec::new());
        for exported in &bundle.events {
            let seq = exported.seq;
            let before = places.last();
            if let Some(before) = before.filter(|before| seq <= before.seq) {
                let before = before.seq;
                self.broken(format!(
                    "event {seq} is out of order: it is listed after event {before}"
                ));
            } else if !head.holds(exported) {
                self.broken(format!("event {seq} is not in the signed tree"));
            } else if let Some((place, content)) = event_of(exported) {
                let follows = before.is_some_and(|before| before.seq + 1 == seq);
                if follows && before.is_some_and(|before| place.previous != before.digest) {
                    self.broken(format!("event {seq} does not continue the previous event"));
                }
                places.push(place);
                match content {
                    EventContent::Known(event) => events.push(*event),
                    EventContent::Unknown(kind) => self.open(format!(
                        "event {seq} has the unknown kind {}: its content was not checked",
                        shown(&kind)
                    )),
                }
            } else {
                self.broken(format!("event {seq} is not a valid event of version 1 or 2"));
            }
        }
        if bundle.events.is_empty() {
            self.open("the bundle is empty: it has no events, and therefore no receipts");
        } else if places.len() == bundle.events.len() {
            let events = counted(places.len() as u64, "event");
            self.holds(format!("{events} in the signed tree, unmodified"));
        }
        self.events = places.len();
        (places, events)
    }

    /// Checks that each receipt is the sum of its events.
    fn check_receipts(&mut self, bundle: &Bundle, events: &[Event]) {
        let sums = Sums::from_events(events);
        for id in &sums.twice {
            self.broken(format!("execution {} began twice", shown(id)));
        }
        for (seq, id) in &sums.headless {
            let id = shown(id);
            self.open(format!("event {seq}: the start of its execution {id} is not in the bundle"));
        }
        let sums = sums.receipts;
        let names = bundle
            .receipts
            .iter()
            .map(|one| (one.get("execution_id").and_then(Value::as_str), one));
        let by_name: BTreeMap<_, _> = names.collect();
        let wrong = |receipt: &&Receipt| {
            let written = by_name.get(&Some(receipt.execution_id.as_str()));
            canonical_bytes_of(receipt).ok()
                != written.and_then(|written| canonical_bytes_of(written).ok())
        };
        let wrong: Vec<&Receipt> = sums.iter().filter(wrong).collect();
        for receipt in &wrong {
            let id = shown(&receipt.execution_id);
            self.broken(format!("receipt {id} does not match its events"));
        }
        let others = bundle.receipts.len().saturating_sub(sums.len());
        if others > 0 {
            let others = counted(others as u64, "other receipt");
            self.broken(format!("{others}: their events are not in the bundle"));
        } else if wrong.is_empty() && !sums.is_empty() {
            if canonical_bytes_of(&sums).ok() == canonical_bytes_of(&bundle.receipts).ok() {
                let receipts = counted(sums.len() as u64, "receipt");
                self.holds(format!("{receipts} consistent with the events"));
            } else {
                self.broken("the receipts are not in the same order as their events");
            }
        }
        let unfinished = sums.iter().filter(|receipt| receipt.status == Status::Open).count();
        if unfinished > 0 {
            let unfinished = counted(unfinished as u64, "receipt");
            self.open(format!(
                "{unfinished} without an end event: the event is not in the bundle, or the \
                 execution had not ended yet"
            ));
        }
        self.receipts = sums;
    }

    /// Checks that texts and results match the digests that were recorded.
    fn check_results(&mut self, bundle: &Bundle, events: &[Event]) {
        let named = named(events);
        let (mut good, mut before) = (0, None);
        for result in &bundle.results {
            let digest = result.digest;
            let fits = result.bytes().is_some_and(|bytes| Digest::of_bytes(&bytes) == digest);
            if !fits || before.is_some_and(|before| digest <= before) {
                self.broken(format!("result {digest} differs from what was recorded"));
            } else if named.contains(&digest) {
                good += 1;
            } else {
                self.broken(format!("no event refers to result {digest}"));
            }
            before = Some(digest);
        }
        if good > 0 {
            let results = counted(good, "result");
            self.holds(format!("{results} with a matching digest"));
        }
        let missing = (named.len() as u64).saturating_sub(good);
        if missing > 0 {
            let missing = counted(missing, "result");
            self.open(format!("missing from the bundle: {missing}, recorded only as a digest"));
        }
    }
}

/// The size and root of a checkpoint, regardless of who signed it.
struct Head {
    size: Option<u64>,
    root: Option<Digest>,
}

impl Head {
    fn parse(checkpoint: &str) -> Self {
        let mut lines = checkpoint.split('\n').skip(1);
        let size = lines.next().and_then(plain_number);
        let root = lines.next().and_then(|root| STANDARD.decode(root).ok());
        let root = root.and_then(|root| Some(Digest::from_bytes(root.try_into().ok()?)));
        Self { size, root }
    }

    fn holds(&self, ExportedEvent { seq, body, proof }: &ExportedEvent) -> bool {
        let (Some(size), Some(root)) = (self.size, self.root) else { return false };
        proof.holds(&Digest::of_bytes(body.as_bytes()), *seq, size, &root)
    }
}

/// Parses a number as written in checkpoints, below 10^15.
fn plain_number(text: &str) -> Option<u64> {
    let number = text.parse().ok()?;
    (number < 1_000_000_000_000_000 && format!("{number}") == text).then_some(number)
}

/// The event with these bytes, if they are its canonical form.
fn event_of(exported: &ExportedEvent) -> Option<(Placed, EventContent)> {
    let bytes = exported.body.as_bytes();
    let outline = body::Outline::read(bytes).ok()?;
    let form = CanonicalForm::of_version(outline.version)?;
    let canonical = canonical_text(&exported.body, form, JsonLimits::RECORDED).ok()?;
    if outline.seq != exported.seq || canonical != bytes {
        return None;
    }
    let content = if Draft::is_known(&outline.draft.event) {
        EventContent::Known(Box::new(body::read(bytes).ok()?))
    } else {
        EventContent::Unknown(outline.draft.event.to_string())
    };
    let place = Placed {
        seq: outline.seq,
        session: outline.session.to_string(),
        session_seq: outline.session_seq,
        ends: matches!(&content, EventContent::Known(event) if event.draft == Draft::Ended),
        previous: outline.previous,
        digest: Digest::of_bytes(bytes),
    };
    Some((place, content))
}

/// The lines of a note that has exactly one signature, made with this key under the name in its
/// first line.
fn signed_lines(text: &str, key: &PublicKey) -> Option<Vec<String>> {
    let note: Note = text.parse().ok()?;
    let name = note.text().split('\n').next()?;
    let good = note.has_one_signature() && note.to_string() == text && note.is_signed_by(name, key);
    good.then(|| note.text().lines().map(str::to_owned).collect())
}

/// The key that a note certifies and the size from which it signs, if the key before it signed the
/// note.
fn vouched(
    text: &str,
    origin: &str,
    at: usize,
    before: Option<&(u64, PublicKey)>,
) -> Option<(u64, PublicKey)> {
    let public = STANDARD.decode(text.split('\n').nth(4)?).ok()?;
    let public = PublicKey::from_bytes(public.try_into().ok()?);
    let lines = signed_lines(text, before.map_or(&public, |(_, key)| key))?;
    let [name, what, number, since, _] = lines.as_slice() else { return None };
    let since = plain_number(since)?;
    let fits = (name.as_str(), what.as_str()) == (origin, "key") && *number == at.to_string();
    let later = before.is_none_or(|(before, _)| since >= *before);
    (fits && later).then_some((since, public))
}

/// A number with its noun in the right grammatical number.
fn counted(count: u64, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        _ => format!("{count} {noun}s"),
    }
}
