use hyper::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::dashboard::Dashboard;
use crate::dashboard::problem::HttpProblem;
use crate::dashboard::request::VisitorRequest;
use crate::dashboard::visitor::Role;
use crate::http::Answer;

/// The path prefix of the API.
pub(crate) const ROOT: &str = "/api/v1";

/// An endpoint.
pub(crate) struct Resource {
    pub(super) method: Method,
    /// Relative to [`ROOT`]; `{…}` matches one path segment.
    pub(super) path: &'static str,
    pub(super) id: &'static str,
    pub(super) summary: &'static str,
    pub(super) role: Role,
    /// Names of the query parameters.
    pub(super) query: &'static [&'static str],
    pub(super) body: Option<SchemaOf>,
    pub(super) answer: SchemaOf,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
}

pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

pub(super) fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// An endpoint that reads.
pub(super) const fn read(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    query: &'static [&'static str],
    answer: SchemaOf,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
) -> Resource {
    let (method, role) = (Method::GET, Role::Read);
    Resource { method, path, id, summary, role, query, body: None, answer, act }
}

/// An endpoint that takes a body and changes something.
pub(super) const fn done(
    path: &'static str,
    id: &'static str,
    summary: &'static str,
    role: Role,
    body: SchemaOf,
    answer: SchemaOf,
    act: fn(&Dashboard, &VisitorRequest) -> Result<Answer, HttpProblem>,
) -> Resource {
    let (method, query) = (Method::POST, &[]);
    Resource { method, path, id, summary, role, query, body: Some(body), answer, act }
}

impl Resource {
    /// The minimum role.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Checks that a request without a token, from a signed-in browser, carries the token that only
    /// our own pages know.
    pub(crate) fn is_ours(&self, request: &VisitorRequest) -> Result<(), HttpProblem> {
        let Some(wanted) = request.visitor.form_token.as_deref() else { return Ok(()) };
        let given = request.headers.get("x-csrf-token").and_then(|value| value.to_str().ok());
        if self.method == Method::GET || given == Some(wanted) {
            return Ok(());
        }
        let what = "a signed-in browser must send the token of its page as `X-CSRF-Token`";
        Err(HttpProblem::forbidden(what))
    }

    /// Answers a request.
    pub(crate) fn answer(
        &self,
        dashboard: &Dashboard,
        request: &VisitorRequest,
    ) -> Result<Answer, HttpProblem> {
        request.query.are_among(self.query)?;
        (self.act)(dashboard, request)
    }
}
