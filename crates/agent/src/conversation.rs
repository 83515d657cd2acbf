use std::collections::{BTreeMap, BTreeSet};

use counterfoil_guard::{ReadLedgerError, Session, ShowId};
use counterfoil_model::{Message, MessageKind, Role, ToolCall};
use counterfoil_providers::Turn;

/// What the model gets to read of the session: what was said and done since the last compression,
/// and the summaries of what went before.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    pub(crate) turns: Vec<Turn>,
    pub(crate) knowledge: Vec<String>,
    /// Where the present turn of the user begins: what goes before can be compressed.
    pub(crate) present: usize,
    /// How many messages to the model went with what was compressed.
    pub(crate) compressed: usize,
}

/// What the result of a call says that has none.
const INTERRUPTED: &str = "This call was interrupted; its result is unknown.";

impl Conversation {
    /// The conversation of a session as it is recorded, with the results as the model saw them.
    /// `knowledge` has the summaries of the first messages to the model, which are compressed
    /// already.
    ///
    /// # Errors
    /// When the session's record cannot be read.
    pub fn from_session(
        session: &Session,
        compressed: usize,
        knowledge: Vec<String>,
    ) -> Result<Self, ReadLedgerError> {
        let (transcript, mut shown) = (session.transcript()?, session.shown_results()?);
        // The transcript has one receipt for each call, in the same order.
        let mut receipts = transcript.receipts.iter().flatten();
        let mut ids = BTreeMap::new();
        let mut turns = Vec::new();
        let mut to_the_model = 0;
        let main =
            |message: &&Message| message.agent.is_none() && message.kind == MessageKind::Ordinary;
        for message in &transcript.messages {
            for (call, receipt) in message.calls.iter().zip(&mut receipts) {
                ids.insert(&call.id, &receipt.id);
            }
            if !main(&message) {
                continue;
            }
            to_the_model += usize::from(matches!(message.role, Role::User | Role::System));
            if to_the_model <= compressed {
                continue;
            }
            for outcome in &message.outcomes {
                let id = ids.get(&outcome.call_id).map_or("", |id| id.as_str());
                let text = shown.remove(id).unwrap_or_else(|| outcome.text.clone());
                turns.push(Turn::Result {
                    call_id: outcome.call_id.clone(),
                    text: with_execution_id(text, id),
                    failed: outcome.is_error == Some(true) || outcome.refused,
                });
            }
            match message.role {
                Role::User | Role::System => turns.push(Turn::User(message.text.clone())),
                Role::Assistant => turns.push(Turn::Assistant {
                    text: message.text.clone(),
                    calls: message.calls.clone(),
                    kept: Vec::new(),
                }),
                Role::Tool => {}
            }
        }
        let mut conversation = Self { turns, knowledge, present: 0, compressed };
        conversation.repair();
        conversation.present = conversation.turns.len();
        Ok(conversation)
    }

