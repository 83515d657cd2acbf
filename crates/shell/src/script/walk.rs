use std::collections::BTreeMap;

use super::analysed::{Function, Script};
use super::command::{Command, Destination, Position, Word};
use super::limits::{COMMANDS, LEVELS, NotAnalysable};
use super::simple::{always, always_of, ends_here, ends_with_last_status, surely_fails};
use super::state::{Shell, Surroundings, join};
use super::status::{Masking, Status};
use super::tree::{AndOr, Compound, Connector, Found, List, Node, Parts, Pipeline};
use super::variables::Variables;
use super::wrapper::{self, Inner};
use super::{grammar, simple};

type Done = Result<(), NotAnalysable>;

/// Parses a whole script, and parses it again if it sets variables to one fixed value.
pub(super) fn read(text: &str) -> Result<Script, NotAnalysable> {
    let script = read_with(text, Variables::default())?;
    let variables = Variables::new(&script, text);
    if variables.is_empty() { Ok(script) } else { read_with(text, variables) }
}

fn read_with(text: &str, variables: Variables) -> Result<Script, NotAnalysable> {
    let script = Script {
        commands: Vec::new(),
        functions: Vec::new(),
        unread: Vec::new(),
        substitutions: 0,
        process_substitutions: 0,
        here_strings: 0,
    };
    let mut walk = Walk { script, variables };
    walk.text(text, &Surroundings::of_script(), &mut Shell::new())?;
    walk.mark_unused_functions();
    Ok(walk.script)
}

struct Walk {
    script: Script,
    variables: Variables,
}

impl Walk {
    fn text(&mut self, text: &str, around: &Surroundings, shell: &mut Shell) -> Done {
        if around.level > LEVELS {
            return Err(NotAnalysable::TooDeep);
        }
        let list = grammar::parse(text, around.depth, around.dialect)?;
        self.list(&list, around, shell)
    }

    fn list(&mut self, list: &List, around: &Surroundings, shell: &mut Shell) -> Done {
        let mut goes_on = true;
        for (i, item) in list.0.iter().enumerate() {
            let mut around = around.reached_if(goes_on);
            around.always &= !item.background;
            let status = match list.0.get(i + 1) {
                _ if item.background => Status::Masked(Masking::Background),
                None => Status::Decides,
                Some(next) if ends_with_last_status(&next.pipelines) => Status::Decides,
                Some(_) => Status::Masked(Masking::Sequence),
            };
            // Under `set -e`, a failure of the last pipeline in a list ends the script.
            let exits = shell.errexit && !item.background;
            self.and_or(&item.pipelines, status, exits, &around, shell)?;
            goes_on &= !ends_here(&item.pipelines);
        }
        Ok(())
    }

