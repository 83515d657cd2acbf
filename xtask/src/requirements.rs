//! `cargo xtask requirements`: tests every example, key, type and promise of the product's source
//! documents on the product. The results are in `spec/requirements.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use counterfoil_admission::{Admission, AdmissionSettings};
use counterfoil_formats::{Options as ReadOptions, read, read_tools};
use counterfoil_model::{Arguments, Catalog, ToolCall};
use counterfoil_rules::{Settings, check};
use serde::Deserialize;
use serde_json::Value;

/// The documents, in the order of the page.
const DOCUMENTS: [&str; 4] =
    ["rfc-0002", "execution-tracking", "call-validation", "tool-execution"];

/// Later work, by its number on the road map.
const LATER: [(u32, &str); 2] =
    [(8, "the MCP gateway, and running processes"), (9, "the agent and what it is offered")];

/// Flags of `cargo xtask requirements`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write nothing, and fail if spec/requirements.md is not current
    #[arg(long)]
    check: bool,
}

/// One document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    title: String,
    #[serde(default)]
    fixture: Vec<Fixture>,
    #[serde(default)]
    call: Vec<Call>,
    #[serde(default)]
    key: Vec<Key>,
    #[serde(default)]
    r#type: Vec<Named>,
    #[serde(default)]
    test: Vec<Held>,
    #[serde(default)]
    different: Vec<Different>,
    #[serde(default)]
    missing: Vec<Missing>,
}

/// A log, and the codes of everything found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fixture {
    what: String,
    log: String,
    finds: Vec<String>,
}

/// A call, the tool to check it against, and the expected result.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    what: String,
    tool: String,
    call: String,
    /// The number of characters that `LONG` in the call stands for.
    #[serde(default)]
    long: usize,
    valid: bool,
    finds: Vec<String>,
    /// Why it differs from the document, if it does.
    why: Option<String>,
}

/// A configuration key with its default; `not set` means none.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    name: String,
    default: toml::Value,
    why: Option<String>,
}

/// A named type, possibly with variants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
    what: Option<String>,
    #[serde(default)]
    variants: Vec<String>,
}

/// A promise that a test verifies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Held {
    what: String,
    held_by: String,
}

/// An intentional difference from the document.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Different {
    what: String,
    why: String,
    log: Option<String>,
    #[serde(default)]
    finds: Vec<String>,
}

/// A feature that does not exist yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Missing {
    what: String,
    issue: u32,
}

/// A row of the page.
struct Row {
    what: String,
    /// How the requirement was tested.
    tried: String,
    outcome: Outcome,
}

enum Outcome {
    Works,
    Differs(String),
    Missing(u32),
}

#[expect(clippy::disallowed_methods, reason = "a developer tool reads and writes pages")]
#[expect(clippy::print_stdout, reason = "a developer tool tells what it did")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let house = House::read(root)?;
    let (mut page, mut counts) = (String::from(HEAD), [0_usize; 3]);
    let mut wrong = Vec::new();
    for name in DOCUMENTS {
        let path = root.join(format!("xtask/requirements/{name}.toml"));
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let document: Document = toml::from_str(&text).with_context(|| name.to_owned())?;
        let rows = rows(&document, &house, &mut wrong);
        let _ = write!(
            page,
            "\n## {}\n\n| requirement | checked by | result |\n|---|---|---|\n",
            document.title
        );
        for row in rows {
            let (place, result) = match row.outcome {
                Outcome::Works => (0, "works".to_owned()),
                Outcome::Differs(why) => (1, format!("differs on purpose: {why}")),
                Outcome::Missing(issue) => (2, format!("missing: {}", later(issue))),
            };
            counts.get_mut(place).into_iter().for_each(|count| *count += 1);
            let what = row.what.replace('|', "\\|");
            let _ = writeln!(page, "| {what} | {} | {result} |", row.tried);
        }
    }
    let [works, differs, missing] = counts;
    let totals = format!("{works} work, {differs} differ on purpose, {missing} are missing");
    page = page.replace("COUNTS", &totals);
    println!("{totals}");
    if !wrong.is_empty() {
        bail!("{} do not hold:\n{}", wrong.len(), wrong.join("\n"));
    }
    let path = root.join("spec/requirements.md");
    if std::fs::read_to_string(&path).ok().as_deref() == Some(&page) {
        return Ok(());
    }
    if options.check {
        bail!("spec/requirements.md is not current: run `cargo xtask requirements`");
    }
    std::fs::write(&path, page).with_context(|| path.display().to_string())
}

