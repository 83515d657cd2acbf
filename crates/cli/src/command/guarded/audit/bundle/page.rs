//! The page of a bundle: its receipts for people, its JSON, and a program that verifies it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use counterfoil_ledger::{Bundle, Receipt};
use counterfoil_model::{Digest, PermitBasis};
use counterfoil_report::{visible, visible_output};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use super::super::table::time;

const STYLE: &str = include_str!("page.css");
const VERIFIER: &str = include_str!("verify.py");
/// The line before the bundle in a page.
pub(super) const MARKER: &str = r#"<script type="application/json" id="bundle">"#;

/// Renders the page of a bundle; `line` is the bundle as JSON.
pub(super) fn render(bundle: &Bundle, receipts: &[Receipt], line: &str) -> String {
    let style = STANDARD.encode(Digest::of_bytes(STYLE.as_bytes()).as_bytes());
    let allowed = format!(
        "default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'none'"
    );
    let title = "Counterfoil: receipts";
    let shown = html! {
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(allowed);
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { "Receipts" }
                    (how_to_verify())
                }
                main { (table(bundle, receipts)) }
            }
        }
    };
    // The two parts for programs come last, each on lines of its own.
    format!(
        "{}\n{COMMENT}{}\n{MARKER}\n{line}\n</script>\n\
         <script type=\"text/plain\" id=\"verify.py\">\n{VERIFIER}</script>\n",
        DOCTYPE.into_string(),
        shown.into_string(),
    )
}

/// How to verify the page without opening it.
const COMMENT: &str = concat!(
    "<!--\n",
    "A bundle of receipts, created by Counterfoil ",
    env!("CARGO_PKG_VERSION"),
    ". To verify it with Python, extract the program at its end, or\n",
    "take the program from a source you trust:\n\n",
    "  sed '1,/^<script.*verify.py/d;/^<.script/,$d' FILE > verify.py && python3 verify.py FILE --key KEY\n\n",
    "KEY is the ledger's public key, or its fingerprint, from a source you trust, not from this file.\n",
    "-->\n",
);

fn how_to_verify() -> Markup {
    html! {
        div .notice {
            p {
                strong { "This page proves nothing by itself." }
                " Anyone who changes a bundle can change what the page shows. To verify the receipts, run "
                code { "counterfoil audit verify-bundle FILE --public-key KEY" }
                ", or the Python program that the first lines of this file tell you how to extract."
            }
            p {
                code { "KEY" }
                " is the ledger's public key or its fingerprint. Get it from a source you trust: a \
                 forged bundle contains a key that matches it."
            }
        }
    }
}

fn table(bundle: &Bundle, receipts: &[Receipt]) -> Markup {
    html! {
        div .scrolls tabindex="0" role="region" aria-label="Receipts" {
            table {
                thead {
                    tr {
                        @for name in ["Time (UTC)", "Tool", "Arguments", "Permitted by", "Outcome", "Receipt"] {
                            th scope="col" { (name) }
                        }
                    }
                }
                tbody { @for receipt in receipts { (row(bundle, receipt)) } }
            }
        }
    }
}

fn row(bundle: &Bundle, receipt: &Receipt) -> Markup {
    // A bundle's results are sorted by digest.
    let found = receipt
        .recorded_digest
        .and_then(|digest| bundle.results.binary_search_by_key(&digest, |one| one.digest).ok());
    let result = found.and_then(|at| bundle.results.get(at));
    html! {
        tr {
            td { (time(receipt.started_at)) }
            td { (visible(&receipt.tool)) }
            td { code { (visible(&receipt.arguments.to_string())) } }
            td { (permitted(receipt.permit.as_ref())) }
            td {
                (outcome(receipt))
                @if let Some(result) = result {
                    (folded("result", &match (&result.text, &result.base64) {
                        (Some(text), _) => visible_output(text).into_owned(),
                        (None, encoded) => format!("(base64) {}", encoded.as_deref().unwrap_or_default()),
                    }))
                }
                @if let Some(answer) = &receipt.answer {
                    (folded("what the model was told", &visible_output(answer)))
                }
            }
            td { code { (visible(&receipt.execution_id)) } }
        }
    }
}

fn folded(name: &str, text: &str) -> Markup {
    html! { details { summary { (name) } pre { (text) } } }
}

fn permitted(permit: Option<&PermitBasis>) -> String {
    match permit {
        None | Some(PermitBasis::Nothing) => "nobody".to_owned(),
        Some(PermitBasis::Policy { rules }) if rules.is_empty() => "policy".to_owned(),
        Some(PermitBasis::Policy { rules }) => format!("policy: {}", visible(&rules.join(", "))),
        Some(PermitBasis::Approval { who, reason: None, .. }) => visible(who).into_owned(),
        Some(PermitBasis::Approval { who, reason: Some(reason), .. }) => {
            format!("{}: {}", visible(who), visible(reason))
        }
        Some(PermitBasis::Host) => "the host, without a gate".to_owned(),
        Some(PermitBasis::Reported) => "the client, which reported the call".to_owned(),
    }
}

fn outcome(receipt: &Receipt) -> String {
    let mut text = receipt.status.name().to_owned();
    if let Some(category) = &receipt.category {
        text += &format!(": {}", category.name());
    }
    if !receipt.codes.is_empty() {
        text += &format!(" ({})", visible(&receipt.codes.join(", ")));
    }
    if let Some(code) = receipt.exit_code {
        text += &format!(", exit code {code}");
    }
    text
}
