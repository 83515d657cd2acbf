//! The HTTP server of the dashboard.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, Request, StatusCode};
use tokio::net::TcpListener;

use super::problem::HttpProblem;
use super::request::{Fields, VisitorRequest, received, segments};
use super::visitor::{Role, Visitor};
use super::{
    Dashboard, ServeError, accuracy, answer, answers, approvals, assets, coverage, login, overview,
    page, policy, receipt, rejections, session, sessions, stream,
};
use crate::api;
use crate::http::{AccessError, Answer, Listening, listen};

/// How long open requests have to end when the process stops.
const GRACE: Duration = Duration::from_secs(5);

/// The content security policy of our pages: they may only load our own styles and scripts.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                      img-src 'self' data:; connect-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// A page: method, path, minimum role, and the function that renders it.
struct Page {
    method: Method,
    path: &'static str,
    role: Role,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
}

const fn get(
    path: &'static str,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
) -> Page {
    Page { method: Method::GET, path, role: Role::Read, act }
}

const fn post(
    path: &'static str,
    role: Role,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
) -> Page {
    Page { method: Method::POST, path, role, act }
}

/// All pages for signed-in visitors.
static PAGES: [Page; 15] = [
    get("/", overview::page),
    get("/sessions", sessions::page),
    get("/sessions/{session}", session::page),
    get("/receipts/{execution_id}", receipt::page),
    get("/receipts/{execution_id}/export", receipt::export),
    get("/answers", answers::page),
    get("/answers/{session}/{session_seq}", answer::page),
    get("/rejections", rejections::page),
    get("/approvals", approvals::page),
    post("/approvals/{execution_id}/grant", Role::Operate, approvals::grant),
    post("/approvals/{execution_id}/refuse", Role::Operate, approvals::refuse),
    get("/policy", policy::page),
    post("/policy", Role::Read, policy::replay),
    get("/coverage", coverage::page),
    get("/accuracy", accuracy::page),
];

/// Answers requests until `stop` completes, then waits for open ones.
///
/// # Errors
/// When connections can no longer be accepted.
pub async fn serve_dashboard(
    dashboard: Arc<Dashboard>,
    listener: TcpListener,
    stop: impl Future<Output = ()>,
) -> Result<(), ServeError> {
    let following = tokio::spawn(Arc::clone(&dashboard).follow());
    let (answering, stopped) = (Arc::clone(&dashboard), Arc::clone(&dashboard));
    let answering = move |request, from| {
        let dashboard = Arc::clone(&answering);
        async move { dashboard.answer(request, from).await }
    };
    let stop = async move {
        stop.await;
        // Live readers do not delay shutdown.
        stopped.stopping.send_replace(true);
    };
    let ended = listen(Listening { listener, tls: None, grace: GRACE }, stop, answering).await;
    following.abort();
    Ok(ended?)
}

impl Dashboard {
    async fn answer(self: Arc<Self>, request: Request<Incoming>, from: IpAddr) -> Answer {
        let (head, body) = request.into_parts();
        let is_api = head.uri.path().starts_with("/api/");
        let is_page = matches!(head.method, Method::GET | Method::HEAD);
        let is_asset = head.uri.path().starts_with("/assets/");
        let at_home = self.is_at_home(&head.headers);
        let visitor = self.visitors.visitor(&head.headers, at_home, self.now());
        let known = visitor.clone();
        let mut response = match Arc::clone(&self).respond(head, body, from, visitor).await {
            Ok(response) => response,
            Err(problem) if is_api => problem.json(),
            Err(problem) if problem.status == StatusCode::UNAUTHORIZED && is_page => login::first(),
            Err(problem) => page::problem(&self, known.as_ref(), &problem),
        };
        secure(response.headers_mut(), is_asset);
        response
    }

    /// Whether a request uses the host name at which browsers sign in.
    fn is_at_home(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        self.browser_host.as_deref().is_none_or(|home| host == Some(home))
    }

    async fn respond(
        self: Arc<Self>,
        head: Parts,
        body: Incoming,
        from: IpAddr,
        visitor: Option<Visitor>,
    ) -> Result<Answer, HttpProblem> {
        let checked = self.access.check(&head.headers, from, &self.counted);
        checked.map_err(|error| not_let_in(&error))?;
        let path = segments(head.uri.path())?;
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let query = Fields::read(head.uri.query().unwrap_or_default())?;
        match parts.as_slice() {
            ["assets", name] => return assets::asset(&head, name),
            ["login"] => return self.login(&head, body, from, &query).await,
            _ => {}
        }
        let visitor = visitor.ok_or_else(|| {
            let what = "a token is required: send `Authorization: Bearer …`, or sign in";
            HttpProblem::new(StatusCode::UNAUTHORIZED, what)
        })?;
        match parts.as_slice() {
            ["logout"] => return self.logout(&head, body, &visitor).await,
            ["events"] => return stream::stream(self, head, &query, &visitor.name),
            _ => {}
        }
        let is_api = matches!(parts.as_slice(), ["api", "v1", ..]);
        let (route, named) = match is_api {
            true => {
                let (resource, named) = api::find(&head.method, &path)?;
                visitor.needs(resource.role())?;
                (Route::Resource(resource), named)
            }
            false => {
                let (page, named) = page_of(&head.method, &path)?;
                visitor.needs(page.role)?;
                (Route::Page(page), named)
            }
        };
        let body = match head.method {
            Method::POST => received(body).await?,
            _ => Bytes::new(),
        };
        let request = VisitorRequest { named, query, headers: head.headers, body, visitor };
        let dashboard = Arc::clone(&self);
        let answered = tokio::task::spawn_blocking(move || route.answer(&dashboard, &request));
        answered.await.unwrap_or_else(|_| {
            let what = "internal server error; see the server's log";
            Err(HttpProblem::new(StatusCode::INTERNAL_SERVER_ERROR, what))
        })
    }