    fn and_or(
        &mut self,
        list: &AndOr,
        status: Status,
        exits: bool,
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Done {
        let count = list.rest.len();
        let last_fallback = list
            .rest
            .iter()
            .rposition(|(connector, next)| *connector == Connector::Or && !surely_fails(next));
        let pipelines = std::iter::once((false, &list.first))
            .chain(list.rest.iter().map(|(connector, next)| (*connector == Connector::Or, next)));
        let mut before = None;
        for (i, (or, pipeline)) in pipelines.enumerate() {
            let reached = i == 0 || before != Some(or);
            before = if reached { always(pipeline) } else { before };
            let alone = if last_fallback.is_some_and(|at| at >= i) {
                Status::Masked(Masking::Fallback)
            } else if or {
                Status::Conditional
            } else {
                Status::Decides
            };
            let whole = if exits && i == count { Status::Decides } else { status };
            let mut around = around.reached_if(reached).with_status(whole).with_status(alone);
            around.always &= i == 0;
            self.pipeline(pipeline, &around, shell)?;
        }
        Ok(())
    }

    fn pipeline(&mut self, pipeline: &Pipeline, around: &Surroundings, shell: &mut Shell) -> Done {
        let negated = if pipeline.negated {
            around.with_status(Status::Masked(Masking::Negated))
        } else {
            around.clone()
        };
        if let [only] = pipeline.stages.as_slice() {
            return self.node(only, &negated, shell);
        }
        let outputs = simple::stage_outputs(&pipeline.stages, negated.stdout);
        let last = pipeline.stages.len().saturating_sub(1);
        for (i, (stage, stdout)) in pipeline.stages.iter().zip(outputs).enumerate() {
            let masked = i != last && !shell.pipefail;
            let status = if masked { Status::Masked(Masking::Pipe) } else { Status::Decides };
            let mut around = negated.with_status(status).perhaps();
            around.stdout = stdout;
            self.node(stage, &around, &mut shell.clone())?;
        }
        Ok(())
    }

    fn node(&mut self, node: &Node, around: &Surroundings, shell: &mut Shell) -> Done {
        match node {
            Node::Simple(parts) => self.simple(parts, around, shell),
            Node::Compound(compound, redirects) => {
                let around = self.redirected(redirects, around, shell)?;
                self.compound(compound, &around, shell)
            }
            Node::Function(function) => {
                let first = self.script.commands.len();
                let mut around = around.deeper(Position::Function);
                around.status = Status::Conditional;
                let around = self.redirected(&function.redirects, &around, shell)?;
                self.compound(&function.body, &around, &mut shell.clone())?;
                let end = self.script.commands.len();
                let name = function.name.clone();
                self.script.functions.push(Function { name, body: first..end });
                Ok(())
            }
            Node::Coprocess(body) => {
                let around = around
                    .deeper(Position::Branch)
                    .with_status(Status::Masked(Masking::Background));
                self.node(body, &around, &mut shell.clone())
            }
        }
    }

    /// Adds the redirects of a group as a nameless command.
    fn redirected(
        &mut self,
        redirects: &Parts,
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Result<Surroundings, NotAnalysable> {
        if redirects.is_empty() {
            return Ok(around.clone());
        }
        let (stdout, stderr) = redirects.outputs(around);
        self.simple(redirects, &around.with_status(Status::Masked(Masking::Sequence)), shell)?;
        Ok(Surroundings { stdout, stderr, ..around.clone() })
    }

    fn compound(&mut self, compound: &Compound, around: &Surroundings, shell: &mut Shell) -> Done {
        let branch = around.deeper(Position::Branch);
        let maybe = branch.with_status(Status::Conditional);
        let condition = branch.with_status(Status::Masked(Masking::Condition));
        let round = branch.with_status(if shell.errexit {
            Status::Conditional
        } else {
            Status::Masked(Masking::Loop)
        });
        let before = shell.directory.clone();
        match compound {
            Compound::Group(list) => {
                return self.list(list, &around.deeper(around.inside), shell);
            }
            Compound::Subshell(list) => {
                let around = around.deeper(around.inside).perhaps();
                return self.list(list, &around, &mut shell.clone());
            }
            Compound::Arithmetic(found) => return self.found(found, around, shell),
            Compound::Test(parts) => return self.simple(parts, around, shell),
            Compound::For { values, body } => {
                self.found(&values.found, &branch, shell)?;
                let names = Parts { assignments: values.assignments.clone(), ..Parts::default() };
                self.simple(&names, &around.deeper(around.inside), shell)?;
                self.list(body, &round, shell)?;
            }
            Compound::ArithmeticFor { header, body } => {
                self.found(header, &branch, shell)?;
                self.list(body, &round, shell)?;
            }
            Compound::Case { word, items } => {
                self.found(word, &branch, shell)?;
                for item in items {
                    self.found(&item.patterns, &branch, shell)?;
                    self.list(&item.body, &maybe, shell)?;
                }
            }
            Compound::If { branches, otherwise } => {
                for (i, (test, body)) in branches.iter().enumerate() {
                    self.list(test, &condition, shell)?;
                    let enters = i > 0 || always_of(test) != Some(false);
                    self.list(body, &maybe.reached_if(enters), shell)?;
                }
                if let Some(body) = otherwise {
                    self.list(body, &maybe, shell)?;
                }
            }
            Compound::Loop { until, condition: test, body } => {
                self.list(test, &condition, shell)?;
                let enters = always_of(test) != Some(*until);
                self.list(body, &round.reached_if(enters), shell)?;
            }
        }
        if shell.directory != before {
            shell.directory = None;
        }
        Ok(())
    }

    /// Adds one command, then the scripts in its words, then the scripts it runs.
    fn simple(&mut self, parts: &Parts, around: &Surroundings, shell: &mut Shell) -> Done {
        if self.script.commands.len() >= COMMANDS {
            return Err(NotAnalysable::TooDeep);
        }
        self.script.here_strings += parts.here_strings;
        let assigns_only = parts.name.is_none() && !parts.assignments.is_empty();
        let index = self.script.commands.len();
        let meant = self.variables.resolve(parts);
        let (stdout, stderr) = meant.outputs(around);
        let command = Command {
            name: meant.name,
            args: meant.args,
            assignments: meant.assignments,
            redirects: meant.redirects,
            depth: around.depth,
            inside: around.inside,
            status: around.status,
            stdout,
            stderr,
            directory: shell.directory.clone(),
            wrapped_by: around.wrapped_by,
            reached: around.reached,
            always: around.always,
        };
        let inner = wrapper::inner(&command);
        shell.apply(&command);
        let prints = matches!(command.program(), Some("echo" | "printf"));
        let keep = command.name.is_some()
            || !command.redirects.is_empty()
            || !command.assignments.is_empty();
        if keep {
            self.script.commands.push(command);
        }
        let count = parts.found.scripts.len();
        for (i, script) in parts.found.scripts.iter().enumerate() {
            let status = if assigns_only && i + 1 == count {
                Status::Decides
            } else {
                Status::Masked(Masking::Substitution)
            };
            let stdout = if prints { stdout } else { Destination::Captured };
            self.substitution(script, status, stdout, around, shell)?;
        }
        self.processes(&parts.found, around, shell)?;
        for inner in inner {
            self.wrapped(inner, index, (stdout, stderr), around, shell)?;
        }
        Ok(())
    }

    fn substitution(
        &mut self,
        script: &List,
        status: Status,
        stdout: Destination,
        around: &Surroundings,
        shell: &Shell,
    ) -> Done {
        self.script.substitutions += 1;
        let mut around = around.deeper(Position::Substitution).with_status(status);
        around.stdout = stdout;
        around.wrapped_by = None;
        self.list(script, &around, &mut shell.clone())
    }

    fn wrapped(
        &mut self,
        inner: Inner,
        index: usize,
        (stdout, stderr): (Destination, Destination),
        around: &Surroundings,
        shell: &Shell,
    ) -> Done {
        if around.level >= LEVELS {
            return Err(NotAnalysable::TooDeep);
        }
        let mut around = around.deeper(inner.position).with_status(inner.status);
        around.level += 1;
        around.dialect = inner.dialect.unwrap_or(around.dialect);
        around.stdout = stdout;
        around.stderr = stderr;
        around.wrapped_by = Some(index);
        let mut shell = Shell { directory: shell.directory.clone(), ..Shell::new() };
        if let Some(to) = self.script.commands.get(index).and_then(wrapper::goes_to) {
            shell.directory = to.literal().and_then(|to| join(shell.directory.as_deref(), to));
        }
        if inner.position == Position::Remote {
            shell.directory = None;
        }
        shell.errexit = inner.errexit;
        shell.pipefail = inner.pipefail;
        match inner.script {
            wrapper::Body::Text(text) => self.text(&text, &around, &mut shell),
            wrapper::Body::Unread => {
                self.script.unread.push(index);
                Ok(())
            }
            wrapper::Body::Words(words) => {
                self.simple(&Parts::of_words(words), &around, &mut shell)
            }
        }
    }

    /// Adds the scripts in words that do not belong to a command.
    fn found(&mut self, found: &Found, around: &Surroundings, shell: &Shell) -> Done {
        for script in &found.scripts {
            let status = Status::Masked(Masking::Substitution);
            self.substitution(script, status, Destination::Captured, around, shell)?;
        }
        self.processes(found, around, shell)
    }

    fn processes(&mut self, found: &Found, around: &Surroundings, shell: &Shell) -> Done {
        for list in &found.processes {
            self.script.process_substitutions += 1;
            let mut around = around
                .deeper(Position::ProcessSubstitution)
                .with_status(Status::Masked(Masking::Substitution));
            around.stdout = Destination::Captured;
            self.list(list, &around, &mut shell.clone())?;
        }
        Ok(())
    }

    fn mark_unused_functions(&mut self) {
        let mut first_and_last: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for (i, command) in self.script.commands.iter().enumerate() {
            if let Some(name) = command.name.as_ref().and_then(Word::literal) {
                first_and_last.entry(name.to_owned()).or_insert((i, i)).1 = i;
            }
        }
        for Function { name, body } in &self.script.functions {
            let used = first_and_last
                .get(name)
                .is_some_and(|(first, last)| *first < body.start || *last >= body.end);
            if !used {
                let body = self.script.commands.iter_mut().take(body.end).skip(body.start);
                body.for_each(|command| command.inside = Position::UnusedFunction);
            }
        }
    }
}
