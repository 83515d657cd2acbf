//! Finds the paths that a call names, as far as its text shows them: in arguments that are not
//! content, and in the words of a shell command. Links in arguments are followed, because no
//! executor of ours opens what a server is given. Links in commands are left to the executors.

use std::borrow::Cow;
use std::path::Path;

use counterfoil_shell::{Command, Script, Target, Word, WordKind};
use counterfoil_tools::{ShellPolicyHandle, inside_home, named_by_variable, one_form};
use serde_json::Value;

use crate::admitted::Admitted;
use crate::gate::names::other_name;
use crate::gate::path_forms::{
    Links, MOST_PAIRS, after_sign, forms, gone_up, in_named_folders, is_base64, is_content,
    is_file_uri, is_too_long, of_patch, without_host, without_proc,
};
use crate::gate::targets::{self, Change, patch};

/// A path that a call names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::gate) struct Named {
    /// Absolute or beginning with `~`, without `.`, `//` and `..`.
    pub(in crate::gate) absolute: String,
    /// The path relative to the root of the project, if it is inside it.
    pub(in crate::gate) inside: Option<String>,
    /// Whether it clearly is a path, rather than a word that might be one.
    pub(in crate::gate) certain: bool,
    /// Whether it contains something that only the shell can expand.
    pub(in crate::gate) open: bool,
    /// Whether it represents any path, because the call names more paths than are checked.
    pub(in crate::gate) any: bool,
    /// What the call may do to the path; `None` if it only reads or names it.
    pub(in crate::gate) change: Option<Change>,
}

impl Named {
    /// A path that was not looked at and could be any, so every rule about paths applies to it.
    fn any() -> Self {
        Self {
            absolute: String::new(),
            inside: None,
            certain: true,
            open: true,
            any: true,
            change: None,
        }
    }
}

/// The folders that paths are relative to.
pub(in crate::gate) struct Ground<'g> {
    pub(in crate::gate) root: String,
    pub(in crate::gate) home: Option<&'g str>,
}

/// A shell command, and the directory that its call names.
#[derive(Debug)]
pub(in crate::gate) struct Line {
    pub(in crate::gate) command: String,
    pub(in crate::gate) directory: Option<String>,
}

impl Line {
    /// The command of a shell call; `None` for any other call and for one without a command.
    pub(in crate::gate) fn from_call(call: &Admitted, shell: &ShellPolicyHandle) -> Option<Self> {
        let policy = shell.load();
        let (command, directory) = policy.blocklist.command_in(call.into())?.ok()?;
        Some(Self { command: command.into_owned(), directory: directory.map(str::to_owned) })
    }

    /// The command in an example of a rule; two tools take commands there.
    pub(in crate::gate) fn of_example(tool: &str, arguments: &Value) -> Option<Self> {
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).map(str::to_owned);
        let command = text("command").filter(|_| other_name(tool).is_some())?;
        Some(Self { command, directory: text("cwd") })
    }
}

/// The content members that are lists and never contain paths.
const SPOKEN: [&str; 3] = ["todos", "todo", "plan"];

/// The paths in the arguments of a call that is not a shell command.
pub(in crate::gate) fn in_arguments(
    arguments: &Value,
    ground: &Ground<'_>,
    change: Option<&Change>,
) -> Vec<Named> {
    let mut paths = Vec::new();
    in_value(arguments, JSON_IN_TEXT, ground, &mut paths);
    let mut pairs = Vec::new();
    in_named_folders(arguments, &mut Vec::new(), &mut pairs);
    if pairs.len() >= MOST_PAIRS {
        paths.push(Named::any());
    }
    for (folder, text) in pairs {
        let name = text.len() <= LONGEST_NAME && !text.contains('\n') && !text.is_empty();
        if name && !text.starts_with(['/', '~']) && !is_url(text) && !is_file_uri(text) {
            add(&format!("{folder}/{text}"), looks_like_a_path(text), ground, &mut paths);
        }
    }
    follow(&mut paths, ground);
    for path in &mut paths {
        path.change = change.cloned();
    }
    paths
}

/// How many levels of JSON in texts are read.
const JSON_IN_TEXT: usize = 2;

