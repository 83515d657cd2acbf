//! The table of commands, read once.

use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What a command of PowerShell is for the shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Does {
    /// What its name says, and nothing that another program does.
    Stays,
    /// What these words do.
    Becomes { words: Vec<String>, takes: Takes },
    /// Its operands are code.
    Runs,
    /// It is PowerShell itself.
    Hosts,
    /// Its value is its operands, joined by `/`.
    Joins,
    /// What it runs is only known when it runs.
    Unknown,
}

/// What a command takes from those before it, and of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// All operands; the pipe is its input.
    Input,
    /// All operands; names come through the pipe.
    Names,
    /// The first operand: the others are contents.
    First,
}

/// What becomes of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Parameter {
    /// Its value is an operand.
    Operand,
    /// Its value is the first operand.
    First,
    /// Its value is the last operand.
    Last,
    /// Nothing, and of its value neither.
    Dropped,
    /// Nothing.
    Switch,
    /// This option.
    Option(String),
    /// This option, with the value.
    Valued(String),
}

/// One row.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its name as the documentation writes it.
    pub(super) name: String,
    pub(super) does: Does,
    parameters: Vec<(String, Parameter)>,
}

impl Entry {
    /// The options that its parameters may become.
    pub(super) fn options(&self) -> impl Iterator<Item = &str> {
        self.parameters.iter().filter_map(|(_, what)| match what {
            Parameter::Option(option) => Some(option.as_str()),
            _ => None,
        })
    }
}

#[derive(Debug, Default)]
pub(super) struct Names {
    /// Words in the names of tools that take PowerShell.
    pub(super) tools: Vec<String>,
    commands: BTreeMap<String, Entry>,
    members: BTreeMap<String, Entry>,
    /// Parameters of every command.
    common: Vec<(String, Parameter)>,
}

impl Names {
    pub(super) fn own() -> &'static Self {
        static OWN: LazyLock<Names> = LazyLock::new(|| Names::read(include_str!("commands.txt")));
        &OWN
    }

    fn read(text: &str) -> Self {
        let mut names = Self::default();
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (head, rest) = line.split_once(':').unwrap_or((line, ""));
            let words = || rest.split_whitespace().map(str::to_owned);
            match head {
                "tools" => names.tools.extend(words()),
                "every" => names.common.extend(rest.split_whitespace().filter_map(parameter)),
                "reads" => {
                    for name in words() {
                        names.add(&name, &[name.as_str()], Does::Stays, Vec::new());
                    }
                }
                _ => names.add_row(line),
            }
        }
        names
    }

    /// `Remove-Item ri rm = rm <names ; Recurse>-r`
    fn add_row(&mut self, line: &str) {
        let (left, right) = line.split_once(" =").unwrap_or((line, ""));
        let (right, parameters) = right.split_once(" ; ").unwrap_or((right, ""));
        let known: Vec<&str> = left.split_whitespace().collect();
        let mut words: Vec<String> = right.split_whitespace().map(str::to_owned).collect();
        let takes = match words.last().map(String::as_str) {
            Some("<names") => Takes::Names,
            Some("<first") => Takes::First,
            _ => Takes::Input,
        };
        if takes != Takes::Input {
            words.pop();
        }
        let does = match words.first().map(String::as_str) {
            None => Does::Stays,
            Some("@runs") => Does::Runs,
            Some("@hosts") => Does::Hosts,
            Some("@joins") => Does::Joins,
            Some("@unknown") => Does::Unknown,
            Some(_) => Does::Becomes { words, takes },
        };
        let parameters = parameters.split_whitespace().filter_map(parameter).collect();
        if let Some(name) = known.first() {
            self.add(name, &known, does, parameters);
        }
    }

    fn add(
        &mut self,
        name: &str,
        known: &[&str],
        does: Does,
        parameters: Vec<(String, Parameter)>,
    ) {
        let entry = Entry { name: name.to_owned(), does, parameters };
        for name in known {
            let table = match name.contains("::") || name.starts_with('.') {
                true => &mut self.members,
                false => &mut self.commands,
            };
            table.insert(name.to_lowercase(), entry.clone());
        }
    }

    /// The command of this name, however it is written.
    pub(super) fn command(&self, name: &str) -> Option<&Entry> {
        self.commands.get(&name.to_lowercase())
    }

    /// The method of this name, of this class or of an object.
    pub(super) fn member(&self, class: Option<&str>, name: &str) -> Option<&Entry> {
        let class = class.map(|class| class.rsplit('.').next().unwrap_or(class));
        let full = format!("{}::{name}", class.unwrap_or_default()).to_lowercase();
        let any = format!(".{name}").to_lowercase();
        self.members.get(&full).or_else(|| self.members.get(&any))
    }

    /// What becomes of a parameter, which may be shortened.
    pub(super) fn parameter<'n>(&'n self, entry: &'n Entry, name: &str) -> Option<&'n Parameter> {
        let name = name.to_lowercase();
        let exact = |(known, _): &&(String, Parameter)| *known == name;
        let begins = |(known, _): &&(String, Parameter)| known.starts_with(&name);
        let own = entry.parameters.iter().chain(&self.common);
        own.clone().find(exact).or_else(|| own.clone().find(begins)).map(|(_, what)| what)
    }
}

fn parameter(text: &str) -> Option<(String, Parameter)> {
    let (name, what) = text.split_once('>')?;
    let what = match what {
        "" => Parameter::Operand,
        "first" => Parameter::First,
        "last" => Parameter::Last,
        "none" => Parameter::Dropped,
        "switch" => Parameter::Switch,
        option => match option.strip_suffix('=') {
            Some(option) => Parameter::Valued(option.to_owned()),
            None => Parameter::Option(option.to_owned()),
        },
    };
    Some((name.to_lowercase(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_however_they_are_written() {
        let names = Names::own();
        for (written, name) in
            [("GCI", "Get-ChildItem"), ("rm", "Remove-Item"), ("%", "ForEach-Object")]
        {
            assert_eq!(names.command(written).map(|e| e.name.as_str()), Some(name));
        }
        let remove = names.command("ri").unwrap();
        let option = Some(&Parameter::Option("-r".to_owned()));
        assert_eq!(names.parameter(remove, "rec"), option);
        assert_eq!(names.parameter(remove, "ea"), Some(&Parameter::Dropped));
        assert!(names.member(Some("System.IO.File"), "delete").is_some());
        assert!(names.member(Some("Math"), "min").is_none());
    }
}
