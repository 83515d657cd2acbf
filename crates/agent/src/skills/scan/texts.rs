//! One text file of a skill, looked through.

use std::path::Path;

use super::super::error::visible;
use super::super::front_matter;
use super::super::inline_tool::InlineTool;
use super::super::markdown::{Code, Line, Part, parts};
use super::super::warning::{SkillWarning, WarningKind};
use super::ScanPorts;
use super::encoded::encoded;
use super::hidden::hidden;
use super::orders::{gives_orders, is_in, orders};
use super::sentences::sentences;
use super::unseen::unseen;

/// Languages of code blocks that are read as shell commands; a block without one is, too.
const SHELLS: [&str; 10] =
    ["", "bash", "console", "fish", "ksh", "sh", "shell", "shell-session", "terminal", "zsh"];

/// Languages of code blocks that a model reads as if they were prose.
const PROSE: [&str; 8] = ["", "markdown", "md", "plain", "plaintext", "prompt", "text", "txt"];

/// What is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Prose,
    /// Code and its comments, which often explain what an option does.
    Code,
}

pub(super) struct TextScan<'s, 'p> {
    pub(super) path: &'s Path,
    pub(super) ports: ScanPorts<'p>,
    pub(super) warnings: &'s mut Vec<SkillWarning>,
}

