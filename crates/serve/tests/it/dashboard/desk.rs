use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use counterfoil_guard::{
    FunctionExecutor, Guard, GuardOptions, Session, SessionStart, Surroundings, ToolError,
};
use counterfoil_model::{Role, Tool, ToolCall};
use counterfoil_serve::{
    Access, AccessToken, Dashboard, DashboardParts, PolicyRead, Role as AccessRole, serve_dashboard,
};
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{Method, Request, Response};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::time::sleep;

pub(super) const OPERATOR: &str = "operator-token-0001";
pub(super) const READER: &str = "reader-token-0000001";
/// Tokens of live readers.
pub(super) const ONLOOKERS: [&str; 3] =
    ["onlooker-token-00001", "onlooker-token-00002", "onlooker-token-00003"];

/// Characters that are special in HTML, change the text direction, or are invisible.
pub(super) const TRICKS: &str =
    "<script>alert(1)</script> \u{202e}txt.exe \u{1b}[31m \"quoted\" & 'single' \u{200b}";

/// A dashboard for a ledger in memory.
pub(super) struct Desk {
    pub(super) address: SocketAddr,
    pub(super) guard: Guard,
    pub(super) links: Arc<Mutex<Vec<String>>>,
    client: Client<HttpConnector, Full<Bytes>>,
}

/// A response.
pub(super) struct ClientResponse {
    pub(super) status: u16,
    pub(super) headers: hyper::HeaderMap,
    pub(super) text: String,
}

impl ClientResponse {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The value of the form token in a page.
    pub(super) fn form_token(&self) -> String {
        let (_, rest) = self.text.split_once("name=\"form_token\" value=\"").unwrap();
        rest.split_once('"').unwrap().0.to_owned()
    }
}

fn guard(options: GuardOptions) -> Guard {
    let look = FunctionExecutor::new(Tool::named("get_order"), |_| {
        Ok::<_, ToolError>(json!({ "id": 7, "state": "open", "total": "49.90" }).to_string())
    });
    let cancel = FunctionExecutor::new(Tool::named("cancel_order"), |_| {
        Ok::<_, ToolError>(json!({ "cancelled": 7 }).to_string())
    });
    let refund = FunctionExecutor::new(Tool::named("refund"), |_| Ok::<_, ToolError>("refunded"))
        .asking("money leaves the shop");
    Guard::builder()
        .settings(options.resolve().unwrap())
        .executor(look)
        .executor(cancel)
        .executor(refund)
        .build()
        .unwrap()
}

impl Desk {
    pub(super) async fn new() -> Self {
        Self::with(AccessRole::Operate, true).await
    }

    /// A dashboard whose approvals last one second.
    pub(super) async fn with_short_approvals() -> Self {
        let mut options = GuardOptions::default();
        options.tools.permissions.approval_secs = 1;
        Self::with_guard(&guard(options), AccessRole::Operate, true).await
    }

    /// A dashboard where no one has more than the role `most`; `by_link` enables sign-in links.
    pub(super) async fn with(most: AccessRole, by_link: bool) -> Self {
        Self::with_guard(&guard(GuardOptions::default()), most, by_link).await
    }

