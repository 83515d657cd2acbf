//! One command of a pipeline, in the shell's words.

use super::names::{Does, Entry, Parameter, Takes};
use super::reader::{Read, Reader, Value};
use super::word::{Argument, fixed};

struct Stage {
    name: Argument,
    arguments: Vec<Argument>,
    redirects: Vec<String>,
    /// It reads from a pipe.
    piped: bool,
}

impl Reader {
    /// Reads a command and what it is called with.
    pub(super) fn command(&mut self, piped: bool) -> Read<Value> {
        let Some(name) = self.argument()? else { return Err(self.syntax("a command is missing")) };
        let mut stage = Stage::new(name, piped);
        loop {
            self.skip_blanks();
            match (self.peek(), self.peek_at(1)) {
                (None | Some('\n' | ';' | '|' | ')' | '}'), _) | (Some('&'), _) => break,
                (Some(','), _) => self.at += 1,
                _ if self.takes("--%") => self.verbatim(&mut stage),
                _ => match self.redirect()? {
                    Some(redirect) => stage.redirects.push(redirect),
                    None => match self.argument()? {
                        Some(argument) => stage.arguments.push(argument),
                        None => return Err(self.syntax("an argument cannot be read")),
                    },
                },
            }
        }
        stage.close(self)
    }

    /// Words that are passed on as they are written.
    fn verbatim(&mut self, stage: &mut Stage) {
        let rest = self.text.iter().skip(self.at);
        let line: String = rest.take_while(|c| !matches!(c, '\n' | '|')).collect();
        self.at += line.chars().count();
        stage.arguments.extend(line.split_whitespace().map(Argument::fixed));
    }
}

impl Stage {
    fn new(name: Argument, piped: bool) -> Self {
        Self { name, arguments: Vec::new(), redirects: Vec::new(), piped }
    }

    /// The command with its arguments, once all of them are read.
    fn close(self, reader: &mut Reader) -> Read<Value> {
        // `& { … }`: its commands are on the lines before.
        if self.name.is_block {
            return Ok(Value::Unknown);
        }
        let names = reader.names;
        if self.name.literal.is_none() {
            return Ok(Value::Commands(self.of_computed_name(reader)));
        }
        let written = self.name.literal.clone().unwrap_or_default();
        let base = written.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
        let Some(entry) = names.command(&base) else {
            return Ok(Value::Commands(self.as_written(&self.name.text)));
        };
        match &entry.does {
            Does::Stays => Ok(Value::Commands(self.as_written(&entry.name))),
            Does::Joins => {
                let words: Vec<String> = of_parameters(reader, entry, &self.arguments).operands();
                let known = |word: &String| !word.contains("$unknown") && !word.contains("$(");
                Ok(match !words.is_empty() && words.iter().all(known) {
                    true => Value::Text(words.join("/")),
                    false => Value::Commands(self.as_written(&entry.name)),
                })
            }
            Does::Unknown => {
                self.keep(reader, &entry.name);
                Ok(Value::Commands("\"$unknown\"".to_owned()))
            }
            Does::Runs => self.runs(reader),
            Does::Hosts => self.hosts(reader),
            Does::Becomes { words, takes } => {
                let placed = of_parameters(reader, entry, &self.arguments);
                let becomes = self.becomes(words, *takes, placed);
                match words.first().is_some_and(|word| word.eq_ignore_ascii_case(&base)) {
                    true => self.keep(reader, &entry.name),
                    false if self.as_written(&entry.name) == becomes => {}
                    false => reader.lines.push(self.as_written(&entry.name)),
                }
                Ok(Value::Commands(becomes))
            }
        }
    }

    /// A command whose name is put together when it runs. Only its last part may be known:
    /// `& "$folder\tool.exe"`.
    fn of_computed_name(&self, reader: &Reader) -> String {
        let (_, base) = self.name.text.rsplit_once('/').unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let known = !base.is_empty() && base.chars().all(plain);
        match known && reader.names.command(base).is_none() {
            true => self.as_written(&self.name.text),
            false => self.as_written("\"$unknown\""),
        }
    }

    fn as_written(&self, name: &str) -> String {
        let arguments = self.arguments.iter().map(|argument| argument.text.as_str());
        let redirects = self.redirects.iter().map(String::as_str);
        let words: Vec<&str> = std::iter::once(name).chain(arguments).chain(redirects).collect();
        words.join(" ")
    }

    /// Keeps the commands in arguments that nothing else repeats.
    fn keep(&self, reader: &mut Reader, name: &str) {
        if self.arguments.iter().any(|argument| argument.text.contains("$(")) {
            reader.lines.push(self.as_written(name));
        }
    }

    fn becomes(&self, words: &[String], takes: Takes, placed: Placed) -> String {
        let mut all = Vec::new();
        let operands = match takes {
            Takes::First => placed.first_operand(),
            Takes::Input | Takes::Names => placed.operands(),
        };
        if self.piped && takes == Takes::Names {
            all.push("xargs".to_owned());
        }
        all.extend(words.iter().cloned());
        all.extend(placed.options);
        all.extend(operands);
        all.extend(self.redirects.iter().cloned());
        all.join(" ")
    }

