use std::collections::HashMap;

use counterfoil_admission::{Context, Needle};
use counterfoil_model::{Role, Status};

use crate::facts::{Execution, Facts};
use crate::values::WordSearch;

/// The first message that mentions each value of a call, found in one pass over the transcript.
#[derive(Debug, Default)]
pub(crate) struct FirstMentions {
    /// The first message, by lower-case needle.
    turns: HashMap<String, usize>,
}

impl FirstMentions {
    /// Searches for the needles of all calls from `judged` on together. `needles[i]` belong to
    /// execution `i`.
    pub(crate) fn find(facts: &Facts<'_>, needles: &[Vec<Needle>], judged: usize) -> Self {
        let mut index: HashMap<&str, usize> = HashMap::new();
        let mut words: Vec<&str> = Vec::new();
        for needle in needles.iter().skip(judged).flatten() {
            index.entry(needle.word.as_str()).or_insert_with(|| {
                words.push(needle.word.as_str());
                words.len() - 1
            });
        }
        if words.is_empty() {
            return Self::default();
        }
        // The needles are limited in number and length. If the automaton still does not fit,
        // nothing is known and nothing is reported.
        let Some(searched) = WordSearch::new(&words, true) else { return Self::default() };
        let mut first = vec![usize::MAX; words.len()];
        let mut search = |text: &str, turn: usize, except: &[Needle]| {
            searched.each(text, |at| {
                let echoed =
                    || words.get(at).is_some_and(|word| except.iter().any(|n| n.word == *word));
                if let Some(turn_of) = first.get_mut(at)
                    && turn < *turn_of
                    && !echoed()
                {
                    *turn_of = turn;
                }
            });
        };
        for (turn, message) in facts.transcript().messages.iter().enumerate() {
            if matches!(message.role, Role::System | Role::User) {
                search(&message.text, turn, &[]);
            }
        }
        for (execution, own) in facts.record().executions().iter().zip(needles) {
            let Some(turn) = execution.answered_at else { continue };
            // A failure that repeats the argument ("order #W1 not found") does not ground it.
            let echo = if execution.status().succeeded() { &[] } else { own.as_slice() };
            search(execution.text(), turn, echo);
        }
        let turns = words
            .iter()
            .zip(first)
            .filter(|(_, turn)| *turn != usize::MAX)
            .map(|(word, turn)| ((*word).to_owned(), turn))
            .collect();
        Self { turns }
    }
}

/// The context of one recorded call.
pub(crate) struct Recorded<'c> {
    pub(crate) mentions: &'c FirstMentions,
    pub(crate) execution: &'c Execution<'c>,
}

impl Context for Recorded<'_> {
    fn mentions(&self, text: &str) -> bool {
        let word = text.to_ascii_lowercase();
        self.mentions.turns.get(&word).is_some_and(|turn| *turn < self.execution.called_at)
    }

    fn is_missing(&self, _path: &str) -> bool {
        self.execution.status() == Status::Failed
    }
}
