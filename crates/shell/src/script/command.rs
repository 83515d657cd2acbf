use super::status::Status;

/// A command position: a place where the shell starts a program, a built-in or a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The first word; `None` if there are only assignments or redirects.
    pub name: Option<Word>,
    /// The words after the name, quotes removed.
    pub args: Vec<Word>,
    /// Assignments before the name, such as `A=1`.
    pub assignments: Vec<Assignment>,
    /// The redirects. Those of a group belong to a nameless command before the group.
    pub redirects: Vec<Redirect>,
    /// The number of enclosing constructs: substitutions, subshells, groups, loops, wrappers and so
    /// on.
    pub depth: usize,
    /// The innermost construct that affects how the command runs.
    pub inside: Position,
    /// How its exit status affects that of the script.
    pub status: Status,
    /// Where its standard output goes.
    pub stdout: Destination,
    /// Where its standard error goes.
    pub stderr: Destination,
    /// The working directory, relative to where the script starts: empty at the start, `None` if
    /// unknown.
    pub directory: Option<String>,
    /// The position in [`Script::commands`](crate::Script::commands) of the wrapper that runs it.
    pub wrapped_by: Option<usize>,
    /// Whether it can start at all: `false` after `exit`, and in a branch that is never taken.
    pub reached: bool,
    /// Whether it certainly runs, in the script's own shell, if what comes before it did.
    pub always: bool,
}

impl Command {
    /// The program's base name if it is fixed: `git` for `/usr/bin/git`.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let name = self.name.as_ref()?.literal()?;
        Some(name.rsplit('/').next().unwrap_or(name))
    }

    /// The program and its arguments, as far as they are fixed.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let arguments = self.args.iter().filter_map(Word::literal);
        self.program().into_iter().chain(arguments).map(str::to_owned).collect()
    }

    /// Whether there is a name that is only known at run time.
    #[must_use]
    pub fn is_dynamic(&self) -> bool {
        self.name.as_ref().is_some_and(|name| name.literal().is_none())
    }

    /// Whether its standard output appears in the script's output, possibly filtered.
    #[must_use]
    pub fn output_visible(&self) -> bool {
        matches!(self.stdout, Destination::Shown | Destination::Filtered)
    }
}

/// A word of the command line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// The text without quotes; expansions as written.
    pub text: String,
    /// Whether the program receives exactly this text.
    pub kind: WordKind,
}

impl Word {
    /// A literal word.
    #[must_use]
    pub fn fixed(text: impl Into<String>) -> Self {
        Self { text: text.into(), kind: WordKind::Literal }
    }

    /// The text, if the program receives exactly that.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        (self.kind == WordKind::Literal).then_some(self.text.as_str())
    }
}

/// How far the text of the script determines a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WordKind {
    /// The program receives exactly this text.
    Literal,
    /// Contains unquoted `*`, `?`, `[…]` or `{a,b}`, so it may depend on existing files.
    Pattern,
    /// Contains a parameter, a substitution or arithmetic.
    Dynamic,
}

/// An assignment `NAME=value`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable, with its subscript if it has one.
    pub name: String,
    /// The value; the elements of an array joined by a space.
    pub value: Word,
    /// Whether it appends with `+=`.
    pub append: bool,
}

/// One redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// The redirected stream.
    pub stream: Stream,
    /// The direction.
    pub direction: Direction,
    /// The target.
    pub target: Target,
}

/// The stream that is redirected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// One file descriptor: 0 input, 1 output, 2 error.
    Fd(i32),
    /// Both output and error: `&>`.
    OutputAndError,
}

/// How a redirect uses its target.
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

/// The target of a redirect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A path.
    File(Word),
    /// Another file descriptor.
    Fd(i32),
    /// Closed: `-`.
    Closed,
    /// A here-document or a here-string, with its text.
    Text(Word),
    /// A process substitution.
    Process,
}

/// The innermost construct that affects how a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Position {
    /// Directly in the script, in a group or in a subshell.
    Script,
    /// In the body or the condition of `if`, `case`, `for`, `while`.
    Branch,
    /// In a function whose name occurs as a command in the script.
    Function,
    /// In a function whose name never occurs as a command.
    UnusedFunction,
    /// In `$(…)` or backquotes.
    Substitution,
    /// In `<(…)` or `>(…)`.
    ProcessSubstitution,
    /// Run by another command: `sudo`, `env`, `xargs`, `bash -c` …
    Wrapper,
    /// Run elsewhere by another command: `ssh`, `docker exec` …
    Remote,
}

/// Where an output stream goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Destination {
    /// To the script's output.
    Shown,
    /// To the script's output, through another command that may drop some of it.
    Filtered,
    /// To a file.
    File,
    /// To a variable, into another command's words, or to a closed descriptor.
    Captured,
    /// To `/dev/null`.
    Discarded,
}
