//! Tests of the clients against a scripted local server.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test says what it expects")]

mod server;
mod wires;

use counterfoil_guard::{Completion as _, Embedder as _};
use counterfoil_model::{Tool, ToolCall};
use counterfoil_providers::{
    Kind, LlmOptions, Piece, Provider, ProviderError, ProviderOptions, ProviderOptionsError, Reply,
    Request, Turn,
};
use serde_json::{Value, json};
use server::{Answer, Server};

fn options(server: &Server, kind: Kind) -> ProviderOptions {
    ProviderOptions {
        name: "p".to_owned(),
        kind,
        url: format!("http://{}/v1/", server.address),
        model: "m".to_owned(),
        timeout_secs: 5,
        ..ProviderOptions::default()
    }
}

fn provider(options: &ProviderOptions) -> Provider {
    Provider::new(options.resolve(|_| Ok("sk-secret".to_owned())).unwrap())
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(future)
}

fn hello() -> Request {
    Request { turns: vec![Turn::User("Hello".to_owned())], ..Request::default() }
}

/// The model's reply, and the pieces that arrived on the way.
fn chat(provider: &Provider, request: &Request) -> (Result<Reply, ProviderError>, Vec<Piece>) {
    let mut pieces = Vec::new();
    let reply = wait(provider.chat(request, &mut |piece| pieces.push(piece)));
    (reply, pieces)
}

const HI: &str = r#"{"choices":[{"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;