    /// The entries, the newest last.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.turns
    }

    /// The summaries of what was compressed, the oldest first.
    #[must_use]
    pub fn knowledge(&self) -> &[String] {
        &self.knowledge
    }

    /// Gives every call a result right after it, and drops results of calls that are not there:
    /// no server takes anything else, and a turn may have been broken off anywhere.
    pub(crate) fn repair(&mut self) {
        let mut whole = Vec::with_capacity(self.turns.len());
        let mut open: Vec<String> = Vec::new();
        let close = |whole: &mut Vec<Turn>, open: &mut Vec<String>| {
            whole.extend(open.drain(..).map(|call_id| Turn::Result {
                call_id,
                text: INTERRUPTED.to_owned(),
                failed: true,
            }));
        };
        for turn in std::mem::take(&mut self.turns) {
            if let Turn::Result { call_id, .. } = &turn {
                if let Some(at) = open.iter().position(|open| open == call_id) {
                    open.remove(at);
                    whole.push(turn);
                }
                continue;
            }
            close(&mut whole, &mut open);
            if let Turn::Assistant { calls, .. } = &turn {
                open.extend(calls.iter().map(|call| call.id.clone()));
            }
            whole.push(turn);
        }
        close(&mut whole, &mut open);
        self.turns = whole;
    }

    /// About how many tokens it has: a quarter of its bytes.
    pub(crate) fn tokens(&self) -> u64 {
        let of = |turn: &Turn| match turn {
            Turn::User(text) | Turn::Result { text, .. } => text.len(),
            Turn::Assistant { text, calls, .. } => {
                let arguments = calls.iter().map(|call| call.arguments.as_str().len());
                text.len() + arguments.sum::<usize>()
            }
        };
        let bytes: usize = self.turns.iter().map(of).sum();
        let known: usize = self.knowledge.iter().map(String::len).sum();
        u64::try_from((bytes + known) / 4).unwrap_or(u64::MAX)
    }

    /// The user says something: another turn begins.
    pub(crate) fn begin(&mut self, text: String) {
        self.end();
        self.turns.push(Turn::User(text));
    }

    /// The turn is over, however it ended.
    pub(crate) fn end(&mut self) {
        self.repair();
        self.present = self.turns.len();
    }

    /// Forgets everything. Gives how many messages to the model are gone.
    pub(crate) fn forget(&mut self) -> usize {
        let everything = self.turns.len();
        self.compress(everything, String::new());
        self.knowledge.clear();
        self.compressed
    }

    /// Replaces the first entries, as many as are given, by a summary.
    pub(crate) fn compress(&mut self, entries: usize, summary: String) {
        let gone = self.turns.drain(..entries.min(self.turns.len()));
        self.compressed += gone.filter(|turn| matches!(turn, Turn::User(_))).count();
        self.present = self.present.saturating_sub(entries);
        self.knowledge.push(summary);
    }
}

/// A result as the model reads it: always with the id of its receipt, which it can cite.
pub(crate) fn with_execution_id(text: String, id: &str) -> String {
    if text.contains(id) { text } else { ShowId::Trailer.show(&text, None, id, "", "") }
}

/// Every call with an id of its own: models repeat ids, or give none.
pub(crate) fn with_own_ids(calls: &mut [ToolCall], used: &mut BTreeSet<String>) {
    for call in calls {
        let wanted = if call.id.is_empty() { "call" } else { &call.id };
        let mut id = wanted.to_owned();
        let mut number = 1;
        while used.contains(&id) || id == "call" {
            number += 1;
            id = format!("{wanted}_{number}");
        }
        used.insert(id.clone());
        call.id = id;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_is_followed_by_one_result() {
        let call = |id: &str| ToolCall::new(id, "ls", "{}");
        let says = |calls: &[&str]| Turn::Assistant {
            text: String::new(),
            calls: calls.iter().map(|id| call(id)).collect(),
            kept: Vec::new(),
        };
        let result = |id: &str, text: &str| Turn::Result {
            call_id: id.to_owned(),
            text: text.to_owned(),
            failed: text == INTERRUPTED,
        };
        let user = || Turn::User("x".to_owned());
        for (turns, expected) in [
            (
                vec![says(&["a", "b"]), result("a", "1"), user()],
                vec![says(&["a", "b"]), result("a", "1"), result("b", INTERRUPTED), user()],
            ),
            (vec![result("a", "1"), user()], vec![user()]),
            (
                vec![says(&["a"]), result("a", "1"), result("a", "2")],
                vec![says(&["a"]), result("a", "1")],
            ),
            (vec![says(&["a"])], vec![says(&["a"]), result("a", INTERRUPTED)]),
        ] {
            let mut conversation = Conversation { turns, ..Conversation::default() };
            conversation.repair();
            assert_eq!(conversation.turns, expected);
        }
    }

    #[test]
    fn ids_are_made_different() {
        let mut calls: Vec<ToolCall> =
            ["a", "a", "", "", "b"].iter().map(|id| ToolCall::new(*id, "ls", "{}")).collect();
        let mut used = BTreeSet::from(["b".to_owned()]);
        with_own_ids(&mut calls, &mut used);
        let ids: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["a", "a_2", "call_2", "call_3", "b_2"]);
    }
}
