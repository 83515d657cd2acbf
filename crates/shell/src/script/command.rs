use super::status::Status;

/// One command position: a place where the shell starts a program, a built-in or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The first word; `None` when there are only assignments or redirects.
    pub name: Option<Word>,
    /// The words after the name, quotes removed.
    pub args: Vec<Word>,
    /// `A=1` before the name.
    pub assignments: Vec<Assignment>,
    /// Its redirects. Those of a group stand in a command without a name before the group.
    pub redirects: Vec<Redirect>,
    /// How many constructs (substitution, subshell, group, loop, wrapper …) it stands in.
    pub depth: usize,
    /// The innermost construct that decides how it runs.
    pub inside: Position,
    /// How its exit status reaches the script's.
    pub status: Status,
    /// Where its standard output goes.
    pub stdout: Destination,
    /// Where its standard error goes.
    pub stderr: Destination,
    /// The directory it runs in, seen from where the script starts: empty at the start, `None`
    /// when it cannot be known.
    pub directory: Option<String>,
    /// The position in [`Script::commands`](crate::Script::commands) of the wrapper that runs it.
    pub wrapped_by: Option<usize>,
    /// Whether it may start at all: `false` after `exit`, and in a branch that is never taken.
    pub reached: bool,
    /// Whether it surely runs, in the shell of the script itself, once what stands before it did.
    pub always: bool,
}

impl Command {
    /// The program's base name, when it is fixed: `/usr/bin/git` is `git`.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.name.as_ref()?.literal()?;
        Some(name.rsplit('/').next().unwrap_or(name))
    }

    /// The program and the arguments behind it, as far as they are fixed.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let arguments = self.args.iter().filter_map(Word::literal);
        self.program().into_iter().chain(arguments).map(str::to_owned).collect()
    }

    /// Whether a name is there but only known when the script runs.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.literal().is_none())
    }

    /// Whether somebody reading the script's output sees what this command prints on its
    /// standard output, perhaps filtered.
    #[must_use]
    pub fn output_visible(&self) -> bool {
        matches!(self.stdout, Destination::Shown | Destination::Filtered)
    }
}

/// A word of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text without quotes; expansions stand as written.
    pub text: String,
    /// Whether the text is what the program gets.
    pub kind: WordKind,
}

impl Word {
    /// A word that means itself.
    #[must_use]
    pub fn fixed(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: WordKind::Literal }
    }

    /// The text, when the program gets exactly that.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        (self.kind == WordKind::Literal).then_some(self.text.as_str())
    }
}

/// How far a word is fixed by the text of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// The program gets exactly this.
    Literal,
    /// Unquoted `*`, `?`, `[…]` or `{a,b}`: depends on the files there.
    Pattern,
    /// Holds a parameter, a substitution or arithmetic.
    Dynamic,
}

/// `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, with its subscript where it has one.
    pub name: String,
    /// The value; the elements of an array joined by a space.
    pub value: Word,
    /// `+=` instead of `=`.
    pub append: bool,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Which stream is redirected.
    pub stream: Stream,
    /// What happens to the target.
    pub direction: Direction,
    /// Where to or from.
    pub target: Target,
}

/// The stream that a redirect concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// One file descriptor: 0 input, 1 output, 2 error.
    Fd(i32),
    /// `&>`: output and error.
    OutputAndError,
}

/// What a redirect does to its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Direction {
    /// `<`
    Read,
    /// `>` and `>|`
    Write,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`, `>&`
    Duplicate,
    /// `<<`, `<<<`
    Inline,
}

/// Where a redirect leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A path.
    File(Word),
    /// Another file descriptor.
    Fd(i32),
    /// `-`: closed.
    Closed,
    /// A here-document or a here-string, with its text.
    Text(Word),
    /// A process substitution.
    Process,
}

/// The innermost construct that decides how a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// Directly in the script, in groups and in subshells.
    Script,
    /// In the body or the condition of `if`, `case`, `for`, `while`.
    Branch,
    /// In a function that some command of the script names.
    Function,
    /// In a function that no command of the script names.
    UnusedFunction,
    /// In `$(…)` or backquotes.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// Run by another command: `sudo`, `env`, `xargs`, `bash -c` …
    Wrapper,
    /// Run by another command in another place: `ssh`, `docker exec` …
    Remote,
}

/// Where an output stream ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// In the script's output.
    Shown,
    /// In the script's output, through another command that may drop some of it.
    Filtered,
    /// In a file.
    File,
    /// In a variable, in another command's words or behind a closed descriptor.
    Captured,
    /// In `/dev/null`.
    Discarded,
}