#[test]
fn a_request_to_a_busy_server_is_retried_and_a_refused_one_is_not() {
    let busy =
        || Answer::status(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after: 0");
    let half = || Answer::stream(&[r#"{"choices":[{"delta":{"content":"H"}}]}"#]);
    let gone = Answer::closed;
    for (answers, attempts, expected) in [
        (vec![busy(), Answer::json(HI)], 2, Ok("Hi")),
        (vec![half(), Answer::json(HI)], 2, Ok("Hi")),
        (vec![gone(), Answer::json(HI)], 2, Ok("Hi")),
        (vec![busy(), busy()], 2, Err("`p` responded with HTTP status 429: slow down")),
        (
            vec![Answer::status(401, r#"{"error":{"message":"no such key"}}"#)],
            1,
            Err("`p` responded with HTTP status 401: no such key"),
        ),
        (vec![half(), half()], 2, Err("`p` gave no valid response: the response broke off")),
        (
            vec![Answer::json("{}"), Answer::json("nonsense")],
            2,
            Err(
                "`p` gave no valid response: the response cannot be parsed: unknown word (line 1, \
                 column 2)",
            ),
        ),
    ] {
        let server = Server::start(answers);
        let options = ProviderOptions { max_attempts: 2, ..options(&server, Kind::OpenAi) };
        let (reply, pieces) = chat(&provider(&options), &hello());
        let reply = reply.map(|reply| reply.text).map_err(|error| error.to_string());
        assert_eq!(reply.as_deref().map_err(String::as_str), expected);
        assert_eq!(server.requests().len(), attempts);
        let again = pieces.iter().filter(|piece| matches!(piece, Piece::Again { .. })).count();
        assert_eq!(again, attempts - 1, "{pieces:?}");
    }
}

#[test]
fn a_silent_server_is_given_up() {
    let server = Server::start(vec![Answer::silent()]);
    let options =
        ProviderOptions { timeout_secs: 1, max_attempts: 1, ..options(&server, Kind::OpenAi) };
    let (reply, _) = chat(&provider(&options), &hello());
    assert_eq!(reply.unwrap_err().to_string(), "cannot reach `p`: the server sent nothing for 1 s");
}

#[test]
fn the_key_goes_where_its_wire_wants_it_and_is_shown_nowhere() {
    for (kind, header) in [
        (Kind::OpenAi, "authorization: Bearer sk-secret"),
        (Kind::Anthropic, "x-api-key: sk-secret"),
    ] {
        let server = Server::start(vec![Answer::status(400, "no")]);
        let options = ProviderOptions { api_key_env: "KEY".to_owned(), ..options(&server, kind) };
        let provider = provider(&options);
        let (reply, _) = chat(&provider, &hello());
        let request = &server.requests()[0];
        assert!(request.head.contains(header), "{}", request.head);
        for shown in [format!("{provider:?}"), format!("{:?}", reply.unwrap_err())] {
            assert!(!shown.contains("sk-secret"), "{shown}");
        }
    }
}

#[test]
fn a_model_without_tools_reads_about_them_and_writes_its_calls() {
    let response = r#"{"choices":[{"message":{"content":"I look.\n<tool_call>{\"name\": \"ls\", \"arguments\": {\"n\": 1.50}}</tool_call>"},"finish_reason":"stop"}]}"#;
    let server = Server::start(vec![Answer::json(response)]);
    let options = ProviderOptions { supports_tool_use: false, ..options(&server, Kind::Ollama) };
    let request = Request { tools: vec![Tool::named("ls")], ..hello() };
    let reply = chat(&provider(&options), &request).0.unwrap();
    assert_eq!(reply.text, "I look.");
    assert_eq!(reply.calls, [ToolCall::new("call_1", "ls", r#"{"n": 1.50}"#)]);
    let request = &server.requests()[0].body;
    assert_eq!(request.get("tools"), None);
    assert!(request["messages"][0]["content"].as_str().unwrap().contains("- ls: "), "{request}");
}

#[test]
fn it_completes_and_embeds() {
    let vectors = r#"{"data":[{"index":1,"embedding":[0.5,1]},{"index":0,"embedding":[1,0]}]}"#;
    let few = r#"{"data":[{"index":0,"embedding":[1,0]}]}"#;
    let server = Server::start(vec![Answer::json(HI), Answer::json(vectors), Answer::json(few)]);
    let options =
        ProviderOptions { embedding_model: "e".to_owned(), ..options(&server, Kind::OpenAi) };
    let provider = provider(&options);
    assert_eq!(wait(provider.complete("Hello")).unwrap(), "Hi");
    let texts = ["a".to_owned(), "b".to_owned()];
    assert_eq!(wait(provider.embed(&texts)).unwrap(), [[1.0, 0.0], [0.5, 1.0]]);
    let error = wait(provider.embed(&texts)).unwrap_err();
    assert!(error.to_string().contains("does not have one vector per text"), "{error}");
    let bodies: Vec<Value> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies[1]["input"], json!(["a", "b"]));
}

#[test]
fn options_that_cannot_be_used_say_why() {
    let good = ProviderOptions {
        name: "p".to_owned(),
        model: "m".to_owned(),
        ..ProviderOptions::default()
    };
    let url = |url: &str| ProviderOptions { url: url.to_owned(), ..good.clone() };
    let key = ProviderOptions { api_key_env: "KEY".to_owned(), ..good.clone() };
    let cases = [
        (ProviderOptions { model: String::new(), ..good.clone() }, "has no `model`"),
        (ProviderOptions { timeout_secs: 0, ..good.clone() }, "between 1 and 3600"),
        (url("api.example.com"), "is not a URL"),
        (url("http://api.example.com/v1"), "uses plain HTTP"),
        (url("http://localhost.example/v1"), "uses plain HTTP"),
        (url("ftp://api.example.com/v1"), "neither http nor https"),
        (url("https://me:pw@api.example.com/v1"), "contains a user name or password"),
        (key, "the environment variable `KEY` is not set"),
    ];
    for (options, why) in cases {
        let error = options.resolve(|_| Err("is not set".to_owned())).unwrap_err().to_string();
        assert!(error.contains(why), "{error}: not {why}");
    }
    for address in ["http://127.0.0.1:1/v1", "http://[::1]:1/v1", ""] {
        url(address).resolve(|_| Ok(String::new())).unwrap();
    }
}

#[test]
fn providers_have_names_of_their_own() {
    let of = |names: &[&str]| LlmOptions {
        providers: names
            .iter()
            .map(|name| ProviderOptions { name: (*name).to_owned(), ..ProviderOptions::default() })
            .collect(),
    };
    assert_eq!(of(&["a", "b"]).named("").unwrap().name, "a");
    assert_eq!(of(&["a", "b"]).named("b").unwrap().name, "b");
    for (names, name, error) in [
        (&[][..], "", ProviderOptionsError::None),
        (&["a"], "b", ProviderOptionsError::Unknown("b".to_owned())),
        (&["a", "a"], "a", ProviderOptionsError::TwoOfOneName("a".to_owned())),
        (&[""], "", ProviderOptionsError::NoName),
    ] {
        assert_eq!(of(names).named(name), Err(error));
    }
}
