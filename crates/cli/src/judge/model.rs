//! A model of `[[llm.providers]]` as a judge.

use anyhow::Context as _;
use counterfoil_judge::{Judge, Prompt, Reply};
use counterfoil_providers::{Provider, Request, Stop, Turn};
use tokio::runtime::{Builder, Runtime};

pub(super) struct ModelJudge {
    name: String,
    provider: Provider,
    runtime: Runtime,
}

impl ModelJudge {
    pub(super) fn new(name: &str, provider: Provider) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.context("the judge cannot be asked")?;
        Ok(Self { name: name.to_owned(), provider, runtime })
    }
}

impl Judge for ModelJudge {
    fn name(&self) -> &str {
        &self.name
    }

    fn ask(&self, prompt: &Prompt) -> Result<Reply, String> {
        let request = Request {
            system: prompt.instructions.to_owned(),
            turns: vec![Turn::User(prompt.question.clone())],
            tools: Vec::new(),
        };
        let asked = || self.runtime.block_on(self.provider.chat(&request, &mut |_| {}));
        // Whoever asks may be a task itself, which must not wait.
        let asked = std::thread::scope(|scope| scope.spawn(asked).join());
        let asked = asked.map_err(|_| format!("`{}` could not be asked", self.name))?;
        let reply = asked.map_err(|error| format!("`{}`: {error}", self.name))?;
        if reply.stop == Stop::Refused {
            return Err(format!("`{}` refused to answer", self.name));
        }
        let tokens = reply.usage.input.saturating_add(reply.usage.output);
        Ok(Reply { text: reply.text, tokens })
    }
}
