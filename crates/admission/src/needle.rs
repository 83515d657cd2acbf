use counterfoil_shell::{Script, Word};
use serde_json::Value;

use crate::leaves::{each_text, parameter_name};
use crate::placeholder::is_placeholder;

/// Longer texts are content, not names.
const LONGEST: usize = 200;

/// Parameters whose value is prose, code or a pattern, and names nothing.
const TEXTS: &str = "content text body message pattern query command cmd code prompt description \
                     script input regex expression thought old_string new_string";
/// Words in the names of parameters that hold a file or a folder.
const PATHS: &str = "path paths file files filename filepath dir directory folder";
/// Words in the names of parameters that hold an identifier.
const ENTITIES: &str = "id ids number ref reference account user order ticket booking reservation \
                        customer invoice tracking flight email";

/// A value of a call that must have come from somewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needle {
    /// The kind of thing it names.
    pub(crate) kind: NeedleKind,
    /// JSON Pointer of the argument.
    pub(crate) pointer: String,
    /// The value as given.
    pub(crate) value: String,
    /// The lower-case text to search for: the value without scheme, `#` or folders.
    pub word: String,
}

/// The kind of thing a value names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NeedleKind {
    /// Nothing: a template that was not filled in.
    Template,
    /// A file or folder.
    Path,
    /// A file that a command prints.
    Read,
    /// An identifier or an e-mail address.
    Entity,
    /// A web page.
    Url,
}

/// All needles of a call. With `all`, also those inside commands and messages, and bare file names;
/// doubting these requires that files have been looked for.
pub fn needles(arguments: &Value, all: bool) -> Vec<Needle> {
    let mut found = Vec::new();
    each_text(arguments, &mut |pointer, text| {
        if all {
            within(&pointer(), text, &mut found);
        }
        if text.len() > LONGEST {
            return;
        }
        if is_placeholder(text) {
            let (kind, word) = (NeedleKind::Template, text.to_ascii_lowercase());
            found.push(Needle { kind, pointer: pointer(), value: text.to_owned(), word });
        } else if could_name(text) {
            let pointer = pointer();
            if let Some((kind, word)) = named(parameter_name(&pointer), text) {
                let word = word.to_ascii_lowercase();
                found.push(Needle { kind, pointer, value: text.to_owned(), word });
            }
        }
    });
    found
}

/// Finds the files that a command prints, the entities that a message names, and bare file names.
fn within(pointer: &str, text: &str, found: &mut Vec<Needle>) {
    let mut add = |kind, value: &str, word: &str| {
        let (value, word) = (value.to_owned(), word.to_ascii_lowercase());
        found.push(Needle { kind, pointer: pointer.to_owned(), value, word });
    };
    match parameter_name(pointer) {
        "command" | "cmd" | "script" => {
            for path in read_by(text) {
                add(NeedleKind::Read, &path, path.rsplit('/').next().unwrap_or(&path));
            }
        }
        "text" | "body" | "message" => {
            for word in text.split_whitespace() {
                let value = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
                if let Some((NeedleKind::Entity, word)) = named("", value) {
                    add(NeedleKind::Entity, value, word);
                }
            }
        }
        name if holds_path(name) && is_bare_name(text) => add(NeedleKind::Path, text, text),
        _ => {}
    }
}

fn is_bare_name(text: &str) -> bool {
    let plain = !text.contains(['/', '\\', '*', '?', '{', '$', ' ']);
    plain && text.len() >= 3 && !text.chars().all(|c| c == '.')
}

/// The files that a command prints, except those it creates itself.
fn read_by(command: &str) -> Vec<String> {
    const SHOWS: [&str; 6] = ["cat", "head", "tail", "less", "wc", "ls"];
    let Ok(script) = Script::parse(command) else { return Vec::new() };
    let made: Vec<String> = script.writes().into_iter().map(|write| write.path.text).collect();
    let showing = script.commands().iter().filter(|command| {
        command.directory.as_deref() == Some("")
            && command.program().is_some_and(|program| SHOWS.contains(&program))
    });
    let words = showing.flat_map(|command| &command.args).filter_map(Word::literal);
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    words
        .filter(|word| word.len() >= 3 && !word.starts_with('-') && !is_number(word))
        .filter(|word| after_scheme(word).is_none())
        .filter(|word| !made.iter().any(|made| word.starts_with(made.as_str())))
        .map(str::to_owned)
        .collect()
}

/// A cheap check for any string: a single token with a character that is typical of names.
fn could_name(text: &str) -> bool {
    text.len() >= 3
        && !text.bytes().any(|b| b.is_ascii_whitespace())
        && text.bytes().any(|b| b.is_ascii_digit() || matches!(b, b'@' | b'/' | b'\\'))
}

