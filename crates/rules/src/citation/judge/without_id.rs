//! Results that are presented without an execution id.

use counterfoil_model::Role;
use serde_json::Value;

use super::{Bench, claim};
use crate::citation::compare::{
    Difference, as_number, difference, different_number, foreign_numbers, number_of, same_number,
};
use crate::citation::fault::{Citation, Fault};
use crate::citation::fences::Setting;
use crate::citation::presented::{has_result_member, presents_result};
use crate::citation::stated::{Cited, Stated, cited};
use crate::facts::Answer;
use crate::prose::{Clause, is_in_draft, sets};
use crate::tool_use::same;
use crate::values::each_figure;

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
        let invoked = self.results_of(tool, turn).next().is_some();
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
            || cited.only_fence && known_tool && of_execution && !self.data_was_requested(turn);
        let presented = stated.headed || stated.setting == Setting::Plain || is_answer();
        (complete && presented).then(|| Fault::MissingId { tool: tool.to_owned() })
    }

    /// For a tool whose executions have no ids that could be cited: the number that differs from the
    /// latest result, if it differs from all. Words may summarise.
    fn returned_by_none(&self, stated: &Stated, tool: &str, turn: usize) -> Option<Fault> {
        let is_presented = stated.headed || stated.alone && stated.setting == Setting::Plain;
        if !is_presented || !self.facts.is_complete_before(turn) {
            return None;
        }
        let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
        let mut numbers = stated.rest.clone();
        numbers.retain(|key, value| {
            let number = value.is_number() || value.as_str().is_some_and(is_number);
            number && !self.is_of_several(tool, key, value, turn)
        });
        let differs = |recorded: Value| {
            difference(&numbers, &recorded).filter(|found| is_number(&found.recorded))
        };
        differs_from_all(self.results_of(tool, turn).map(differs))
    }

    /// Whether a number is the sum or the average of those that the latest calls returned.
    fn is_of_several(&self, tool: &str, key: &str, value: &Value, turn: usize) -> bool {
        let (claimed, mut sum, mut count) = (as_number(value), 0.0, 0.0);
        self.results_of(tool, turn).filter_map(|result| number_of(&result, key)).any(|number| {
            (sum, count) = (sum + number, count + 1.0);
            count > 1.0
                && claimed.is_some_and(|n| same_number(n, sum) || same_number(n, sum / count))
        })
    }

    /// What the calls of a tool returned, the latest first.
    fn results_of<'b>(&'b self, tool: &'b str, turn: usize) -> impl Iterator<Item = Value> + 'b {
        let calls = self.facts.deeds_before(turn);
        calls.filter(|(call, deed)| same(call.tool(), tool) || same(&deed.tool, tool)).map(
            |(call, _)| serde_json::from_str(call.text()).unwrap_or_else(|_| call.text().into()),
        )
    }

    /// Numbers under words that name a tool, "run_speed_test result:": it was never called, or all
    /// its results have other numbers. Numbers that the agent was given may come from anywhere.
    pub(super) fn titled(&self, answer: &Answer<'_>, stated: &Stated) -> Option<Citation> {
        let (text, turn, tool) = (answer.prose.text, answer.turn, stated.tool.as_deref()?);
        let mut numbers = stated.rest.clone();
        numbers.retain(|_, value| value.is_number());
        let calls = || self.facts.record().before(turn).filter_map(|execution| execution.call);
        let known = |value: &Value| {
            let number = value.to_string();
            self.was_given(&number, turn)
                || calls().any(|call| call.arguments.as_str().contains(&number))
        };
        let drafts = |clause: &&Clause| clause.span.overlaps(stated.span);
        let drafted = answer.prose.clauses.iter().find(drafts);
        if stated.setting == Setting::Code
            || drafted.is_some_and(|clause| is_in_draft(&answer.prose, clause))
            || numbers.is_empty()
            || numbers.values().any(known)
            || !self.register.has_exactly(tool)
            || !self.facts.is_complete_before(turn)
            || self.facts.delegates_before(turn)
            || self.asks_for_data_of(tool, text, turn)
        {
            return None;
        }
        // A call in the same message may come before these words.
        let mut results = self.results_of(tool, turn + 1);
        let fault = match (results.next(), results.next()) {
            (None, _) => Fault::MissingId { tool: tool.to_owned() },
            (Some(only), None) if !may_add_up(&only) => Fault::Altered(
                different_number(&numbers, &only).or_else(|| foreign_numbers(&numbers, &only))?,
            ),
            _ => {
                let results = self.results_of(tool, turn + 1);
                differs_from_all(results.map(|result| different_number(&numbers, &result)))?
            }
        };
        let claim = claim(text, stated.span, None, Some(tool), turn);
        Some(Citation { claim, faults: vec![fault], evidence: Vec::new() })
    }

    /// Whether the user asked how a result looks, or the answer says that it gives an example.
    fn asks_for_data_of(&self, tool: &str, answer: &str, turn: usize) -> bool {
        let requests = self.facts.transcript().messages.iter().take(turn);
        let mut requests = requests.filter(|message| message.role == Role::User);
        let lower = answer.to_lowercase();
        self.data_was_requested(turn)
            || sets::ASKS_FOR_DATA.list.iter().any(|word| lower.contains(word))
            || requests.any(|message| message.text.contains(tool) && message.text.contains('?'))
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
        !self.was_given(tool, turn) && !self.data_was_requested(turn)
    }

    /// Whether what the agent was given before asks for data in a format.
    fn data_was_requested(&self, turn: usize) -> bool {
        let given = self.facts.transcript().messages.iter().take(turn);
        let mut given = given.filter(|message| message.role != Role::Assistant);
        given.any(|message| asks_for(&message.text, |_| true))
    }

    /// Whether the latest request asks for data that no tool returned: a sample, a fixture.
    pub(super) fn sample_was_requested(&self, turn: usize) -> bool {
        let since = self.facts.request_before(turn);
        let messages = self.facts.transcript().messages.get(since..turn).unwrap_or_default();
        let mut requests = messages.iter().filter(|message| message.role == Role::User);
        requests.any(|message| asks_for(&message.text, |word| !["json", "schema"].contains(&word)))
    }

    /// Whether the agent repeats or discusses objects that it was given.
    fn is_quoted(&self, stated: &Stated, turn: usize) -> bool {
        let needle =
            ["\"tool_name\"", "'tool_name'", "\"command_executed\"", "\"function\"", "\"tool\""];
        let messages = &self.facts.transcript().messages;
        let own = self.register.shows_ids(turn);
        messages.iter().take(turn).any(|message| {
            let instructions = message.role != Role::Assistant
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
            instructions || results || (drafts && !stated.headed)
        })
    }
}

/// Whether a text has one of the counted words for data that somebody may ask for.
fn asks_for(text: &str, counts: fn(&str) -> bool) -> bool {
    let text = text.to_lowercase();
    let mut words = sets::ASKS_FOR_DATA.list.iter().filter(|word| counts(word));
    words.any(|word| text.contains(word))
}

/// The latest of the differences from all results, of which there is at least one.
fn differs_from_all(mut found: impl Iterator<Item = Option<Difference>>) -> Option<Fault> {
    let latest = found.next()??;
    found.all(|other| other.is_some()).then_some(Fault::Altered(latest))
}

/// Whether a result has several numbers, of which the agent may have computed others.
fn may_add_up(result: &Value) -> bool {
    let mut found = 0;
    if let Some(members) = result.as_object() {
        let own = members
            .iter()
            .filter(|(key, _)| !["execution_id", "executed_at"].contains(&key.as_str()));
        own.for_each(|(_, value)| each_figure(&value.to_string(), |_| found += 1));
    }
    found != 1
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
