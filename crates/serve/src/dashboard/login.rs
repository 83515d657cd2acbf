//! Signing in and out.

use hyper::body::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use maud::html;

use super::Dashboard;
use super::page;
use super::problem::HttpProblem;
use super::request::Fields;
use super::visitor::COOKIE;
use crate::http::{Answer, answer};

/// Maximum number of failed attempts per address and minute.
pub(super) const TRIES: u32 = 30;

/// The token in a submitted form.
pub(super) fn given(headers: &HeaderMap, body: &Bytes) -> Result<Option<String>, HttpProblem> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !kind.unwrap_or_default().starts_with("application/x-www-form-urlencoded") {
        let what = "the form must be `application/x-www-form-urlencoded`";
        return Err(HttpProblem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
    }
    let text = std::str::from_utf8(body).map_err(|_| HttpProblem::bad("the form is not UTF-8"))?;
    Ok(Some(Fields::read(text)?.one("token")?.unwrap_or_default().to_owned()))
}

/// Redirects to the sign-in page.
pub(super) fn first() -> Answer {
    to("/login")
}

/// The sign-in page.
pub(super) fn page(dashboard: &Dashboard, wrong: Option<&str>) -> Answer {
    let status = if wrong.is_some() { StatusCode::FORBIDDEN } else { StatusCode::OK };
    let body = html! {
        div .signin {
            h1 { "Sign in" }
            p { "Open the link that " code { "counterfoil serve" } " printed, or paste a token." }
            @if let Some(wrong) = wrong { p .notice .bad role="alert" { (wrong) } }
            form method="post" action="/login" {
                label for="token" { "Token" }
                input #token name="token" type="password" required autocomplete="off"
                    autofocus spellcheck="false";
                button .primary type="submit" { "Sign in" }
            }
        }
    };
    page::bare(dashboard, status, "Sign in", &body)
}

/// The page for a browser that uses another host name than the one for signing in.
pub(super) fn elsewhere(dashboard: &Dashboard) -> Answer {
    let body = html! {
        div .signin {
            h1 { "Sign in" }
            p {
                "Browsers can only sign in at the address that " code { "counterfoil serve" }
                " printed: open that address."
            }
        }
    };
    page::bare(dashboard, StatusCode::FORBIDDEN, "Sign in", &body)
}

/// The response that signs a browser in.
pub(super) fn signed_in(cookie: &str) -> Answer {
    let mut response = to("/");
    let cookie = format!("{COOKIE}={cookie}; HttpOnly; SameSite=Strict; Path=/");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// The response that signs a browser out.
pub(super) fn signed_out() -> Answer {
    let mut response = to("/login");
    let cookie = format!("{COOKIE}=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0");
    if let Ok(cookie) = HeaderValue::from_str(&cookie) {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

/// A redirect.
pub(super) fn to(place: &str) -> Answer {
    let mut response = answer(StatusCode::SEE_OTHER, "text/plain; charset=utf-8", "");
    if let Ok(place) = HeaderValue::from_str(place) {
        response.headers_mut().insert(header::LOCATION, place);
    }
    response
}
