use counterfoil_model::{Format, Message, Role};

use crate::documents::Messages;
use crate::fields::Fields;
use crate::gemini_parts;
use crate::session::Session;
use crate::sketch::Sketch;
use crate::time;

/// Sessions of Google's Agent Development Kit: `events`, each with an author and `content.parts`.
pub(crate) struct GoogleAdk;

impl Messages for GoogleAdk {
    fn format(&self) -> Format {
        Format::GoogleAdk
    }

    fn recognises(&self, sketch: &Sketch) -> bool {
        ["", "[].", "events[]."].into_iter().any(|at| {
            sketch.has(&format!("{at}author")) && sketch.has(&format!("{at}content.parts"))
        })
    }

    fn lists(&self) -> &'static [&'static str] {
        &["events"]
    }

    fn read_message(&self, fields: &mut Fields<'_>, line: usize, session: &mut Session) {
        let of_user = fields.string("author").is_some_and(|author| author == "user");
        let time = fields.take("timestamp").and_then(time::millis);
        fields.pass_over(&["id", "invocationId", "invocation_id", "actions"]);
        // A fragment of a message that is recorded in full later.
        if fields.boolean("partial") == Some(true) {
            fields.take("content");
            return session.skip("partial event");
        }
        let Some(mut content) = fields.object("content") else {
            return session.skip("event without content");
        };
        content.take("role");
        let role = if of_user { Role::User } else { Role::Assistant };
        if let Some(parts) = content.take("parts") {
            let bare = Message { line, time, ..Message::text(role, "") };
            gemini_parts::read_parts(parts, bare, session);
        }
        session.leave(&content);
    }
}