    async fn with_guard(guard: &Guard, most: AccessRole, by_link: bool) -> Self {
        let links = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&links);
        let announce: Box<dyn Fn(&str) + Send + Sync> =
            Box::new(move |token| heard.lock().unwrap().push(token.to_owned()));
        let token = |token: &str, role, name: &str| AccessToken {
            token: token.to_owned(),
            role,
            name: name.to_owned(),
        };
        let dashboard = Dashboard::new(DashboardParts {
            guard: guard.clone(),
            policy: Box::new(policy),
            audit: None,
            version: "1.2.3",
            access: Access::default(),
            browser_host: None,
            tokens: [
                token(OPERATOR, AccessRole::Operate, "ada"),
                token(READER, AccessRole::Read, "bob"),
            ]
            .into_iter()
            .chain(ONLOOKERS.map(|one| token(one, AccessRole::Read, one)))
            .collect(),
            most,
            announce: by_link.then_some(announce),
            operator: "eve".to_owned(),
        })
        .unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve_dashboard(Arc::new(dashboard), listener, std::future::pending()));
        let client = Client::builder(TokioExecutor::new()).build_http();
        let desk = Self { address, guard: guard.clone(), links, client };
        desk.followed().await;
        desk
    }

    pub(super) async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> Response<Incoming> {
        let mut request = Request::builder().method(method);
        request = request.uri(format!("http://{}{path}", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        self.client.request(request.body(Full::new(body.into())).unwrap()).await.unwrap()
    }

    pub(super) async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: impl Into<Bytes>,
    ) -> ClientResponse {
        let response = self.send(method, path, headers, body).await;
        let (head, body) = response.into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        ClientResponse { status: head.status.as_u16(), headers: head.headers, text }
    }

    /// A request with the operator's token.
    pub(super) async fn get(&self, path: &str) -> ClientResponse {
        let token = format!("Bearer {OPERATOR}");
        self.ask(Method::GET, path, &[("authorization", &token)], "").await
    }

    pub(super) async fn post(&self, path: &str, body: &str) -> ClientResponse {
        let token = format!("Bearer {OPERATOR}");
        let headers = [("authorization", &*token), ("content-type", "application/json")];
        self.ask(Method::POST, path, &headers, body.to_owned()).await
    }

    /// Signs a browser in and returns its cookie.
    pub(super) async fn signed_in(&self, token: &str) -> String {
        let headers = [("content-type", "application/x-www-form-urlencoded")];
        let response = self.ask(Method::POST, "/login", &headers, format!("token={token}")).await;
        assert_eq!(response.status, 303, "{}", response.text);
        response.header("set-cookie").split(';').next().unwrap().to_owned()
    }

    pub(super) async fn session(&self, id: &str) -> Session {
        let start = SessionStart { id: Some(id.to_owned()), ..SessionStart::default() };
        self.guard.session(start).unwrap()
    }

    pub(super) async fn call(&self, session: &Session, tool: &str, arguments: Value) -> String {
        let call = ToolCall::new("", tool, &*arguments.to_string());
        let answer = session.call(call, Surroundings::default()).await.unwrap();
        answer.text
    }

    /// A session with a successful call, a rejected one, a waiting one, and a false answer.
    pub(super) async fn shop(&self, id: &str) {
        let session = self.session(id).await;
        session.hear(Role::User, "Cancel order 7.").await.unwrap();
        self.call(&session, "get_order", json!({ "id": 7 })).await;
        self.call(&session, "delete_order", json!({ "note": TRICKS })).await;
        self.call(&session, "refund", json!({ "id": 7, "note": TRICKS })).await;
        let answer = format!("I have deleted order 7. {TRICKS}");
        session.verify(&answer).await.unwrap();
    }

    /// Waits until the dashboard has read the whole ledger.
    pub(super) async fn followed(&self) {
        let all = self.guard.ledger().checkpoint().unwrap().size();
        for _ in 0..400 {
            let health = self.get("/api/v1/health").await.json();
            let is_read = health["status"] != "reading";
            if is_read && health["ledger"]["events"].as_u64() >= Some(all) {
                return;
            }
            sleep(Duration::from_millis(25)).await;
        }
        panic!("the ledger is not followed");
    }
}

/// Any text without `broken` is a valid policy; `deny` in it denies everything.
fn policy(text: Option<&str>) -> Result<PolicyRead, String> {
    let text = text.unwrap_or("# in force");
    if text.contains("broken") {
        return Err("line 1: it is broken".to_owned());
    }
    let mut options = GuardOptions::default();
    if text.contains("deny") {
        options.tools.permissions.default = counterfoil_guard::Action::Deny;
    }
    let gates = options.resolve().unwrap().gates().for_host().build();
    Ok(PolicyRead { text: text.to_owned(), gates })
}
