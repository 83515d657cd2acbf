use counterfoil_model::{Format, Gap, Message, MessageKind, Role};

use crate::content::join;
use crate::log_reader::Reader;
use crate::reading::{ReadError, Reading};
use crate::session::Session;
use crate::sketch::Sketch;
use crate::source::Source;

/// Aider's history in Markdown: what the user typed, the model's answers, and Aider's own output.
/// Commands and their results appear only as far as Aider printed them.
pub(crate) struct Aider;

/// The first line of a session.
const BEGIN: &str = "# aider chat started at ";

impl Reader for Aider {
    fn format(&self) -> Format {
        Format::Aider
    }

    fn recognises(&self, _sketch: &Sketch) -> bool {
        false
    }

    fn recognises_text(&self, head: &str) -> bool {
        head.trim_start().starts_with(BEGIN)
    }

    fn is_of_text(&self) -> bool {
        true
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        name: &str,
        sink: &mut dyn FnMut(Reading),
    ) -> Result<(), ReadError> {
        let mut history = History { name, sink, session: None, message: None, given: 0 };
        if let Some(piece) = source.next()? {
            for (at, line) in piece.text.lines().enumerate() {
                history.line(line, at + 1);
            }
        }
        history.end();
        Ok(())
    }
}

struct History<'h> {
    name: &'h str,
    sink: &'h mut dyn FnMut(Reading),
    session: Option<Session>,
    message: Option<Message>,
    given: usize,
}

impl History<'_> {
    fn line(&mut self, line: &str, number: usize) {
        if let Some(began) = line.strip_prefix(BEGIN) {
            self.end();
            let mut session = Session::new(format!("{} {began}", self.name), Format::Aider);
            session.gap(Gap::LossyFormat);
            self.session = Some(session);
            return;
        }
        let (role, kind, text) = if let Some(text) = line.strip_prefix("#### ") {
            (Role::User, MessageKind::Ordinary, text)
        } else if let Some(text) = line.strip_prefix('>') {
            (Role::System, MessageKind::Injected, text.trim_start())
        } else {
            (Role::Assistant, MessageKind::Ordinary, line)
        };
        if text.trim().is_empty() && self.message.as_ref().is_none_or(|m| m.role != role) {
            return;
        }
        // "> Model: sonnet with diff edit format"
        if let Some(model) = text.strip_prefix("Model: ").filter(|_| role == Role::System)
            && let Some(name) = model.split_whitespace().next()
            && let Some(session) = &mut self.session
        {
            session.next_model(name);
        }
        match &mut self.message {
            Some(message) if message.role == role => {
                if text.is_empty() {
                    message.text.push('\n');
                } else {
                    join(&mut message.text, text.trim_end());
                }
            }
            _ => {
                self.flush();
                let text = text.trim_end();
                self.message = Some(Message { line: number, kind, ..Message::text(role, text) });
            }
        }
    }

    fn flush(&mut self) {
        if let (Some(message), Some(session)) = (self.message.take(), &mut self.session) {
            session.push(message);
        }
    }

    fn end(&mut self) {
        self.flush();
        if let Some(session) = self.session.take() {
            self.given += 1;
            (self.sink)(session.finish());
        }
    }
}
