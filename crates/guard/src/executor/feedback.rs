use std::borrow::Cow;
use std::fmt::Write as _;

use counterfoil_model::ToolErrorCategory;

use counterfoil_redact::Redactor;
use counterfoil_tools::ToolError;

/// The description of a failed call for the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolErrorFeedback {
    /// The category of the failure.
    pub category: ToolErrorCategory,
    /// What went wrong.
    pub message: String,
    /// What to do now.
    pub suggestion: String,
    /// Whether the same call, or a corrected one, may succeed.
    pub retryable: bool,
}

/// The maximum length of a message, in characters.
const LONGEST: usize = 2_000;

impl ToolErrorFeedback {
    /// Feedback with the usual suggestion for its category.
    #[must_use]
    pub fn new(category: ToolErrorCategory, message: impl Into<String>) -> Self {
        Self {
            category,
            message: message.into(),
            suggestion: suggestion(category).to_owned(),
            retryable: category.is_retryable(),
        }
    }

    /// Replaces the suggestion.
    #[must_use]
    pub fn suggesting(self, suggestion: impl Into<String>) -> Self {
        Self { suggestion: suggestion.into(), ..self }
    }

    /// For a call that the model should not correct once more.
    #[must_use]
    pub(crate) fn final_for_now(self) -> Self {
        let suggestion = "make no further calls of this kind; tell the user what you could not do";
        Self { retryable: false, ..self.suggesting(suggestion) }
    }

    /// The block for the model: five lines without secrets, whatever the message contains, without
    /// a trailing line break.
    #[must_use]
    pub fn format_for_llm(&self) -> String {
        format!(
            "[tool_error]\ncategory: {}\nmessage: {}\nsuggestion: {}\nretryable: {}",
            self.category,
            one_line(&self.message),
            one_line(&self.suggestion),
            self.retryable,
        )
    }
}

/// Splits what a model reads of a failed call into its text without the error block, and the message
/// of that block. Category and suggestion are only for models.
pub(crate) fn without_block(text: &str) -> (Cow<'_, str>, Option<&str>) {
    const BLOCK: &str = "[tool_error]\ncategory: ";
    let begins = |(at, _): &(usize, &str)| {
        text.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
    };
    let Some((at, _)) = text.match_indices(BLOCK).find(begins) else {
        return (Cow::Borrowed(text), None);
    };
    let (before, block) = text.split_at(at);
    let mut lines = block.splitn(6, '\n').skip(2);
    let message = lines.next().and_then(|line| line.strip_prefix("message: "));
    let after = lines.nth(2).unwrap_or_default();
    (Cow::Owned(format!("{before}{after}")), message)
}

/// Uses the message of the error.
impl From<&ToolError> for ToolErrorFeedback {
    fn from(error: &ToolError) -> Self {
        Self::new(error.category(), error.to_string())
    }
}

fn suggestion(category: ToolErrorCategory) -> &'static str {
    match category {
        ToolErrorCategory::ToolNotFound => "call one of the available tools",
        ToolErrorCategory::InvalidParameters => {
            "correct the arguments to match the tool's schema and call it again"
        }
        ToolErrorCategory::TypeMismatch => {
            "change the arguments to the types in the schema and call the tool again"
        }
        ToolErrorCategory::PolicyBlocked => {
            "do not retry this or work around it; choose an allowed action or ask the user"
        }
        ToolErrorCategory::ConfirmationRequired => "ask the user to approve this call first",
        ToolErrorCategory::PermanentFailure => {
            "the same call will fail again; fix the cause, or tell the user"
        }
        ToolErrorCategory::Cancelled => "the call had no effect; do not claim that it was done",
        ToolErrorCategory::RateLimited => "wait before calling this again",
        ToolErrorCategory::ServerError | ToolErrorCategory::NetworkError => {
            "try again later; if it keeps failing, tell the user"
        }
        ToolErrorCategory::Timeout => {
            "check how far it got before calling it again, or request less"
        }
    }
}

/// Redacts the text and puts it on one line that cannot be mistaken for another line of the block:
/// line breaks become `\n`, other control and layout characters are removed, and the block's own
/// marker is broken up.
fn one_line(text: &str) -> String {
    let text = Redactor::standard().redact(text);
    let mut line = String::with_capacity(text.len().min(LONGEST));
    let mut kept = 0;
    let mut characters = text.trim().chars().peekable();
    while let Some(character) = characters.next() {
        if kept == LONGEST {
            let _infallible = write!(line, " … ({} more characters)", characters.count() + 1);
            break;
        }
        match character {
            '\r' if characters.peek() == Some(&'\n') => continue,
            '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                line.push_str("\\n");
            }
            '\t' => line.push(' '),
            // Characters that reorder or hide text would show people another message than the model
            // gets.
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => continue,
            character if character.is_control() => continue,
            character => line.push(character),
        }
        kept += 1;
    }
    line.replace("[tool_error]", "[tool error]")
}
