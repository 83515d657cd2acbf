//! Sessions from the ledger, which only a build with the guard can read.

#[cfg(feature = "guard")]
mod of_ledger {
    use std::io;
    use std::path::{Path, PathBuf};
    use std::time::{SystemTime, UNIX_EPOCH};

    use anyhow::Context as _;
    use clap::Args;
    use counterfoil_guard::{export, recorded_transcript};
    use counterfoil_model::{Message, Role};

    use crate::config;
    use crate::exit::Complaint;
    use crate::files;
    use crate::global::Global;
    use crate::guard::ledger;
    use crate::inputs::Input;
    use crate::suggest::did_you_mean;

    /// The selected sessions of the ledger.
    #[derive(Debug, Args)]
    pub(crate) struct RecordedArguments {
        /// Check this session from the ledger (repeatable)
        #[arg(long, value_name = "ID")]
        session: Vec<String>,
        /// The agent's final answer in that session: a file, or - for standard input
        #[arg(long, value_name = "FILE", requires = "session")]
        answer: Option<PathBuf>,
    }

    impl RecordedArguments {
        pub(crate) const EXAMPLES: &str = "
  counterfoil check --session fix-42
  echo 'All tests pass.' | counterfoil check --session fix-42 --answer -";

        /// Whether any session is selected.
        pub(crate) fn has_sessions(&self) -> bool {
            !self.session.is_empty()
        }

        /// The file with the final answer.
        pub(crate) fn answer(&self) -> Option<&Path> {
            self.answer.as_deref()
        }

        /// Returns the sessions as inputs, in the export format.
        pub(crate) fn inputs(
            &self,
            global: &Global,
            options: &config::Options,
        ) -> anyhow::Result<Vec<Input>> {
            let answer = self.answer.as_deref().map(answer_text).transpose()?;
            if self.session.is_empty() {
                return Ok(Vec::new());
            }
            let ledger = ledger(&global.state()?, options)?;
            let mut inputs = Vec::with_capacity(self.session.len());
            let now = SystemTime::now().duration_since(UNIX_EPOCH).ok();
            let time = now.and_then(|now| i64::try_from(now.as_millis()).ok());
            for id in &self.session {
                let Some(mut transcript) = recorded_transcript(&ledger, id)? else {
                    let known = ledger.sessions()?;
                    return Err(Complaint::new(format!("the ledger has no session `{id}`"))
                        .maybe_help(did_you_mean(id, known.iter().map(String::as_str)))
                        .into());
                };
                // The answer has the current time, because an execution may be too old to cite.
                let message = |text| Message { time, ..Message::text(Role::Assistant, text) };
                let answer = answer.as_ref().map(message);
                transcript.messages.extend(answer);
                inputs.push(Input::text(id.clone(), export(&transcript).to_string()));
            }
            Ok(inputs)
        }
    }

    /// Reads the text of an answer.
    fn answer_text(path: &Path) -> anyhow::Result<String> {
        if path == Path::new("-") {
            return Ok(io::read_to_string(io::stdin())?);
        }
        files::read_text(path)
            .with_context(|| format!("the answer {} cannot be read", path.display()))
    }
}

#[cfg(not(feature = "guard"))]
mod of_ledger {
    use std::path::Path;

    use clap::Args;

    use crate::config;
    use crate::global::Global;
    use crate::inputs::Input;

    /// Empty: the linter alone has no ledger.
    #[derive(Debug, Args)]
    pub(crate) struct RecordedArguments {}

    impl RecordedArguments {
        pub(crate) const EXAMPLES: &str = "";

        pub(crate) fn has_sessions(&self) -> bool {
            false
        }

        pub(crate) fn answer(&self) -> Option<&Path> {
            None
        }

        pub(crate) fn inputs(&self, _: &Global, _: &config::Options) -> anyhow::Result<Vec<Input>> {
            Ok(Vec::new())
        }
    }
}

pub(crate) use of_ledger::RecordedArguments;