/// Adds the paths in the texts of a value. A text may be JSON itself, with escapes of its own.
fn in_value(value: &Value, levels: usize, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    let mut texts = Vec::new();
    each_text(value, "", &mut texts);
    for text in texts.into_iter().filter(|text| !is_reckoning(text) && !is_schedule(text)) {
        in_text(text, ground, paths);
        if levels > 0
            && text.trim_start().starts_with(['{', '['])
            && let Ok(inner) = serde_json::from_str::<Value>(text)
        {
            in_value(&inner, levels - 1, ground, paths);
        }
    }
}

/// Adds the targets of the paths whose links can be followed.
fn follow(paths: &mut Vec<Named>, ground: &Ground<'_>) {
    let mut links = Links::below(&ground.root);
    let mut further = Vec::new();
    for path in paths.iter().filter(|path| !path.open && path.absolute.starts_with('/')) {
        if let Some(absolute) = links.followed(&path.absolute) {
            ground.seen(&absolute, path.certain, false, &mut further);
        }
    }
    if links.are_too_many() {
        further.push(Named::any());
    }
    paths.extend(further);
}

/// `3 * (350 + 20)`: not a file name, and its `*` is not a wildcard.
fn is_reckoning(text: &str) -> bool {
    let of_numbers = |c: char| c.is_ascii_digit() || " +-*/().,%^".contains(c);
    text.starts_with(|c: char| c.is_ascii_digit() || c == '(')
        && text.contains([' ', '*'])
        && text.chars().all(of_numbers)
}

/// `*/15 9-17 * * mon-fri`: five fields of a cron schedule, whose `*` is not a wildcard either. Only
/// months and weekdays have names, so that no program is taken for a field.
fn is_schedule(text: &str) -> bool {
    let part = |at: usize, part: &str| {
        let named = at > 2 && part.len() == 3 && part.bytes().all(|b| b.is_ascii_alphabetic());
        part == "*" || named || !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit())
    };
    let field = |(at, field): (usize, &str)| field.split(['/', '-', ',']).all(|one| part(at, one));
    text.split_whitespace().count() == 5 && text.split_whitespace().enumerate().all(field)
}