impl TextScan<'_, '_> {
    pub(super) fn text(mut self, text: &str) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines: Vec<Line<'_>> = (1..).zip(text.lines()).collect();
        for (number, line) in &lines {
            if let Some(why) = unseen(line) {
                self.warn(*number, WarningKind::UnseenCharacters, why);
            }
            if (self.ports.has_secret)(line) {
                // The secret is not quoted: the reader of the warning need not know it.
                self.warn(*number, WarningKind::Secret, "the line contains a secret".to_owned());
            }
        }
        for (number, why) in encoded(&lines) {
            self.warn(number, WarningKind::EncodedText, why);
        }
        let ending = self.path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
        let first = text.lines().next().unwrap_or_default();
        match ending.as_str() {
            "md" | "markdown" | "mdx" | "mdc" => self.markdown(text),
            "sh" | "bash" | "zsh" | "ksh" | "fish" => self.script(&lines),
            _ if first.starts_with("#!") && first.trim_end().ends_with("sh") => self.script(&lines),
            "" | "txt" | "text" | "rst" | "adoc" => self.prose(lines, Voice::Prose),
            _ => self.prose(lines, Voice::Code),
        }
    }

    fn markdown(&mut self, text: &str) {
        let (body, first) = match front_matter::split(text) {
            Some(split) => {
                self.prose((2..).zip(split.front.lines()), Voice::Prose);
                (split.body, split.body_line)
            }
            None => (text, 1),
        };
        for part in parts(body, first) {
            match part {
                Part::Code(code) => self.code(&code),
                Part::Prose(lines) => {
                    for (number, text) in hidden(&lines) {
                        if gives_orders(&text) || (self.ports.danger)(text.trim()).is_some() {
                            let shown = visible(text.trim());
                            let why = format!("hidden text: \"{shown}\"");
                            self.warn(number, WarningKind::HiddenOrders, why);
                        }
                    }
                    for (number, line) in &lines {
                        self.quoted_commands(*number, line);
                    }
                    self.prose(lines, Voice::Prose);
                }
            }
        }
    }

    fn code(&mut self, code: &Code<'_>) {
        let language = code.language.split([' ', ',', '{']).next().unwrap_or_default();
        let language = language.to_lowercase();
        let voice = if PROSE.contains(&language.as_str()) { Voice::Prose } else { Voice::Code };
        if language == "tool" {
            return self.tool(code);
        }
        self.prose(code.lines.iter().copied(), voice);
        if SHELLS.contains(&language.as_str()) {
            self.commands(&code.lines);
        }
    }

    /// An inline tool: its texts, and its command as a shell would get it.
    fn tool(&mut self, code: &Code<'_>) {
        self.prose(code.lines.iter().copied(), Voice::Prose);
        let text = code.lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
        // One that cannot be read makes the skill unreadable; only another file's gets here.
        let Ok(tool) = serde_json::from_str::<InlineTool>(&text) else { return };
        // Its line breaks are escaped in the file.
        if tool.description.contains('\n') {
            self.prose(tool.description.lines().map(|line| (code.line, line)), Voice::Prose);
        }
        if let Ok(command) = shlex::try_join(tool.command.iter().map(String::as_str)) {
            self.command(code.line, &command);
        }
    }

    fn script(&mut self, lines: &[Line<'_>]) {
        self.prose(lines.iter().copied(), Voice::Code);
        self.commands(lines);
    }

    fn prose<'t>(&mut self, lines: impl IntoIterator<Item = Line<'t>>, voice: Voice) {
        for sentence in sentences(lines) {
            for hit in orders(&sentence) {
                let why = match hit.kind {
                    WarningKind::OrdersIgnored => {
                        "it tries to override or reveal other instructions"
                    }
                    WarningKind::HiddenFromUser => "it hides something from the user",
                    _ if voice == Voice::Code => continue,
                    _ => "it disables a protection",
                };
                self.warn(hit.line, hit.kind, format!("{why}: \"{}\"", hit.quote));
            }
            if sentence.words.iter().any(|word| is_in("no", &word.text)) {
                continue;
            }
            for word in sentence.words.iter().filter(|word| is_in("switches", &word.text)) {
                let why = format!("the option `{}` disables a check", visible(&word.text));
                self.warn(word.line, WarningKind::ChecksDisabled, why);
            }
        }
    }

    /// Commands between backticks in prose, unless the text says not to run them.
    fn quoted_commands(&mut self, number: usize, line: &str) {
        let mut before = "";
        for (at, piece) in line.split('`').enumerate() {
            if at % 2 == 0 {
                before = piece;
            } else if piece.contains(' ') && !warns(before) {
                self.command(number, piece);
            }
        }
    }

    /// The commands of a script, one by one; and all together where no single one is dangerous.
    fn commands(&mut self, lines: &[Line<'_>]) {
        let before = self.warnings.len();
        let (mut command, mut start) = (String::new(), None);
        for (number, line) in lines {
            // A line that goes on with another is as it is, for a shell.
            let line = if command.is_empty() { line.trim_start() } else { line };
            let line = line.strip_prefix("$ ").unwrap_or(line);
            let first = *start.get_or_insert(*number);
            if let Some(open) = line.strip_suffix('\\') {
                command.push_str(open);
                continue;
            }
            command.push_str(line);
            self.command(first, &std::mem::take(&mut command));
            start = None;
        }
        if let Some(first) = start {
            self.command(first, &command);
        }
        if let [(first, _), _, ..] = lines
            && self.warnings.len() == before
        {
            let whole = lines.iter().map(|(_, line)| *line).collect::<Vec<_>>().join("\n");
            self.command(*first, &whole);
        }
    }

    fn command(&mut self, number: usize, command: &str) {
        let command = command.trim();
        if command.is_empty() || command.starts_with('#') && !command.contains('\n') {
            return;
        }
        if let Some(danger) = (self.ports.danger)(command) {
            let why = format!("{}: `{}`", visible(&danger), visible(command));
            self.warn(number, WarningKind::DangerousCommand, why);
        }
    }

    fn warn(&mut self, line: usize, what: WarningKind, why: String) {
        self.warnings.push(SkillWarning::new(self.path, Some(line), what, why));
    }
}

/// Whether a text ends by telling not to do what follows.
fn warns(before: &str) -> bool {
    let sentence = sentences([(0, before)]).pop().unwrap_or_default();
    sentence.words.iter().rev().take(4).any(|word| is_in("no", &word.text))
}
