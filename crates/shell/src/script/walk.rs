use brush_parser::ast::{
    AndOr, AndOrList, Command as Node, CompoundCommand, CompoundList, CompoundListItem,
    ExtendedTestExpr, Pipeline, RedirectList, SeparatorOperator,
};
use brush_parser::{ParserOptions, parse_tokens, uncached_tokenize_str};

use super::command::{Command, Destination, Position, Word};
use super::limits::{
    COMMANDS, LEVELS, NotAnalysable, check_text, check_tokens, separate_parentheses,
};
use super::quoting::{read_expansions, read_word};
use super::simple::{Parts, always, always_of, ends_here, ends_with_last_status, surely_fails};
use super::state::{Shell, Surroundings};
use super::status::{Masking, Status};
use super::wrapper::{self, Inner};
use super::{Function, Script, simple};

type Done = Result<(), NotAnalysable>;

/// Reads a whole script.
pub(super) fn read(text: &str) -> Result<Script, NotAnalysable> {
    let mut walk = Walk {
        options: ParserOptions::default(),
        script: Script {
            commands: Vec::new(),
            functions: Vec::new(),
            unread: Vec::new(),
            substitutions: 0,
            process_substitutions: 0,
            here_strings: 0,
        },
    };
    walk.text(text, &Surroundings::of_script(), &mut Shell::new())?;
    walk.mark_unused_functions();
    Ok(walk.script)
}

struct Walk {
    options: ParserOptions,
    script: Script,
}

impl Walk {
    fn text(&mut self, text: &str, around: &Surroundings, shell: &mut Shell) -> Done {
        if around.level > LEVELS {
            return Err(NotAnalysable::TooDeep);
        }
        check_text(text)?;
        let syntax = |reason: String| NotAnalysable::Syntax { reason };
        let tokens = uncached_tokenize_str(text, &self.options.tokenizer_options())
            .map_err(|error| syntax(error.to_string()))?;
        check_tokens(&tokens)?;
        let tokens = separate_parentheses(tokens);
        let program =
            parse_tokens(&tokens, &self.options).map_err(|error| syntax(error.to_string()))?;
        let items: Vec<&CompoundListItem> =
            program.complete_commands.iter().flat_map(|list| &list.0).collect();
        self.items(&items, around, shell)
    }

    fn list(&mut self, list: &CompoundList, around: &Surroundings, shell: &mut Shell) -> Done {
        let items: Vec<&CompoundListItem> = list.0.iter().collect();
        self.items(&items, around, shell)
    }