const HEAD: &str = "<!-- made by `cargo xtask requirements` -->\n# Requirements\n\nThe \
                    requirements come from four documents. Every printed example, test case, key \
                    with its default, variant, named type and promise in them has a row here. All \
                    rows except those for code review are checked when this page is generated: \
                    COUNTS.\n";

fn later(issue: u32) -> &'static str {
    LATER.iter().find(|(number, _)| *number == issue).map_or("", |(_, what)| what)
}

/// Returns every row of a document; failures are also added to `wrong`.
fn rows(document: &Document, house: &House, wrong: &mut Vec<String>) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |what: String, tried: &str, holds: Result<(), String>, outcome: Outcome| {
        if let Err(why) = holds {
            wrong.push(format!("  {}: {what}: {why}", document.title));
        }
        rows.push(Row { what, tried: tried.to_owned(), outcome });
    };
    let differs = |why: &Option<String>| why.clone().map_or(Outcome::Works, Outcome::Differs);
    for row in &document.fixture {
        add(row.what.clone(), "the rules", finds(&row.log, &row.finds), Outcome::Works);
    }
    for row in &document.call {
        add(row.what.clone(), "call validation", comes_to(row), differs(&row.why));
    }
    for row in &document.key {
        let what = format!("`{}`", row.name);
        add(what, "the published schema", house.default_is(row), differs(&row.why));
    }
    for row in &document.r#type {
        let what = row.what.clone().unwrap_or_else(|| format!("`{}`", row.name));
        let tried = format!("the type `{}`", row.name);
        add(what, &tried, house.has_type(row), Outcome::Works);
    }
    for row in &document.test {
        let tried = format!("the test `{}`", row.held_by);
        add(row.what.clone(), &tried, house.has_test(&row.held_by), Outcome::Works);
    }
    for row in &document.different {
        let tried = if row.log.is_some() { "the rules" } else { "code review (no test)" };
        let holds = row.log.as_ref().map_or(Ok(()), |log| finds(log, &row.finds));
        add(row.what.clone(), tried, holds, Outcome::Differs(row.why.clone()));
    }
    for row in &document.missing {
        let known = LATER.iter().any(|(number, _)| *number == row.issue);
        let holds = known.then_some(()).ok_or("nothing later brings it".to_owned());
        add(row.what.clone(), "–", holds, Outcome::Missing(row.issue));
    }
    rows
}

/// Checks that exactly these codes are found in a log.
fn finds(log: &str, expected: &[String]) -> Result<(), String> {
    let mut found = BTreeSet::new();
    let mut sessions = 0;
    let settings = Settings::default();
    read(log.as_bytes(), &ReadOptions::new("example"), &mut |reading| {
        sessions += 1;
        let report = check(&reading.transcript, &settings);
        found.extend(report.findings.iter().map(|finding| finding.code.0.to_owned()));
    })
    .map_err(|error| error.to_string())?;
    let expected: BTreeSet<String> = expected.iter().cloned().collect();
    if sessions != 1 {
        return Err(format!("{sessions} sessions were read"));
    }
    (found == expected).then_some(()).ok_or(format!("found {found:?}, expected {expected:?}"))
}

/// Checks that a call is as valid as expected, for the expected reasons.
fn comes_to(row: &Call) -> Result<(), String> {
    let tool: Value = serde_json::from_str(&row.tool).map_err(|error| error.to_string())?;
    let long = "word ".repeat(row.long / 5 + 1).chars().take(row.long).collect::<String>();
    let call: Value = serde_json::from_str(&row.call.replace("LONG", &long))
        .map_err(|error| error.to_string())?;
    let tools = read_tools(&Value::from(vec![tool])).map_err(|error| error.to_string())?;
    let (admission, _) = Admission::compile(&Catalog::known(tools).0, AdmissionSettings::default());
    let text = |name: &str| call.get(name).map_or_else(String::new, Value::to_string);
    let tool = call.get("name").and_then(Value::as_str).unwrap_or_default();
    let report = admission.admit(
        &ToolCall {
            id: String::new(),
            tool: tool.to_owned(),
            arguments: Arguments::raw(text("arguments")),
            line: 0,
        },
        None,
    );
    let found: BTreeSet<&str> = report.issues.iter().map(|issue| issue.code.0).collect();
    let expected: BTreeSet<&str> = row.finds.iter().map(String::as_str).collect();
    let holds = found == expected && report.valid() == row.valid;
    holds.then_some(()).ok_or(format!("valid {}, found {found:?}", report.valid()))
}