fn named<'v>(parameter: &str, text: &'v str) -> Option<(NeedleKind, &'v str)> {
    if holds_text(parameter) {
        return None;
    }
    if let Some(rest) = after_scheme(text).filter(|_| !text.starts_with("file:")) {
        let rest = rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/');
        return (!rest.is_empty()).then_some((NeedleKind::Url, rest));
    }
    if holds_path(parameter) {
        return path_name(text).map(|name| (NeedleKind::Path, name));
    }
    if is_email(text) {
        return Some((NeedleKind::Entity, text));
    }
    let bare = text.strip_prefix('#').unwrap_or(text);
    let numbered = bare.bytes().filter(u8::is_ascii_digit).count();
    let plain = bare.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let lettered = bare.bytes().any(|b| b.is_ascii_alphabetic());
    let marked = bare.len() < text.len() && bare.len() >= 3 && numbered >= 2;
    let mixed = bare.len() >= 5 && numbered >= 2 && lettered && names_entity(parameter);
    (plain && (marked || mixed) && !is_date(bare)).then_some((NeedleKind::Entity, bare))
}

/// The last component of an absolute or nested path; patterns and bare names are not paths.
fn path_name(text: &str) -> Option<&str> {
    let plain = !text.contains(['*', '?', '{', '$', '<', '|', '\n']);
    let name = text.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next()?;
    let nested = text.contains(['/', '\\']);
    (plain && nested && name.len() >= 3 && name != "...").then_some(name)
}

/// What follows the scheme of a URL: `example.org/a` in `https://example.org/a`.
fn after_scheme(text: &str) -> Option<&str> {
    let (scheme, rest) = text.split_once("://")?;
    let named = scheme.starts_with(|c: char| c.is_ascii_alphabetic());
    let spelt = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
    (named && scheme.bytes().all(spelt)).then_some(rest)
}

fn is_email(text: &str) -> bool {
    text.split_once('@').is_some_and(|(name, host)| {
        !name.is_empty()
            && host.contains('.')
            && !host.contains(['@', '/', ':'])
            && host.bytes().last().is_some_and(|b| b.is_ascii_alphabetic())
            && !name.contains(['/', ':'])
    })
}

fn is_date(text: &str) -> bool {
    let digits: String = text.chars().take(10).collect();
    let shape: String = digits.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00"
}

/// Whether the parameter's value is prose, code or a pattern.
fn holds_text(parameter: &str) -> bool {
    TEXTS.split(' ').any(|word| parameter.eq_ignore_ascii_case(word))
}

fn holds_path(parameter: &str) -> bool {
    words(parameter).any(|word| PATHS.split(' ').any(|known| known == word))
}

fn names_entity(parameter: &str) -> bool {
    words(parameter).any(|word| ENTITIES.split(' ').any(|known| known == word))
}

/// The words of a parameter or tool name; `filePath`, `file_path` and `file-path` have the same
/// words.
pub(crate) fn words(name: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut lower = false;
    let mut open = false;
    for c in name.chars() {
        if !c.is_alphanumeric() {
            open = false;
            continue;
        }
        if !open || (lower && c.is_uppercase()) {
            words.push(String::new());
            open = true;
        }
        lower = c.is_lowercase() || c.is_numeric();
        if let Some(word) = words.last_mut() {
            word.extend(c.to_lowercase());
        }
    }
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn looking_for_files_raises_more_doubts() {
        for (arguments, everywhere, looking) in [
            (json!({ "path": "src/gone.rs" }), vec!["src/gone.rs"], vec!["src/gone.rs"]),
            (json!({ "path": "gone.rs" }), vec![], vec!["gone.rs"]),
            (json!({ "path": "*.rs" }), vec![], vec![]),
            (json!({ "command": "cat src/gone.rs | wc -l" }), vec![], vec!["src/gone.rs"]),
            (
                json!({ "command": "cat https://a.org/b.txt; ls s3://b/c; wc -l ftp://d.org/e" }),
                vec![],
                vec![],
            ),
            (
                json!({ "path": "s3://bucket/gone.rs" }),
                vec!["s3://bucket/gone.rs"],
                vec!["s3://bucket/gone.rs"],
            ),
            (json!({ "command": "mkdir out && ls out" }), vec![], vec![]),
            (json!({ "command": "echo x > a.txt; tail -n 20 a.txt" }), vec![], vec![]),
            (json!({ "command": "git checkout -b fix/x && cargo test" }), vec![], vec![]),
            (json!({ "to": "ada@example.com" }), vec!["ada@example.com"], vec!["ada@example.com"]),
            (
                json!({ "body": "Ask ada@example.com, about #W1234." }),
                vec![],
                vec!["ada@example.com", "#W1234"],
            ),
        ] {
            let found = |all| -> Vec<String> {
                needles(&arguments, all).into_iter().map(|needle| needle.value).collect()
            };
            assert_eq!(
                (found(false), found(true)),
                (
                    everywhere.into_iter().map(str::to_owned).collect(),
                    looking.into_iter().map(str::to_owned).collect(),
                ),
                "{arguments}"
            );
        }
    }
}
