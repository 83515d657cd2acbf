//! `cargo xtask docs`: the pages that are made from the code.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use countersign_rules::{Group, Meta, rules};

/// Flags of `cargo xtask docs`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Writes nothing; fails when a page is not current.
    #[arg(long)]
    check: bool,
}

/// A generated page.
pub(crate) struct Page {
    /// From the root of the repository.
    pub(crate) path: &'static str,
    /// What should stand there.
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

/// Every generated page. `read` gives what stands in a file now: only part of the README is made.
pub(crate) fn pages(read: impl Fn(&str) -> Option<String>) -> Result<Vec<Page>> {
    let readme = read("README.md").context("README.md cannot be read")?;
    Ok(vec![
        Page { path: "docs/rules.md", text: rules_page() },
        Page { path: "README.md", text: with_rules(&readme)? },
    ])
}

const BEGIN: &str = "<!-- made by `cargo xtask docs`: rules -->\n";
const END: &str = "<!-- end -->";

fn with_rules(readme: &str) -> Result<String> {
    let marked =
        readme.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = marked else {
        bail!("README.md lacks the lines `{}` and `{END}`", BEGIN.trim());
    };
    Ok(format!("{before}{BEGIN}{}{END}{after}", tables("spec/rules", "###")))
}

fn rules_page() -> String {
    format!(
        "<!-- made by `cargo xtask docs` from the rules' own descriptions -->\n\
         # Rules\n\n\
         A rule's code is stable for ever. Its mode (`off`, `shadow`, `warn`, `block`) can be set \
         by code or name, see [configuration](configuration.md). A rule in `block` mode makes an \
         error only of what the record proves; everything else it finds is a warning. \
         `countersign explain CODE` prints a rule's page.\n\n{}",
        tables("../spec/rules", "##")
    )
}

fn tables(folder: &str, level: &str) -> String {
    let mut text = String::new();
    for (group, title) in
        [(Group::Claim, "What the agent says"), (Group::Call, "The calls it makes")]
    {
        let _ =
            write!(text, "{level} {title}\n\n| code | name | mode | finds |\n|---|---|---|---|\n");
        for meta in rules().map(|rule| rule.meta()).filter(|meta| meta.group == group) {
            let Meta { code, name, mode, .. } = meta;
            let (mode, finds) = (mode.name(), sentence(meta.summary));
            let _ = writeln!(text, "| [{code}]({folder}/{code}.md) | {name} | {mode} | {finds} |");
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}

/// A summary as a cell: no full stop, small first letter unless it is a name or an acronym.
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
    fn only_the_marked_part_of_the_readme_is_made() {
        let made = with_rules(&format!("before\n{BEGIN}outdated row\n{END}\nafter\n")).unwrap();
        assert!(made.starts_with("before\n<!--") && made.ends_with("<!-- end -->\nafter\n"));
        assert!(!made.contains("outdated row"));
        assert!(with_rules("nothing marked").is_err());
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
