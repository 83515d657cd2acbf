use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use counterfoil_ledger::{Egress, Requested, TrustLevel};
use counterfoil_model::{Effects, Origin, SideEffect, Tool, ToolErrorCategory};
use serde_json::{Value, json};
use url::Url;

use super::fetch::{Fetcher, Page};
use super::markdown::markdown;
use super::resolve::{Resolver, SystemResolver};
use super::target::Target;
use crate::WebSettings;
use crate::scene::Scene;
use crate::wanted::Wanted;
use crate::{ToolError, ToolOutput, classify_http_status};

/// The names of the tools.
const FETCH: &str = "fetch";
const SCRAPE: &str = "scrape";

/// The maximum number of characters shown from the body of an error response.
const FAILURE_SHOWN: usize = 2_000;

/// Fetches pages, unchanged or as Markdown. The guard decides who may fetch them.
///
/// Every request is checked like the first: its URL, the addresses of its host, and the address of
/// the connection. No proxy, no cookies, no credentials, no reuse of connections.
#[derive(Clone)]
pub struct WebTools {
    fetcher: Arc<Fetcher>,
}

impl WebTools {
    /// Creates the tools with these settings and the resolver of the system.
    #[must_use]
    pub fn new(settings: WebSettings) -> Self {
        Self::resolving(settings, SystemResolver)
    }

    /// Creates the tools with another resolver.
    #[must_use]
    pub fn resolving(settings: WebSettings, resolver: impl Resolver + 'static) -> Self {
        let resolver = Box::new(resolver);
        Self { fetcher: Arc::new(Fetcher { settings, resolver, tls: OnceLock::new() }) }
    }

    /// Performs one call; `None` if the tool is not a web tool.
    ///
    /// # Errors
    /// When the call has no URL. Failures to fetch are in the output.
    pub async fn perform(
        &self,
        call: Wanted<'_>,
        scene: &Scene<'_>,
    ) -> Result<Option<ToolOutput>, ToolError> {
        let as_markdown = match call.tool {
            FETCH => false,
            SCRAPE => true,
            _ => return Ok(None),
        };
        let url = url(call)?;
        let mut egress = Vec::new();
        let settings = &self.fetcher.settings;
        let working = async {
            self.grounded(url, scene, &mut egress)?;
            let page = self.fetcher.fetch(url, &mut egress).await?;
            shown(page, as_markdown, settings.max_output).await
        };
        let ended = tokio::time::timeout(settings.timeout, working).await;
        let mut output = match ended {
            Ok(Ok(output)) => output,
            Ok(Err(error)) => failed(&error),
            Err(_) => {
                let within = settings.timeout.as_secs();
                let message = format!("the page did not load within {within} s");
                failed(&ToolError::new(ToolErrorCategory::Timeout, message))
            }
        };
        let reached = egress.iter().filter(|one| one.blocked.is_none());
        output.side_effects = reached.map(|one| SideEffect::Reached(one.host.clone())).collect();
        output.side_effects.dedup();
        output.egress = egress;
        Ok(Some(output))
    }

    /// Checks that the URL has a known source, if the settings require one.
    fn grounded(
        &self,
        url: &str,
        scene: &Scene<'_>,
        egress: &mut Vec<Egress>,
    ) -> Result<(), ToolError> {
        let typed = scene.requested == Requested::ByUser;
        if !self.fetcher.settings.grounded_only || typed || scene.claim_source.is_some() {
            return Ok(());
        }
        let why = "`tools.web.grounded_only` is set, but this URL comes neither from the user nor \
                   from an earlier result";
        egress.push(Egress {
            host: Target::read(url).map(|target| target.authority()).unwrap_or_default(),
            address: None,
            method: "GET".to_owned(),
            status: None,
            bytes: 0,
            blocked: Some(why.to_owned()),
        });
        Err(ToolError::new(ToolErrorCategory::PolicyBlocked, why))
    }
}

impl fmt::Debug for WebTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebTools").field("settings", &self.fetcher.settings).finish()
    }
}

impl WebTools {
    /// The definitions of the tools.
    #[must_use]
    pub fn definitions() -> Vec<Tool> {
        vec![
            definition(FETCH, "Fetches the text at a URL, unchanged."),
            definition(
                SCRAPE,
                "Fetches a web page and returns its text as Markdown, without menus and other \
                 navigation.",
            ),
        ]
    }

    /// Whether a tool of this name belongs here.
    #[must_use]
    pub fn owns(tool: &str) -> bool {
        tool == FETCH || tool == SCRAPE
    }

