//! Results that are presented without an execution id.

use super::Bench;
use crate::citation::compare::difference;
use crate::citation::fault::Fault;
use crate::citation::presented::{has_result_member, presents_result};
use crate::citation::stated::{Cited, Setting, Stated, cited};
use crate::prose::sets;
use crate::tool_use::same;

impl Bench<'_, '_> {
    /// Whether an object presents a tool's result without the id that it should carry.
    pub(super) fn missing_id(&self, stated: &Stated, cited: &Cited, turn: usize) -> Option<Fault> {
        let tool = stated.tool.as_deref()?;
        if stated.setting == Setting::Code || !presents_result(stated) {
            return None;
        }
        let at_hand = self.register.shows_ids(turn);
        let known_tool = self.register.has_tool(tool);
        // An id next to the object counts.
        let beside = cited.ids.iter().any(|mention| {
            self.register
                .get(&mention.id, turn)
                .is_some_and(|known| known.tools.iter().any(|t| same(t, tool)))
        });
        if beside || self.is_quoted(stated, turn) {
            return None;
        }
        let invoked = self
            .facts
            .deeds_before(turn)
            .any(|(execution, deed)| same(execution.tool(), tool) || same(&deed.tool, tool));
        if invoked && !at_hand {
            return self.returned_by_none(stated, tool, turn);
        }
        let of_execution = matches!(stated.tool_key, "toolname" | "commandexecuted");
        let asserted = stated.headed
            || (known_tool && of_execution)
            || (known_tool && has_result_member(stated))
            || (!known_tool && self.is_of_no_tool(stated, tool, turn));
        if !asserted {
            return None;
        }
        let complete = self.facts.is_complete_before(turn)
            && (known_tool || stated.headed || self.facts.transcript().catalog.is_known());
        // In a longer answer, a block may be an example.
        let is_answer =
            || cited.only_fence && known_tool && of_execution && !self.asked_for_data(turn);
        let presented = stated.headed || stated.setting == Setting::Plain || is_answer();
        (complete && presented).then(|| Fault::MissingId { tool: tool.to_owned() })
    }

    /// For a tool whose executions have no ids that could be cited: the number that differs from the
    /// latest result, if it differs from all. Words may summarise.
    fn returned_by_none(&self, stated: &Stated, tool: &str, turn: usize) -> Option<Fault> {
        let stands = stated.headed || stated.alone && stated.setting == Setting::Plain;
        if !stands || !self.facts.is_complete_before(turn) {
            return None;
        }
        let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
        let mut numbers = stated.rest.clone();
        numbers.retain(|_, value| value.is_number() || value.as_str().is_some_and(is_number));
        let mut latest = None;
        for (execution, deed) in self.facts.deeds_before(turn) {
            if same(execution.tool(), tool) || same(&deed.tool, tool) {
                let text = execution.text();
                let recorded = serde_json::from_str(text).unwrap_or_else(|_| text.into());
                let found = difference(&numbers, &recorded)?;
                if !is_number(&found.recorded) {
                    return None;
                }
                latest.get_or_insert(found);
            }
        }
        latest.map(Fault::Altered)
    }

    /// Whether a standalone object presents a result of something that is named like a tool but is
    /// not one: no earlier text mentions it, and the user did not ask for data in any format.
    fn is_of_no_tool(&self, stated: &Stated, tool: &str, turn: usize) -> bool {
        let named = tool.contains('_') || tool.chars().skip(1).any(char::is_uppercase);
        let lower = tool.to_ascii_lowercase();
        let speaks = ["answer", "final", "respond", "reply", "finish", "message"];
        let result =
            has_result_member(stated) || matches!(stated.tool_key, "toolname" | "commandexecuted");
        if !named || !result || !stated.alone || speaks.iter().any(|word| lower.contains(word)) {
            return false;
        }
        !self.was_given(tool, turn) && !self.asked_for_data(turn)
    }

    /// Whether what the agent was given before asks for data in a format.
    fn asked_for_data(&self, turn: usize) -> bool {
        let given = self.facts.transcript().messages.iter().take(turn);
        let mut given = given.filter(|message| message.role != counterfoil_model::Role::Assistant);
        given.any(|message| {
            let text = message.text.to_lowercase();
            sets::ASKS_FOR_DATA.list.iter().any(|word| text.contains(word))
        })
    }

    /// Whether the agent repeats or discusses objects that it was given.
    fn is_quoted(&self, stated: &Stated, turn: usize) -> bool {
        let needle =
            ["\"tool_name\"", "'tool_name'", "\"command_executed\"", "\"function\"", "\"tool\""];
        let messages = &self.facts.transcript().messages;
        let own = self.register.shows_ids(turn);
        messages.iter().take(turn).any(|message| {
            let said = message.role != counterfoil_model::Role::Assistant
                && (needle.iter().any(|n| message.text.contains(n))
                    || repeats(&message.text, stated));
            let results = message.outcomes.iter().any(|outcome| {
                (!own && needle.iter().any(|n| outcome.text.contains(n)))
                    || repeats(&outcome.text, stated)
            });
            let drafts = message.calls.iter().any(|call| {
                ["tool_name", "command_executed"]
                    .iter()
                    .any(|n| call.arguments.as_str().contains(n))
            });
            said || results || (drafts && !stated.headed)
        })
    }
}

/// Whether a text contains the object with its tool's name.
fn repeats(text: &str, stated: &Stated) -> bool {
    let Some(tool) = stated.tool.as_deref() else { return false };
    text.contains(tool)
        && cited(text)
            .objects
            .iter()
            .any(|other| other.tool.as_deref() == Some(tool) && other.rest == stated.rest)
}
