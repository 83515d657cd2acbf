//! The frame of every page.

use hyper::StatusCode;
use maud::{DOCTYPE, Markup, html};

use super::Dashboard;
use super::assets::address;
use super::problem::HttpProblem;
use super::request::VisitorRequest;
use super::visitor::Visitor;
use crate::http::{Answer, answer};

/// The pages in the navigation of every page: address, name.
const PLACES: [(&str, &str); 8] = [
    ("/", "Overview"),
    ("/sessions", "Sessions"),
    ("/answers", "Answers"),
    ("/rejections", "Rejections"),
    ("/approvals", "Approvals"),
    ("/policy", "Policy"),
    ("/coverage", "Coverage"),
    ("/accuracy", "Accuracy"),
];

/// The form field with the token that only our own pages know.
pub(super) const FORM_TOKEN: &str = "form_token";

/// The hidden field with the form token.
pub(super) fn form_token(visitor: &Visitor) -> Markup {
    html! {
        @if let Some(token) = &visitor.form_token {
            input type="hidden" name=(FORM_TOKEN) value=(token);
        }
    }
}

/// Checks that a form came from one of our pages. Not needed if the request carries an access
/// token.
pub(super) fn is_our_form(request: &VisitorRequest) -> Result<(), HttpProblem> {
    let Some(wanted) = request.visitor.form_token.as_deref() else { return Ok(()) };
    if request.form()?.one(FORM_TOKEN)? == Some(wanted) {
        return Ok(());
    }
    Err(HttpProblem::forbidden("this form has expired: reload the page"))
}

/// A page for a signed-in visitor. `place` is the address of the navigation entry that it belongs
/// to.
pub(super) fn whole(
    dashboard: &Dashboard,
    visitor: &Visitor,
    place: &str,
    title: &str,
    body: &Markup,
) -> Answer {
    framed(dashboard, StatusCode::OK, Some((visitor, place)), title, body)
}

/// A page for anyone.
pub(super) fn bare(
    dashboard: &Dashboard,
    status: StatusCode,
    title: &str,
    body: &Markup,
) -> Answer {
    framed(dashboard, status, None, title, body)
}

/// The page for a problem.
pub(super) fn problem(
    dashboard: &Dashboard,
    visitor: Option<&Visitor>,
    problem: &HttpProblem,
) -> Answer {
    let title = problem.status.canonical_reason().unwrap_or("The request failed");
    let body = html! {
        h1 { (title) }
        p .notice .bad role="alert" { (super::pieces::plain(&problem.detail)) }
        p { a href="/" { "Back to the overview" } }
    };
    let around = visitor.map(|visitor| (visitor, "-"));
    let mut response = framed(dashboard, problem.status, around, title, &body);
    problem.head(&mut response);
    response
}

fn framed(
    dashboard: &Dashboard,
    status: StatusCode,
    around: Option<(&Visitor, &str)>,
    title: &str,
    body: &Markup,
) -> Answer {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · Counterfoil" }
                link rel="icon" href=(address("mark.svg")) type="image/svg+xml";
                link rel="stylesheet" href=(address("uplot.css"));
                link rel="stylesheet" href=(address("page.css"));
                @if around.is_some() {
                    script src=(address("uplot.js")) defer {}
                    script src=(address("page.js")) defer {}
                }
            }
            body {
                a .skip href="#main" { "Skip to the content" }
                header .top {
                    div .bar {
                        a .brand href="/" {
                            img src=(address("mark.svg")) alt="" width="22" height="22";
                            "Counterfoil"
                        }
                        @if let Some((visitor, place)) = around { (places(dashboard, place)) (who(visitor)) }
                    }
                }
                main #main tabindex="-1" {
                    @if around.is_some() && let Err(problem) = dashboard.has_read_all() {
                        p .notice role="status" { (super::pieces::plain(&problem.detail)) }
                    }
                    (body)
                }
                footer {
                    p { "counterfoil " (dashboard.version()) }
                    @if around.is_some() {
                        p #live role="status" { "Times are in UTC." }
                        p { a href="/api/v1/openapi.json" { "HTTP API" } }
                    }
                }
            }
        }
    };
    answer(status, "text/html; charset=utf-8", page.into_string())
}

fn places(dashboard: &Dashboard, place: &str) -> Markup {
    let waiting = dashboard.known().waiting_count(dashboard.now());
    html! {
        nav aria-label="Pages" {
            ul {
                @for (address, name) in PLACES {
                    li {
                        a href=(address) aria-current=[(address == place).then_some("page")] {
                            (name)
                            @if address == "/approvals" {
                                " "
                                span data-live="waiting" {
                                    @if waiting > 0 { span .count { (waiting) } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

fn who(visitor: &Visitor) -> Markup {
    html! {
        form .who method="post" action="/logout" {
            (form_token(visitor))
            span { (super::pieces::plain(&visitor.name)) " · " (visitor.role.name()) }
            @if visitor.form_token.is_some() { button type="submit" { "Sign out" } }
        }
    }
}
