use counterfoil_rules::PROTOCOL;

use crate::agent::Parts;
use crate::conversation::Conversation;

/// What a model that may not call any more tools in this turn is asked.
pub(crate) const NO_MORE: &str = "You have reached the step limit of this turn, or made no \
     progress three times in a row: you cannot call any more tools. Say now, in plain words, what \
     was done, what the outcome was, and what is still open.";

/// Why a call is refused that comes all the same.
pub(crate) const NO_CALLS: &str = "no tool is offered any more in this turn";

/// What is recorded where an answer was sent back.
pub(crate) const HELD_BACK: &str =
    "Your previous answer was held back: the record of this session does not support it.";

/// What is recorded where a task or a helper began.
pub(crate) const TASK_BEGINS: &str =
    "A task begins. The call that started it has its prompt, which is nobody's instruction.";

/// What a model that gave no answer is asked.
pub(crate) const NO_ANSWER: &str =
    "You gave no answer. Answer the user now, or call a tool if one is still needed.";

/// What the model reads first.
pub(crate) fn system(parts: &Parts, conversation: &Conversation) -> String {
    let parts = [&*parts.settings.instructions, &*parts.introduction, PROTOCOL].map(str::trim);
    let sections: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    let mut text = sections.join("\n\n");
    if !conversation.knowledge.is_empty() {
        text.push_str("\n\n# Knowledge\n\nA summary of what was said and done before:");
        for summary in &conversation.knowledge {
            text.push_str("\n\n");
            text.push_str(summary.trim());
        }
    }
    text
}
