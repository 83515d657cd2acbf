//! `cargo xtask docs`: the pages that are generated from the code.

mod keys;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use counterfoil_rules::{Group, Meta, rules};

/// Flags of `cargo xtask docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write nothing, and fail if a page is not current.
    #[arg(long)]
    check: bool,
}

/// A generated page.
pub(crate) struct Page {
    /// The path from the root of the repository.
    pub(crate) path: &'static str,
    /// The expected text.
    pub(crate) text: String,
}

#[expect(clippy::disallowed_methods, reason = "a developer tool writes pages")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let read = |path: &str| std::fs::read_to_string(root.join(path)).ok();
    for page in pages(read)? {
        if read(page.path).as_deref() == Some(&page.text) {
            continue;
        }
        if options.check {
            bail!("{} is not current: run `cargo xtask docs`", page.path);
        }
        std::fs::write(root.join(page.path), page.text)
            .with_context(|| format!("writing {}", page.path))?;
    }
    Ok(())
}

/// Returns every generated page. `read` returns the current text of a file, because some pages are
/// only partly generated.
pub(crate) fn pages(read: impl Fn(&str) -> Option<String>) -> Result<Vec<Page>> {
    let text = |path: &str| read(path).with_context(|| format!("{path} cannot be read"));
    let configuration = "docs/configuration.md";
    let keys = keys::tables(&text("schemas/counterfoil.schema.json")?)?;
    Ok(vec![
        Page { path: "docs/rules.md", text: rules_page() },
        Page {
            path: configuration,
            text: with(configuration, &text(configuration)?, "keys", &keys)?,
        },
    ])
}

const END: &str = "<!-- end -->";

/// Replaces the marked part of the page.
fn with(path: &str, page: &str, part: &str, made: &str) -> Result<String> {
    let begin = format!("<!-- made by `cargo xtask docs`: {part} -->\n");
    let marked =
        page.split_once(&begin).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = marked else {
        bail!("{path} lacks the lines `{}` and `{END}`", begin.trim());
    };
    Ok(format!("{before}{begin}{made}{END}{after}"))
}

fn rules_page() -> String {
    format!(
        "<!-- made by `cargo xtask docs` from the rules' own descriptions -->\n\
         # Rules\n\n\
         A rule's code never changes. To set its mode (`off`, `shadow`, `warn`, `block`), refer \
         to the rule by its code or its name; see [configuration](configuration.md). In `block` \
         mode, a rule reports an error only if the record proves the problem; a claim that the \
         record can neither confirm nor refute is *not checkable* and is not reported. \
         `counterfoil explain CODE` prints a rule's page.\n\n{}",
        tables()
    )
}

fn tables() -> String {
    let mut text = String::new();
    for (group, title) in
        [(Group::Claim, "What the agent says"), (Group::Call, "The calls it makes")]
    {
        let _ = write!(text, "## {title}\n\n| code | name | mode | finds |\n|---|---|---|---|\n");
        for meta in rules().map(|rule| rule.meta()).filter(|meta| meta.group == group) {
            let Meta { code, name, mode, .. } = meta;
            let (mode, finds) = (mode.name(), sentence(meta.summary));
            let _ = writeln!(
                text,
                "| [{code}](../crates/rules/spec/{code}.md) | {name} | {mode} | {finds} |"
            );
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// Formats a summary for a table cell: no full stop, and a lower-case first letter unless the word
/// is an acronym.
fn sentence(summary: &str) -> String {
    let summary = summary.trim_end_matches('.').replace('|', "\\|");
    let mut letters = summary.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if first.is_uppercase() && !second.is_uppercase() => {
            first.to_lowercase().chain(summary.chars().skip(1)).collect()
        }
        _ => summary,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_marked_part_of_a_page_is_made() {
        let begin = "<!-- made by `cargo xtask docs`: rules -->\n";
        let page = format!("before\n{begin}outdated row\n{END}\nafter\n");
        let made = with("README.md", &page, "rules", "new row\n").unwrap();
        assert_eq!(made, format!("before\n{begin}new row\n{END}\nafter\n"));
        assert!(with("README.md", &page, "keys", "").is_err());
    }

    #[test]
    fn summaries_become_cells() {
        let cases = [
            ("A parameter is absent.", "a parameter is absent"),
            ("URLs that nobody saw", "URLs that nobody saw"),
            ("success is claimed", "success is claimed"),
            ("`a|b` is", "`a\\|b` is"),
        ];
        for (summary, expected) in cases {
            assert_eq!(sentence(summary), expected);
        }
    }
}
