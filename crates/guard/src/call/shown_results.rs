use std::collections::BTreeMap;

use counterfoil_ledger::{Draft, ReadLedgerError};
use counterfoil_model::{Digest, canonical_bytes};

use crate::guard::Guard;
use crate::recording::Recorded;
use crate::session::Session;
use crate::timeline::{recorded_value, text_of};

impl Session {
    /// The results of the session's calls as the agent sees them, by execution id: filtered, cut
    /// and with the id, by the settings of this guard. The ledger has the recorded results only.
    /// A result that retention has dropped is left out.
    ///
    /// # Errors
    /// When the ledger cannot be read.
    pub fn shown_results(&self) -> Result<BTreeMap<String, String>, ReadLedgerError> {
        let (guard, ledger) = (self.guard(), self.guard().ledger());
        let (mut open, mut closed) = (BTreeMap::new(), BTreeMap::new());
        let mut results = BTreeMap::new();
        for event in ledger.events(self.id())? {
            match event.draft {
                Draft::Opened(opened) => drop(open.insert(opened.execution_id.clone(), opened)),
                Draft::Closed(end) => {
                    let Some(opened) = open.remove(&end.execution_id) else { continue };
                    closed.insert(end.execution_id.clone(), (opened, end, None));
                }
                Draft::Shown { execution_id, digest, shown_bytes, .. } => {
                    if let Some((.., shown)) = closed.get_mut(&execution_id) {
                        *shown = Some((digest, shown_bytes));
                    }
                }
                Draft::Rejected(rejected) => {
                    results.insert(rejected.call.execution_id, rejected.answer);
                }
                _ => {}
            }
        }
        for (id, (opened, closed, shown)) in closed {
            let Some(bytes) = ledger.result(&closed.recorded_digest)? else { continue };
            let recorded = Recorded { opened, closed, text: text_of(bytes), structured: None };
            results.insert(id, guard.show_again(recorded, shown));
        }
        Ok(results)
    }
}

impl Guard {
    /// What the agent sees of a result that was read from the ledger. The ledger does not say
    /// whether the tool returned JSON or a text that looks like it, or how much the executor would
    /// show. `shown`, the digest and the bytes of what the agent saw, tells which it was; if none
    /// fits, canonical JSON counts as JSON, and a text is cut to as many characters as bytes were shown.
    fn show_again(&self, recorded: Recorded, shown: Option<(Digest, u64)>) -> String {
        let is_shown = |text: &String| {
            shown.is_some_and(|(digest, _)| Digest::of_bytes(text.as_bytes()) == digest)
        };
        let text = self.show(&recorded, None).text;
        let value = recorded_value(&recorded.text);
        if is_shown(&text) {
            return text;
        }
        let most = shown.and_then(|(_, bytes)| usize::try_from(bytes).ok());
        let shortened = self.show(&recorded, most.filter(|most| *most > 0)).text;
        if value.is_string() {
            return shortened;
        }
        let canonical = canonical_bytes(&value) == recorded.text.as_bytes();
        let json = self.show(&Recorded { structured: Some(value), ..recorded }, None).text;
        if canonical || is_shown(&json) { json } else { shortened }
    }
}