    fn items(
        &mut self,
        items: &[&CompoundListItem],
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Done {
        let mut goes_on = true;
        for (i, CompoundListItem(list, separator)) in items.iter().enumerate() {
            let mut around = around.reached_if(goes_on);
            around.always &= !matches!(separator, SeparatorOperator::Async);
            let around = &around;
            let status = match (separator, items.get(i + 1)) {
                (SeparatorOperator::Async, _) => Status::Masked(Masking::Background),
                (SeparatorOperator::Sequence, None) => Status::Decides,
                (SeparatorOperator::Sequence, Some(next)) if ends_with_last_status(&next.0) => {
                    Status::Decides
                }
                (SeparatorOperator::Sequence, Some(_)) => Status::Masked(Masking::Sequence),
            };
            // Under `set -e` the last pipeline of a list ends the script when it fails.
            let exits = shell.errexit && matches!(separator, SeparatorOperator::Sequence);
            self.and_or(list, status, exits, around, shell)?;
            goes_on &= !ends_here(list);
        }
        Ok(())
    }

    fn and_or(
        &mut self,
        list: &AndOrList,
        status: Status,
        exits: bool,
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Done {
        let count = list.additional.len();
        let rest = |from: usize| list.additional.get(from..).unwrap_or_default();
        let pipelines = std::iter::once((false, &list.first)).chain(list.additional.iter().map(
            |next| match next {
                AndOr::And(pipeline) => (false, pipeline),
                AndOr::Or(pipeline) => (true, pipeline),
            },
        ));
        let mut before = None;
        for (i, (or, pipeline)) in pipelines.enumerate() {
            let reached = i == 0 || before != Some(or);
            before = if reached { always(pipeline) } else { before };
            let falls_back =
                rest(i).iter().any(|next| matches!(next, AndOr::Or(other) if !surely_fails(other)));
            let alone = if falls_back {
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
        let negated = if pipeline.bang {
            around.with_status(Status::Masked(Masking::Negated))
        } else {
            around.clone()
        };
        if let [only] = pipeline.seq.as_slice() {
            return self.node(only, &negated, shell);
        }
        let outputs = simple::stage_outputs(&pipeline.seq, negated.stdout);
        let last = pipeline.seq.len().saturating_sub(1);
        for (i, (stage, stdout)) in pipeline.seq.iter().zip(outputs).enumerate() {
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
            Node::Simple(command) => {
                let parts = Parts::of_simple(command)?;
                self.simple(parts, around, shell)
            }
            Node::Compound(compound, redirects) => {
                let around = self.redirected(redirects.as_ref(), around, shell)?;
                self.compound(compound, &around, shell)
            }
            Node::Function(function) => {
                let first = self.script.commands.len();
                let mut around = around.deeper(Position::Function);
                around.status = Status::Conditional;
                let around = self.redirected(function.body.1.as_ref(), &around, shell)?;
                self.compound(&function.body.0, &around, &mut shell.clone())?;
                let end = self.script.commands.len();
                let name = function.fname.value.clone();
                self.script.functions.push(Function { name, body: first..end });
                Ok(())
            }
            Node::ExtendedTest(test, redirects) => {
                let around = self.redirected(redirects.as_ref(), around, shell)?;
                let mut parts = Parts::named("[[");
                test_words(&test.expr, &mut |raw| {
                    let word = read_word(raw, &mut parts.scripts)?;
                    parts.args.push(word);
                    Ok(())
                })?;
                self.simple(parts, &around, shell)
            }
        }
    }

    /// Redirects of a group stand in a command of their own, without a name.
    fn redirected(
        &mut self,
        redirects: Option<&RedirectList>,
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Result<Surroundings, NotAnalysable> {
        let Some(redirects) = redirects.filter(|list| !list.0.is_empty()) else {
            return Ok(around.clone());
        };
        let parts = Parts::of_redirects(redirects)?;
        let (stdout, stderr) = parts.outputs(around);
        self.simple(parts, &around.with_status(Status::Masked(Masking::Sequence)), shell)?;
        Ok(Surroundings { stdout, stderr, ..around.clone() })
    }

    fn compound(
        &mut self,
        compound: &CompoundCommand,
        around: &Surroundings,
        shell: &mut Shell,
    ) -> Done {
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
            CompoundCommand::BraceGroup(group) => {
                return self.list(&group.list, &around.deeper(around.inside), shell);
            }
            CompoundCommand::Subshell(subshell) => {
                let around = around.deeper(around.inside).perhaps();
                return self.list(&subshell.list, &around, &mut shell.clone());
            }
            CompoundCommand::Coprocess(coprocess) => {
                let around = branch.with_status(Status::Masked(Masking::Background));
                return self.node(&coprocess.body, &around, &mut shell.clone());
            }
            CompoundCommand::Arithmetic(arithmetic) => {
                return self.expansions(&arithmetic.expr.value, around, shell);
            }
            CompoundCommand::ForClause(clause) => {
                for word in clause.values.iter().flatten() {
                    self.word(&word.value, &branch, shell)?;
                }
                self.simple(Parts::of_loop(clause)?, &around.deeper(around.inside), shell)?;
                self.list(&clause.body.list, &round, shell)?;
            }
            CompoundCommand::ArithmeticForClause(clause) => {
                let parts = [&clause.initializer, &clause.condition, &clause.updater];
                for part in parts.into_iter().flatten() {
                    self.expansions(&part.value, &branch, shell)?;
                }
                self.list(&clause.body.list, &round, shell)?;
            }
            CompoundCommand::CaseClause(clause) => {
                self.word(&clause.value.value, &branch, shell)?;
                for case in &clause.cases {
                    for pattern in &case.patterns {
                        self.word(&pattern.value, &branch, shell)?;
                    }
                    if let Some(list) = &case.cmd {
                        self.list(list, &maybe, shell)?;
                    }
                }
            }
            CompoundCommand::IfClause(clause) => {
                self.list(&clause.condition, &condition, shell)?;
                let then = always_of(&clause.condition) != Some(false);
                self.list(&clause.then, &maybe.reached_if(then), shell)?;
                for other in clause.elses.iter().flatten() {
                    if let Some(list) = &other.condition {
                        self.list(list, &condition, shell)?;
                    }
                    self.list(&other.body, &maybe, shell)?;
                }
            }
            CompoundCommand::WhileClause(clause) => {
                self.list(&clause.0, &condition, shell)?;
                let enters = always_of(&clause.0) != Some(false);
                self.list(&clause.1.list, &round.reached_if(enters), shell)?;
            }
            CompoundCommand::UntilClause(clause) => {
                self.list(&clause.0, &condition, shell)?;
                let enters = always_of(&clause.0) != Some(true);
                self.list(&clause.1.list, &round.reached_if(enters), shell)?;
            }
        }
        if shell.directory != before {
            shell.directory = None;
        }
        Ok(())
    }

    /// Adds one command, then the scripts in its words, then what it runs.
    fn simple(&mut self, parts: Parts, around: &Surroundings, shell: &mut Shell) -> Done {
        if self.script.commands.len() >= COMMANDS {
            return Err(NotAnalysable::TooDeep);
        }
        let (stdout, stderr) = parts.outputs(around);
        self.script.here_strings += parts.here_strings;
        let assigns_only = parts.name.is_none() && !parts.assignments.is_empty();
        let index = self.script.commands.len();
        let command = Command {
            name: parts.name,
            args: parts.args,
            assignments: parts.assignments,
            redirects: parts.redirects,
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
        let count = parts.scripts.len();
        for (i, script) in parts.scripts.iter().enumerate() {
            let status = if assigns_only && i + 1 == count {
                Status::Decides
            } else {
                Status::Masked(Masking::Substitution)
            };
            let stdout = if prints { stdout } else { Destination::Captured };
            self.substitution(script, status, stdout, around, shell)?;
        }
        for list in &parts.processes {
            self.script.process_substitutions += 1;
            let mut around = around
                .deeper(Position::ProcessSubstitution)
                .with_status(Status::Masked(Masking::Substitution));
            around.stdout = Destination::Captured;
            self.list(&list.list, &around, &mut shell.clone())?;
        }
        for inner in inner {
            self.wrapped(inner, index, (stdout, stderr), around, shell)?;
        }
        Ok(())
    }

    fn substitution(
        &mut self,
        script: &str,
        status: Status,
        stdout: Destination,
        around: &Surroundings,
        shell: &Shell,
    ) -> Done {
        self.script.substitutions += 1;
        let mut around = around.deeper(Position::Substitution).with_status(status);
        around.level += 1;
        around.stdout = stdout;
        around.wrapped_by = None;
        self.text(script, &around, &mut shell.clone())
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
        around.stdout = stdout;
        around.stderr = stderr;
        around.wrapped_by = Some(index);
        let mut shell = Shell { directory: shell.directory.clone(), ..Shell::new() };
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
            wrapper::Body::Words(words) => self.simple(Parts::of_words(words), &around, &mut shell),
        }
    }

    fn word(&mut self, raw: &str, around: &Surroundings, shell: &Shell) -> Done {
        let mut scripts = Vec::new();
        read_word(raw, &mut scripts)?;
        self.scripts(&scripts, around, shell)
    }

    fn expansions(&mut self, raw: &str, around: &Surroundings, shell: &Shell) -> Done {
        let mut scripts = Vec::new();
        read_expansions(raw, &mut scripts)?;
        self.scripts(&scripts, around, shell)
    }

    fn scripts(&mut self, scripts: &[String], around: &Surroundings, shell: &Shell) -> Done {
        for script in scripts {
            let status = Status::Masked(Masking::Substitution);
            self.substitution(script, status, Destination::Captured, around, shell)?;
        }
        Ok(())
    }

    fn mark_unused_functions(&mut self) {
        for Function { name, body } in &self.script.functions {
            let used = self.script.commands.iter().enumerate().any(|(i, command)| {
                !body.contains(&i) && command.name.as_ref().and_then(Word::literal) == Some(name)
            });
            if !used {
                let body = self.script.commands.iter_mut().take(body.end).skip(body.start);
                body.for_each(|command| command.inside = Position::UnusedFunction);
            }
        }
    }
}

fn test_words(
    expr: &ExtendedTestExpr,
    each: &mut dyn FnMut(&str) -> Result<(), NotAnalysable>,
) -> Done {
    match expr {
        ExtendedTestExpr::And(a, b) | ExtendedTestExpr::Or(a, b) => {
            test_words(a, each)?;
            test_words(b, each)
        }
        ExtendedTestExpr::Not(a) | ExtendedTestExpr::Parenthesized(a) => test_words(a, each),
        ExtendedTestExpr::UnaryTest(_, word) => each(&word.value),
        ExtendedTestExpr::BinaryTest(_, a, b) => {
            each(&a.value)?;
            each(&b.value)
        }
    }
}
