//! A judge that is a model over HTTP: one of `[[llm.providers]]`, or a local server.

use std::time::Duration;

use anyhow::Context as _;
use counterfoil_judge::{Judge, Prompt, Reply};
use counterfoil_providers::{Provider, ProviderOptions, Request, Stop, Turn};
use tokio::runtime::{Builder, Runtime};

pub(super) struct ModelJudge {
    name: String,
    provider: Provider,
    runtime: Runtime,
}

impl ModelJudge {
    pub(super) fn new(name: &str, provider: Provider) -> anyhow::Result<Self> {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build();
        let runtime = runtime.context("cannot start the judge")?;
        let name = format!("{name}/{}", provider.settings().model);
        Ok(Self { name, provider, runtime })
    }
}

impl ModelJudge {
    /// Blocks on a separate thread, because the caller may be an async task.
    fn wait_for<T: Send>(&self, work: impl Future<Output = T> + Send) -> Result<T, String> {
        let waited = std::thread::scope(|scope| scope.spawn(|| self.runtime.block_on(work)).join());
        waited.map_err(|_| format!("cannot ask `{}`", self.name))
    }
}

/// The default ports of local model servers: Ollama, LM Studio, vLLM, llama.cpp.
const LOCAL: [u16; 4] = [11434, 1234, 8000, 8080];
/// The maximum time for a server to list its models.
const PATIENCE: Duration = Duration::from_millis(500);

/// Finds the first local server with this model, or with any model if the name is empty.
pub(super) fn local(model: &str, time: Duration) -> Option<ModelJudge> {
    LOCAL.into_iter().find_map(|port| at_port(port, model, time))
}

fn at_port(port: u16, model: &str, time: Duration) -> Option<ModelJudge> {
    let of = |model: &str, time: Duration| {
        let options = ProviderOptions {
            name: format!("127.0.0.1:{port}"),
            url: format!("http://127.0.0.1:{port}/v1"),
            model: model.to_owned(),
            timeout_secs: time.as_secs().max(1),
            ..ProviderOptions::default()
        };
        let settings = options.resolve(|_| Err(String::new())).ok()?;
        ModelJudge::new(&options.name, Provider::new(settings)).ok()
    };
    let probe = of("any", time)?;
    let listed = async { tokio::time::timeout(PATIENCE, probe.provider.models()).await };
    let models = probe.wait_for(listed).ok()?;
    let mut models = models.ok()?.ok()?.into_iter();
    let found = models.find(|name| model.is_empty() || name == model)?;
    of(&found, time)
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
        let mut ignore = |_| {};
        let result = self.wait_for(self.provider.chat(&request, &mut ignore))?;
        let reply = result.map_err(|error| format!("`{}`: {error}", self.name))?;
        if reply.stop == Stop::Refused {
            return Err(format!("`{}` refused to answer", self.name));
        }
        let tokens = reply.usage.input.saturating_add(reply.usage.output);
        Ok(Reply { text: reply.text, tokens })
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// Starts a server that answers one request with this body.
    fn server(body: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length";
            write!(stream, "{head}: {}\r\n\r\n{body}", body.len()).unwrap();
        });
        port
    }

    #[test]
    fn a_model_server_is_known_by_its_list() {
        const LIST: &str = r#"{"object":"list","data":[{"id":"a"},{"id":"b"}]}"#;
        let time = Duration::from_secs(5);
        for (body, model, found) in [
            (LIST, "", Some("a")),
            (LIST, "b", Some("b")),
            (LIST, "c", None),
            (r#"{"data":[]}"#, "", None),
            ("<html>", "", None),
        ] {
            let port = server(body);
            let name = at_port(port, model, time).map(|judge| judge.name().to_owned());
            assert_eq!(name, found.map(|found| format!("127.0.0.1:{port}/{found}")), "{body}");
        }
    }
}
