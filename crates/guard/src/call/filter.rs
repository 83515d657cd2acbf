use counterfoil_ledger::Opened;
use counterfoil_model::{Status, ToolErrorCategory};
use counterfoil_tools::{FilterCall, FilterConfidence, Piped, shown_commands};

use super::close::ClosedCall;
use crate::auditing::reason_in;
use crate::executor::{READ_OVERFLOW, ToolErrorFeedback};
use crate::guard::Guard;
use crate::overflow::cut;
use crate::recording::Recorded;
use crate::shown_id::ShowId;

/// The minimum number of bytes that a filter has to save, because the note about the removal costs
/// some.
const WORTH_IT: usize = 200;

/// The part of a result that the agent will see.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) text: String,
    /// The names of the filters that changed the text.
    pub(super) filters: Vec<String>,
    /// How certain the filters were that removed something.
    pub(super) filtered: Option<FilterConfidence>,
    /// Whether the text was too long and was cut.
    pub(super) cut: bool,
}

impl Shown {
    fn whole(text: &str) -> Self {
        Self { text: text.to_owned(), filters: Vec::new(), filtered: None, cut: false }
    }
}

impl Guard {
    /// Turns the recorded result into what the agent will see. With `verbatim`, nothing is filtered
    /// or cut.
    pub(super) fn filter(&self, call: &ClosedCall, verbatim: bool) -> Shown {
        match verbatim {
            true => Shown::whole(&call.recorded.text),
            false => self.show(&call.recorded, call.shown_chars),
        }
    }

    /// What the agent sees of a recorded result. `shown_chars` is the number of characters that the
    /// executor would show; `None` if it does not say.
    pub(super) fn show(&self, recorded: &Recorded, shown_chars: Option<usize>) -> Shown {
        let Recorded { opened, closed, text, structured } = recorded;
        let mut shown = Shown::whole(text);
        if structured.is_none() {
            self.reduce(&mut shown, recorded);
            self.cut(&mut shown, recorded, shown_chars);
        }
        if let Some(category) = closed.category {
            let message = match (closed.exit_code, category) {
                (Some(code), _) => format!("the command ended with exit code {code}"),
                (None, ToolErrorCategory::Timeout) => "the call timed out".to_owned(),
                (None, _) => match reason_in(text) {
                    Some(why) => format!("the call failed: {why}"),
                    None => "the call failed".to_owned(),
                },
            };
            let block = ToolErrorFeedback::new(category, message).format_for_llm();
            new_line(&mut shown.text);
            shown.text.push_str(&block);
            shown.filters.push("feedback".to_owned());
        }
        if self.settings().show_id != ShowId::Metadata {
            shown.text = self.with_id(&shown.text, structured.as_ref(), opened);
            shown.filters.push("execution_id".to_owned());
        }
        shown
    }

    /// Removes output that a command printed only to show progress.
    fn reduce(&self, shown: &mut Shown, recorded: &Recorded) {
        let policy = self.settings().shell.load();
        let Opened { tool, arguments, .. } = &recorded.opened;
        let Some(line) = policy.blocklist.command_at(tool, arguments) else { return };
        let Some(commands) = shown_commands(&line) else { return };
        let failed = recorded.closed.status != Status::Completed;
        let made = self.filters().apply(&shown.text, &FilterCall { commands: &commands, failed });
        let Piped { text, filters, confidence, left_out } = made;
        if filters.is_empty() || text.len() + WORTH_IT > shown.text.len() {
            return;
        }
        let all = shown.text.lines().count();
        shown.text = text;
        new_line(&mut shown.text);
        let how = self.how_to_read(recorded).map(|how| format!("; {how} all")).unwrap_or_default();
        let what = "lines left out: progress and passed checks";
        let note = format!("[{left_out} of {all} {what}{how}]\n");
        shown.text.push_str(&note);
        shown.filters.extend(filters.into_iter().map(|filter| filter.0));
        shown.filtered = Some(confidence);
    }

    /// Keeps only the beginning and the end of a text that is too long.
    fn cut(&self, shown: &mut Shown, recorded: &Recorded, shown_chars: Option<usize>) {
        let most = self.settings().overflow.max_chars;
        // The tool that reads long results in pieces has its own limit.
        if recorded.opened.tool == READ_OVERFLOW {
            return;
        }
        let most = shown_chars.map_or(most, |chars| most.min(chars));
        let how = self.how_to_read(recorded);
        if let Some(text) = cut(&shown.text, most, how.as_deref()) {
            shown.text = text;
            shown.filters.push("overflow".to_owned());
            shown.cut = true;
        }
    }

    /// How the agent can read the whole recorded result, if it has the tool for that.
    fn how_to_read(&self, recorded: &Recorded) -> Option<String> {
        self.catalog().get(READ_OVERFLOW)?;
        let id = &recorded.opened.execution_id;
        Some(format!("{READ_OVERFLOW} {{\"id\":\"{id}\"}} shows"))
    }
}

fn new_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}
