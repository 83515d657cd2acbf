//! What the server says, before the client hears it.

use super::confirm::is_question;
use super::duplicates::twice;
use super::framing::lined;
use super::gateway::Gateway;
use super::message::Message;
use super::methods::misspelt;
use super::server_questions::in_the_name_of;
use super::unreadable::TopLevel;
use super::waiting::Waiting;

/// Maximum number of unanswered questions from a server. Beyond it, the oldest can no longer be
/// answered.
const MOST_QUESTIONS: usize = 1024;

/// Maximum number of logged answers to no known request.
const MOST_STRAYS: usize = 20;

impl Gateway {
    /// The part of a server's message that goes to the client, if any.
    pub async fn from_server(&self, message: &str) -> Option<String> {
        let text = message.trim();
        let passed = match self.understood(text) {
            Ok(message) => self.to_client(&message, text).await,
            Err(why) => match TopLevel::parse(text.as_bytes()).in_place_of_answer(&why) {
                Some(answer) => self.to_client(&Message::read(&answer).ok()?, &answer).await,
                None => {
                    let server = &self.server;
                    tracing::warn!("`{server}` sent an invalid message: {why}");
                    None
                }
            },
        };
        let passed = passed?;
        match in_the_name_of(&self.server, &passed) {
            // Questions of several servers already begin with the name of the one that asks, which
            // cannot be read out of a message: a server could forge it.
            Ok(attributed) => Some(lined(attributed.filter(|_| !self.several).unwrap_or(passed))),
            Err(why) => {
                tracing::warn!("dropped a message from `{}`: {why}", self.server);
                None
            }
        }
    }

    /// Reads a message that every reader reads in the same way, at any depth.
    fn understood<'m>(&self, text: &'m str) -> Result<Message<'m>, String> {
        let message = Message::read(text).map_err(|error| error.to_string())?;
        if let Some(name) = twice(text) {
            return Err(format!("the member `{name}` appears twice"));
        }
        // A lenient client would take it for the method, which is handled by its exact name.
        if let Some(odd) = message.method.as_deref().and_then(misspelt) {
            return Err(odd);
        }
        in_the_name_of(&self.server, text)?;
        Ok(message)
    }

    async fn to_client(&self, message: &Message<'_>, text: &str) -> Option<String> {
        if let Some(method) = &message.method {
            if method == "notifications/tools/list_changed" {
                self.shared().offered.forget();
            }
            self.note_question(method, message)?;
            return match method.as_str() {
                "notifications/tasks" | "notifications/tasks/status" => {
                    self.task_notification(message, text).await
                }
                _ => Some(self.without_secrets(message, text)),
            };
        }
        // An error that belongs to no request.
        let Some(id) = &message.id else { return Some(self.without_secrets(message, text)) };
        let waiting = self.state().waiting.remove(id);
        match waiting {
            None => {
                self.stray(id);
                None
            }
            Some(Waiting::Person) => {
                // The server was never sent this call.
                self.state().waiting.insert(id.clone(), Waiting::Person);
                tracing::warn!("`{}` answered a call that was not sent to it: {id}", self.server);
                None
            }
            // The client no longer waits for this answer.
            Some(Waiting::Cancelled) => None,
            Some(Waiting::Other) => Some(self.without_secrets(message, text)),
            Some(Waiting::Definitions { list, first }) => {
                Some(self.described(message, text, id, (list, first)))
            }
            Some(Waiting::Greeting) => Some(self.greeted(message, text, id)),
            Some(Waiting::Tools { first }) => Some(self.listed(message, text, id, first)),
            Some(Waiting::OwnTools { first, listed }) => {
                self.own_page(message, text, id, (first, listed));
                None
            }
            Some(Waiting::Call(call)) => Some(self.answered(message, text, id, *call).await),
            Some(Waiting::TaskState(task)) => Some(self.task_state(message, text, id, &task).await),
            Some(Waiting::TaskResult(task)) => {
                Some(self.task_result(message, text, id, &task).await)
            }
        }
    }

    /// Logs that an answer was dropped, up to a maximum number of times.
    fn stray(&self, id: &str) {
        let count = {
            let mut state = self.state();
            state.strays += 1;
            state.strays
        };
        let server = &self.server;
        match count {
            ..MOST_STRAYS => {
                tracing::warn!("`{server}` answered an unknown request: {id}");
            }
            MOST_STRAYS => {
                tracing::warn!(
                    "`{server}` keeps answering unknown requests; further ones are not logged"
                );
            }
            _ => {}
        }
    }

    /// Notes a question from the server, so that only answers to known questions reach it. Returns
    /// `None` if its id is like one of ours.
    fn note_question(&self, method: &str, message: &Message<'_>) -> Option<()> {
        let Some(id) = &message.id else {
            if method == "notifications/cancelled" {
                let cancelled = message.cancels();
                self.state().questions.retain(|id| Some(id) != cancelled.as_ref());
            }
            return Some(());
        };
        if is_question(id) {
            tracing::warn!(
                "dropped a request from `{}`, because its id looks like one of Counterfoil's: {id}",
                self.server
            );
            return None;
        }
        let mut state = self.state();
        if state.questions.len() >= MOST_QUESTIONS {
            state.questions.pop_front();
        }
        state.questions.push_back(id.clone());
        Some(())
    }
}