    async fn login(
        &self,
        head: &Parts,
        body: Incoming,
        from: IpAddr,
        query: &Fields,
    ) -> Result<Answer, HttpProblem> {
        // Do not reveal the host name to those who do not know it.
        if !self.is_at_home(&head.headers) {
            return Ok(login::elsewhere(self));
        }
        let given = match head.method {
            // A preview or prefetch of a link must not sign anyone in.
            Method::HEAD => None,
            Method::GET if is_from_elsewhere(&head.headers) => None,
            Method::GET => query.some("token")?.map(str::to_owned),
            Method::POST => login::given(&head.headers, &received(body).await?)?,
            _ => return Err(HttpProblem::method(vec![Method::GET, Method::POST])),
        };
        let Some(given) = given else { return Ok(login::page(self, None)) };
        match self.visitors.sign_in(given.trim(), self.now()) {
            Some((cookie, is_once)) => {
                if is_once {
                    self.announce_next();
                }
                Ok(login::signed_in(&cookie))
            }
            // Only failed attempts count, so others cannot lock out a visitor with a valid token.
            None if !self.signing_in.holds(from, login::TRIES) => {
                let what = "too many sign-in attempts: wait a minute";
                Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, what))
            }
            None => Ok(login::page(self, Some("This token is unknown or was already used."))),
        }
    }

    /// A link works once; announces another for the next visitor.
    fn announce_next(&self) {
        if let Some(token) = self.visitors.once(&self.operator) {
            (self.announce)(&token);
        }
    }

    async fn logout(
        &self,
        head: &Parts,
        body: Incoming,
        visitor: &Visitor,
    ) -> Result<Answer, HttpProblem> {
        if head.method != Method::POST {
            return Err(HttpProblem::method(vec![Method::POST]));
        }
        let body = received(body).await?;
        let request = VisitorRequest {
            named: Vec::new(),
            query: Fields::default(),
            headers: head.headers.clone(),
            body,
            visitor: visitor.clone(),
        };
        page::is_our_form(&request)?;
        self.visitors.sign_out(&head.headers);
        Ok(login::signed_out())
    }
}

/// Whether the browser says that a page of another site caused the request.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    headers.get("sec-fetch-site").is_some_and(|site| site == "cross-site")
        && headers.get("sec-fetch-mode").is_none_or(|mode| mode != "navigate")
}

/// The target of a request.
enum Route {
    Page(&'static Page),
    Resource(&'static api::Resource),
}

impl Route {
    fn answer(
        &self,
        dashboard: &Dashboard,
        request: &VisitorRequest,
    ) -> Result<Answer, HttpProblem> {
        match self {
            Self::Resource(resource) => {
                resource.is_ours(request)?;
                resource.answer(dashboard, request)
            }
            Self::Page(page) => {
                if page.method == Method::POST {
                    page::is_our_form(request)?;
                }
                (page.act)(dashboard, request)
            }
        }
    }
}

fn not_let_in(error: &AccessError) -> HttpProblem {
    let what = match error {
        AccessError::Host(host, _) => {
            format!(
                "the host `{host}` is not allowed: if it belongs to this server, add it with \
                 `--host`"
            )
        }
        AccessError::Origin(origin, _) => {
            format!(
                "requests from pages on `{origin}` are not allowed: if that is this server, add \
                 its host name with `--host`"
            )
        }
        other => other.to_string(),
    };
    HttpProblem::new(error.status(), what)
}

/// The page of a request, and the values of its path parameters.
fn page_of(method: &Method, path: &[String]) -> Result<(&'static Page, Vec<String>), HttpProblem> {
    let fits = |page: &'static Page| Some((page, api::fitting(page.path, path)?));
    let found: Vec<(&Page, Vec<String>)> = PAGES.iter().filter_map(fits).collect();
    if found.is_empty() {
        return Err(HttpProblem::missing("there is no such page"));
    }
    let is = |page: &Page| {
        page.method == *method || page.method == Method::GET && *method == Method::HEAD
    };
    let allow: Vec<Method> = found.iter().map(|(page, _)| page.method.clone()).collect();
    found.into_iter().find(|(page, _)| is(page)).ok_or_else(|| HttpProblem::method(allow))
}

/// Sets the security headers of every response.
fn secure(headers: &mut HeaderMap, is_asset: bool) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.insert(header::HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    if !is_asset {
        headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    }
}