/// The parts of the repository that are tested.
struct House {
    /// The sources of all crates.
    sources: String,
    /// All defaults of the configuration.
    defaults: Value,
}

impl House {
    #[expect(clippy::disallowed_methods, reason = "a developer tool reads sources")]
    fn read(root: &Path) -> Result<Self> {
        let mut sources = String::new();
        let mut folders: Vec<PathBuf> = vec![root.join("crates")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    sources.push_str(&std::fs::read_to_string(&path)?);
                }
            }
        }
        let schema = std::fs::read_to_string(root.join("schemas/counterfoil.schema.json"))?;
        let schema: Value = serde_json::from_str(&schema)?;
        let properties = schema.get("properties").and_then(Value::as_object);
        let defaults = properties
            .into_iter()
            .flatten()
            .filter_map(|(name, section)| Some((name.clone(), section.get("default")?.clone())));
        Ok(Self { sources, defaults: Value::Object(defaults.collect()) })
    }

    fn has_test(&self, name: &str) -> Result<(), String> {
        let head = format!("fn {name}(");
        let mut parts = self.sources.match_indices(&head);
        let is_test = |(at, _): (usize, &str)| {
            let before = self.sources.get(at.saturating_sub(400)..at).unwrap_or_default();
            before.contains("#[test]")
                || before.contains("proptest!")
                || before.contains("INVARIANT")
        };
        parts.any(is_test).then_some(()).ok_or(format!("there is no test `{name}`"))
    }

    fn has_type(&self, row: &Named) -> Result<(), String> {
        let name = &row.name;
        let begins = ["struct", "enum", "trait"].iter().find_map(|kind| {
            let head = format!("pub {kind} {name}");
            self.sources.match_indices(&head).map(|(at, head)| at + head.len()).find(|end| {
                let next = self.sources.get(*end..).and_then(|rest| rest.chars().next());
                next.is_some_and(|c| !c.is_alphanumeric() && c != '_')
            })
        });
        let begins = begins.ok_or(format!("there is no type `{name}`"))?;
        let body = self.sources.get(begins..).unwrap_or_default();
        let body = body.split("\n}").next().unwrap_or_default();
        let lacks = |variant: &&String| {
            !body.lines().any(|line| {
                let rest = line.trim().strip_prefix(variant.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([',', ' ', '(', '{']))
            })
        };
        let missing: Vec<&String> = row.variants.iter().filter(lacks).collect();
        missing.is_empty().then_some(()).ok_or(format!("`{name}` lacks {missing:?}"))
    }

    /// Checks that a key has this default; if it differs on purpose, that the key exists.
    fn default_is(&self, row: &Key) -> Result<(), String> {
        let path = format!("/{}", row.name.replace('.', "/"));
        let held = self.defaults.pointer(&path);
        let expected = serde_json::to_value(&row.default).map_err(|error| error.to_string())?;
        let holds = match held {
            None => expected == "not set",
            Some(held) => {
                *held == expected || held.as_f64().is_some_and(|n| Some(n) == expected.as_f64())
            }
        };
        (holds || (row.why.is_some() && held.is_some()))
            .then_some(())
            .ok_or(format!("the default is {held:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_requirement_holds_and_the_page_says_so() {
        run(&crate::root(), &Options { check: true }).unwrap();
    }

    #[test]
    fn what_does_not_hold_is_reported() {
        let house = House::read(&crate::root()).unwrap();
        assert!(house.has_test("every_requirement_holds_and_the_page_says_so_not").is_err());
        let named = |name: &str, variant: &str| {
            let variants = vec![variant.to_owned()];
            house.has_type(&Named { name: name.to_owned(), what: None, variants })
        };
        assert!(named("TrustLevel", "Untrusted").is_ok());
        assert!(named("TrustLevel", "Blind").is_err());
        assert!(named("TrustLevels", "Untrusted").is_err());
        let log = r#"{"output": "I used the WebSearch tool.", "toolRegistry": []}"#;
        assert!(finds(log, &[]).is_err());
        assert!(finds(log, &["FK014".to_owned()]).is_ok());
    }
}