    /// Why a person has to approve this call first: every host needs approval unless the operator
    /// has named it.
    #[must_use]
    pub fn question(&self, call: Wanted<'_>, scene: &Scene<'_>) -> Option<String> {
        if !Self::owns(call.tool) {
            return Some(format!("`{}` is not a tool of this executor", call.tool));
        }
        if scene.trust == TrustLevel::Trusted {
            return None;
        }
        let settings = &self.fetcher.settings;
        let target = url(call).ok().and_then(|url| Target::read(url).ok());
        // A call that is refused anyway has no effect and needs no question.
        let target = target.filter(|target| target.permit(settings).is_ok())?;
        (!target.is_agreed(settings)).then(|| {
            let name = target.name();
            format!("the call contacts `{name}`, which is not in `tools.web.allow_domains`")
        })
    }

    /// Why it would be refused even with approval, as far as is known in advance.
    #[must_use]
    pub fn refusal(&self, call: Wanted<'_>, _scene: &Scene<'_>) -> Option<ToolError> {
        let settings = &self.fetcher.settings;
        url(call).and_then(|url| Ok(Target::read(url)?.permit(settings)?)).err()
    }
}

fn definition(name: &str, description: &str) -> Tool {
    let parameters = json!({
        "type": "object",
        "properties": {
            "url": { "type": "string", "minLength": 1, "description": "The URL, with `https://`." }
        },
        "required": ["url"],
        "additionalProperties": false
    });
    Tool {
        description: description.to_owned(),
        parameters: Some(parameters),
        origin: Origin::Builtin,
        effects: Effects {
            reads: Some(true),
            writes: Some(false),
            network: Some(true),
            idempotent: Some(true),
            retrieves: Some(true),
        },
        ..Tool::named(name)
    }
}

fn url(call: Wanted<'_>) -> Result<&str, ToolError> {
    let url = call.arguments.get("url").and_then(Value::as_str);
    url.ok_or_else(|| ToolError::new(ToolErrorCategory::InvalidParameters, "`url` is missing"))
}

/// A failure as an output, so that the requests can be recorded with it.
fn failed(error: &ToolError) -> ToolOutput {
    ToolOutput { text: error.to_string(), failure: Some(error.category()), ..ToolOutput::default() }
}

/// The output for a page.
async fn shown(page: Page, as_markdown: bool, most: usize) -> Result<ToolOutput, ToolError> {
    let Page { url, moved, status, reason, kind, body } = page;
    let size = body.len();
    if let Some(failure) = classify_http_status(status) {
        let excerpt = kind.text(&body).unwrap_or_default();
        let (excerpt, _) = head(&excerpt, FAILURE_SHOWN);
        let text = format!("the server answered {status} {reason}\n{excerpt}");
        return Ok(ToolOutput { text, failure: Some(failure), ..ToolOutput::default() });
    }
    let Some(whole) = kind.text(&body) else {
        let media = if kind.media.is_empty() { "of an unknown type" } else { kind.media.as_str() };
        let message = format!("the content is {media}, not text ({size} bytes)");
        return Err(ToolError::new(ToolErrorCategory::PermanentFailure, message));
    };
    let converted = as_markdown && (kind.is_html() || kind.media.is_empty());
    let (text, left_out) =
        if converted { convert(whole, url.clone()).await? } else { (whole, false) };
    let (mut text, cut) = match head(&text, most) {
        (_, false) => (text, false),
        (beginning, true) => (beginning.to_owned(), true),
    };
    let mut notes = Vec::new();
    if cut {
        notes.push(format!("truncated after {most} characters"));
    }
    if left_out {
        notes.push("the page is too large: parts of it are left out".to_owned());
    }
    if moved {
        notes.push(format!("found at {url}"));
    }
    for note in notes {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text += &format!("[{note}]\n");
    }
    Ok(ToolOutput { text, truncated: cut || left_out, ..ToolOutput::default() })
}

/// Abandons a conversion when dropped.
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

async fn convert(html: String, base: Url) -> Result<(String, bool), ToolError> {
    let given_up = Arc::new(AtomicBool::new(false));
    let _giving_up = GiveUp(Arc::clone(&given_up));
    let converted = tokio::task::spawn_blocking(move || markdown(&html, &base, &given_up)).await;
    match converted {
        Ok(Some(converted)) => Ok((converted.text, converted.cut)),
        Ok(None) | Err(_) => {
            let message = "the page cannot be converted; use `fetch` to get it unchanged";
            Err(ToolError::new(ToolErrorCategory::PermanentFailure, message))
        }
    }
}

/// At most this many characters, and whether some are missing.
fn head(text: &str, most: usize) -> (&str, bool) {
    match text.char_indices().nth(most) {
        Some((at, _)) => (text.get(..at).unwrap_or(text), true),
        None => (text, false),
    }
}