    /// Code in the operands.
    fn runs(self, reader: &mut Reader) -> Read<Value> {
        self.keep(reader, "Invoke-Expression");
        match self.arguments.iter().find(|argument| !argument.is_parameter()) {
            Some(Argument { literal: Some(code), .. }) => {
                reader.script(code)?;
                Ok(Value::Unknown)
            }
            Some(argument) => Ok(Value::Commands(format!("eval {}", argument.text))),
            None if self.piped => Ok(Value::Commands("bash".to_owned())),
            None => Ok(Value::Unknown),
        }
    }

    /// `pwsh -Command …`
    fn hosts(self, reader: &mut Reader) -> Read<Value> {
        self.keep(reader, "pwsh");
        let lower = |argument: &Argument| argument.literal.as_deref().unwrap_or("?").to_lowercase();
        let is = |argument: &Argument, full: &str| {
            let name = lower(argument);
            argument.is_parameter() && name.len() > 1 && full.starts_with(&name)
        };
        let encoded =
            |argument: &Argument| is(argument, "-encodedcommand") || lower(argument) == "-ec";
        if self.arguments.iter().any(encoded) {
            return Ok(Value::Commands("\"$unknown\"".to_owned()));
        }
        let after = self.arguments.iter().position(|argument| is(argument, "-command"));
        let file = self.arguments.iter().any(|argument| is(argument, "-file"));
        let code = match after {
            Some(at) => self.arguments.get(at + 1..).unwrap_or_default(),
            None => self.arguments.as_slice(),
        };
        let code = code.iter().find(|argument| !argument.is_parameter());
        match code.filter(|_| !file) {
            Some(Argument { is_block: true, .. }) => Ok(Value::Unknown),
            Some(Argument { literal: Some(code), .. }) if after.is_some() || code.contains(' ') => {
                reader.script(code)?;
                Ok(Value::Unknown)
            }
            Some(argument) if after.is_some() => {
                Ok(Value::Commands(format!("eval {}", argument.text)))
            }
            _ => Ok(Value::Commands(self.as_written("pwsh"))),
        }
    }
}

/// The words of a command, each at its place.
#[derive(Default)]
struct Placed {
    options: Vec<String>,
    first: Vec<String>,
    middle: Vec<String>,
    last: Vec<String>,
}

impl Placed {
    fn operands(&self) -> Vec<String> {
        self.first.iter().chain(&self.middle).chain(&self.last).cloned().collect()
    }

    fn first_operand(&self) -> Vec<String> {
        self.operands().into_iter().take(1).collect()
    }
}

fn of_parameters(reader: &Reader, entry: &Entry, arguments: &[Argument]) -> Placed {
    let mut placed = Placed::default();
    let mut arguments = arguments.iter().peekable();
    while let Some(argument) = arguments.next() {
        let written = argument.literal.as_deref().filter(|_| argument.is_parameter());
        if argument.is_splatted {
            placed.options.extend(entry.options().map(str::to_owned));
        }
        let Some(written) = written else {
            placed.middle.push(argument.text.clone());
            continue;
        };
        // `-Confirm:$false`
        let (name, inline) = match written.split_once(':') {
            Some((name, value)) => (name, Some(value)),
            None => (written, None),
        };
        let what = reader.names.parameter(entry, name.trim_start_matches('-'));
        let mut value = || match inline {
            Some("") | None => {
                arguments.next_if(|next| !next.is_parameter()).map(|next| next.text.clone())
            }
            Some(value) => Some(fixed(value)),
        };
        match what {
            None => placed.options.push(argument.text.clone()),
            Some(Parameter::Switch) => {
                if inline == Some("") {
                    value();
                }
            }
            Some(Parameter::Dropped) => drop(value()),
            Some(Parameter::Operand) => placed.middle.extend(value()),
            Some(Parameter::First) => placed.first.extend(value()),
            Some(Parameter::Last) => placed.last.extend(value()),
            Some(Parameter::Option(option)) => placed.options.push(option.clone()),
            Some(Parameter::Valued(option)) => {
                placed.options.push(option.clone());
                placed.options.extend(value());
            }
        }
    }
    placed
}

/// A call of a method, as a command; what it does not use runs before.
pub(super) fn method(
    reader: &mut Reader,
    class: Option<&str>,
    name: &str,
    arguments: Vec<Value>,
) -> Value {
    let names = reader.names;
    let Some(entry) = names.member(class, name) else {
        arguments.into_iter().for_each(|value| reader.discard(value));
        return Value::Unknown;
    };
    let Does::Becomes { words, takes } = &entry.does else {
        arguments.into_iter().for_each(|value| reader.discard(value));
        return Value::Commands("\"$unknown\"".to_owned());
    };
    // What the object itself names.
    let own = class.is_none();
    let mut all = words.clone();
    for (at, value) in arguments.into_iter().enumerate() {
        match *takes == Takes::First && at > 0 {
            true => reader.discard(value),
            false => all.push(value.word()),
        }
    }
    all.extend(own.then(|| Value::Unknown.word()));
    Value::Commands(all.join(" "))
}