fn each_text<'v>(value: &'v Value, name: &str, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) if text.starts_with("*** Begin Patch") => {
            texts.extend(patch::named(text).map(|(path, _)| path));
        }
        Value::String(text) => {
            // Content is only mentioned, so it is not a path.
            if !is_content(name) {
                texts.push(text);
            }
        }
        Value::Array(_) if SPOKEN.contains(&name) => {}
        Value::Array(items) => items.iter().for_each(|item| each_text(item, name, texts)),
        Value::Object(members) => {
            for (name, value) in members {
                // `{"files": {"src/a.rs": "…"}}`
                if looks_like_a_path(name) {
                    texts.push(name);
                }
                each_text(value, name, texts);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The paths in a shell command.
pub(in crate::gate) fn in_command(line: &Line, ground: &Ground<'_>) -> Vec<Named> {
    let mut paths = Vec::new();
    let Ok(script) = Script::parse(&line.command) else {
        in_text(&line.command, ground, &mut paths);
        paths.iter_mut().for_each(|path| path.change = Some(Change::Replaces));
        return paths;
    };
    let start = line.directory.as_deref().unwrap_or_default();
    let from = |directory: Option<&str>| {
        directory.map(|inner| match inner {
            inner if start.is_empty() || inner.starts_with(['/', '~']) => inner.to_owned(),
            inner => format!("{start}/{inner}"),
        })
    };
    for command in script.commands() {
        for word in words(command) {
            located(word, from(command.directory.as_deref()).as_deref(), ground, &mut paths);
        }
    }
    for target in targets::find(&script, &line.command) {
        let before = paths.len();
        let from = from(target.directory.as_deref());
        changed(&target.word, from.as_deref(), ground, &mut paths);
        paths.iter_mut().skip(before).for_each(|path| path.change = Some(target.change.clone()));
    }
    paths
}

/// The words of a command that may name files: not those that are printed, searched for or used as
/// messages.
fn words(command: &Command) -> Vec<&Word> {
    let program = command.program().unwrap_or_default();
    let args = command.args.as_slice();
    let looked_for = matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "sed")
        .then(|| args.iter().position(|word| !word.text.starts_with('-')))
        .flatten();
    let is_message = |at: usize| {
        let before = at.checked_sub(1).and_then(|before| args.get(before));
        matches!(program, "git" | "gh" | "jj" | "hg")
            && before.is_some_and(|w| {
                matches!(
                    w.text.as_str(),
                    "-m" | "--message" | "-am" | "--title" | "--body" | "-t" | "-b"
                )
            })
    };
    let printed = matches!(program, "echo" | "printf");
    let named = args
        .iter()
        .enumerate()
        .filter(|(at, _)| !printed && Some(*at) != looked_for && !is_message(*at));
    let redirected = command.redirects.iter().filter_map(|redirect| match &redirect.target {
        Target::File(word) => Some(word),
        _ => None,
    });
    command.name.iter().chain(named.map(|(_, word)| word)).chain(redirected).collect()
}

/// Adds the paths in one word, relative to the directory of its command.
fn located(word: &Word, from: Option<&str>, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    let text = word.text.as_str();
    if is_url(text) || text.is_empty() {
        return;
    }
    let text = ["$PWD/", "${PWD}/"].iter().find_map(|pwd| text.strip_prefix(pwd)).unwrap_or(text);
    let before = paths.len();
    let mut seen = |piece: &str, certain: bool| {
        let relative = !piece.starts_with(['/', '~', '$']) && !is_file_uri(piece);
        match from.filter(|from| relative && !from.is_empty()) {
            Some(from) => add(&format!("{from}/{piece}"), certain, ground, paths),
            None => add(piece, certain, ground, paths),
        }
    };
    for word in braces(text) {
        seen(&word, looks_like_a_path(&word));
        for piece in word.split(['=', ':', ',']).filter(|piece| !piece.is_empty()) {
            if piece.len() != word.len() {
                seen(piece, looks_like_a_path(piece));
            }
        }
    }
    if word.kind != WordKind::Literal {
        paths.iter_mut().skip(before).for_each(|path| path.open |= path.absolute.contains('['));
    }
}

/// Adds the path of a target, relative to the directory of its command.
fn changed(word: &Word, from: Option<&str>, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    let text = word.text.as_str();
    if is_url(text) || text.is_empty() {
        return;
    }
    let text = ["$PWD/", "${PWD}/"].iter().find_map(|pwd| text.strip_prefix(pwd)).unwrap_or(text);
    let before = paths.len();
    for text in braces(text) {
        let relative = !text.starts_with(['/', '~', '$']);
        match from.filter(|from| relative && !from.is_empty()) {
            Some(from) => add(&format!("{from}/{text}"), false, ground, paths),
            None => add(&text, false, ground, paths),
        }
    }
    if word.kind != WordKind::Literal {
        paths.iter_mut().skip(before).for_each(|path| path.open |= path.absolute.contains('['));
    }
}

fn looks_like_a_path(text: &str) -> bool {
    text.contains(['/', '\\']) || text.starts_with(['.', '~'])
}

/// Expands `a{b,c}d` to `abd` and `acd`, innermost first; beyond a limit, the rest stays
/// unexpanded.
fn braces(text: &str) -> Vec<String> {
    const MOST: usize = 64;
    let mut done = Vec::new();
    let mut open = vec![text.to_owned()];
    while let Some(text) = open.pop() {
        let inner = text.rfind('{').and_then(|at| {
            let end = at + text.get(at..)?.find('}')?;
            let inside = text.get(at + 1..end)?;
            let before = text.get(..at)?;
            (inside.contains(',') && !before.ends_with('$'))
                .then(|| (before, inside, text.get(end + 1..).unwrap_or_default()))
        });
        match inner {
            Some((before, inside, after)) if open.len() + done.len() < MOST => {
                open.extend(inside.split(',').map(|piece| format!("{before}{piece}{after}")));
            }
            _ => done.push(text),
        }
    }
    done
}

impl<'g> Ground<'g> {
    pub(in crate::gate) fn new(root: &Path, home: Option<&'g str>) -> Self {
        Self {
            root: tidy(&root.to_string_lossy()),
            home: home.filter(|home| home.starts_with('/')),
        }
    }

    /// Adds a path, absolute, relative to the root and to the home folder, and with `/proc`
    /// resolved.
    fn seen(&self, path: &str, certain: bool, open: bool, paths: &mut Vec<Named>) {
        let root = self.root.as_str();
        let too_long = is_too_long(path);
        if too_long && !is_base64(path) {
            paths.push(Named::any());
        }
        let absolute =
            if path.starts_with(['/', '~']) { tidy(path) } else { tidy(&format!("{root}/{path}")) };
        let through = without_proc(&absolute, root).map(|path| tidy(&path));
        let joined =
            || if path.starts_with('/') { path.to_owned() } else { format!("{root}/{path}") };
        let up =
            (!too_long && path.contains("..")).then(joined).and_then(|path| gone_up(&path, root));
        let up = up.filter(|up| *up != absolute);
        for absolute in std::iter::once(absolute).chain(through).chain(up) {
            let inside = absolute.strip_prefix(root.trim_end_matches('/'));
            let inside = inside.and_then(|rest| rest.strip_prefix('/')).map(str::to_owned);
            // The same place in the form that rules may use: `~/.ssh/id`.
            let at_home = self.home.and_then(|home| {
                let rest = absolute.strip_prefix(home.trim_end_matches('/'))?;
                (rest.is_empty() || rest.starts_with('/')).then(|| format!("~{rest}"))
            });
            // Home folders of other users count, too.
            let at_home =
                at_home.or_else(|| inside_home(&absolute).map(|rest| format!("~/{rest}")));
            let one = Named { inside, absolute, certain, open, any: false, change: None };
            if let Some(absolute) = at_home {
                paths.push(Named { absolute, inside: None, ..one.clone() });
            }
            paths.push(one);
        }
    }
}

/// The maximum length of a file name, in bytes. A longer text is content; the paths in it still
/// count.
const LONGEST_NAME: usize = 4096;

fn in_text(text: &str, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    // The whole text may be one path that contains spaces.
    let one_line = !text.contains('\n') || is_file_uri(text);
    let whole = text.len() <= LONGEST_NAME && one_line && !is_url(text);
    if whole && !text.is_empty() {
        let one_word = text.starts_with('/') || !text.contains(' ');
        add(text, one_word && looks_like_a_path(text), ground, paths);
        for text in braces(text).iter().filter(|form| *form != text) {
            add(text, false, ground, paths);
        }
    }
    let is_patch = ["+++ ", "diff --git "].iter().any(|sign| text.contains(sign));
    let between = |c: char| "\"'`=:,;|&<>(){}[]".contains(c);
    for word in text.split_whitespace() {
        if is_url(word) {
            without_host(word).into_iter().for_each(|path| add(path, false, ground, paths));
            continue;
        }
        for piece in word.split(between).filter(|piece| !piece.is_empty()) {
            if !whole || piece.len() != text.len() {
                add(piece, looks_like_a_path(piece), ground, paths);
            }
            let in_patch = of_patch(piece).filter(|_| is_patch);
            for path in after_sign(piece).into_iter().chain(in_patch) {
                add(path, false, ground, paths);
            }
        }
    }
}

/// Adds the path that a text spells, and other paths that it may mean.
fn add(text: &str, certain: bool, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    let (spelled, others) = forms(text);
    add_one(&spelled, certain, ground, paths);
    for other in others {
        add_one(&other, false, ground, paths);
    }
}

fn add_one(text: &str, certain: bool, ground: &Ground<'_>, paths: &mut Vec<Named>) {
    let open = |text: &str| text.contains(['$', '`', '*', '?']);
    let text = text.replace('\\', "/");
    let text = one_form(&text);
    let text = named_by_variable(&text).map_or(text, Cow::Owned);
    let in_home = ["~", "$HOME", "${HOME}", "$HOME}"].into_iter().find_map(|name| {
        text.strip_prefix(name).filter(|rest| rest.is_empty() || rest.starts_with('/'))
    });
    match (in_home, ground.home) {
        (Some(rest), Some(home)) => {
            ground.seen(&format!("{home}{rest}"), certain, open(rest), paths);
        }
        (Some(rest), None) => ground.seen(&format!("~{rest}"), certain, open(&text), paths),
        (None, _) => ground.seen(&text, certain, open(&text), paths),
    }
    // `sh[a]dow` is a pattern for some servers, and a name for others.
    if text.contains('[') && !open(&text) {
        ground.seen(&text, false, true, paths);
    }
}

fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| {
        !scheme.eq_ignore_ascii_case("file")
            && !scheme.is_empty()
            && scheme.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

fn tidy(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if joined.starts_with('~') { joined } else { format!("/{joined}") }
}
