use brush_parser::Token;

/// A text that cannot be analysed. What it does is unknown, so nothing may be concluded from it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAnalysable {
    /// Longer than what is read.
    #[error("the command is longer than {limit} bytes")]
    TooLong {
        /// The limit in bytes.
        limit: usize,
    },
    /// Nested deeper, or with more parts, than what is read.
    #[error("the command is nested too deeply")]
    TooDeep,
    /// Not a valid script.
    #[error("the command is not valid shell syntax: {reason}")]
    Syntax {
        /// What the grammar says.
        reason: String,
    },
    /// Valid, perhaps, but not something that can be read with certainty.
    #[error("the command holds {what}, which cannot be read with certainty")]
    Uncertain {
        /// The construct.
        what: &'static str,
    },
}

/// The longest text that is read, in bytes.
const LENGTH: usize = 256 * 1024;
/// The tokenizer goes down one level of its own stack for each of these; about 1 KiB a level.
const EXPANSIONS: usize = 400;
/// Groups, subshells and compound commands inside one another.
const NESTING: usize = 48;
/// The grammar tries some constructs twice at each level, which doubles the work: `((` may be
/// arithmetic, and a `case` item may be the last one.
const DOUBLING: usize = 10;
/// Substitutions and scripts in words, inside one another.
pub(super) const LEVELS: usize = 16;
/// Commands of one script.
pub(super) const COMMANDS: usize = 20_000;

/// What must hold before the tokenizer may see the text.
pub(super) fn check_text(text: &str) -> Result<(), NotAnalysable> {
    if text.len() > LENGTH {
        return Err(NotAnalysable::TooLong { limit: LENGTH });
    }
    if text.contains('\0') {
        return Err(NotAnalysable::Uncertain { what: "a NUL character" });
    }
    let bytes = text.as_bytes();
    let opened = memchr::memchr_iter(b'$', bytes)
        .filter(|at| matches!(bytes.get(at + 1), Some(b'(' | b'{' | b'[')))
        .count();
    if opened > EXPANSIONS { Err(NotAnalysable::TooDeep) } else { Ok(()) }
}

/// What must hold before the grammar may see the tokens: it recurses, backtracks, and trusts
/// that a file descriptor fits its type.
pub(super) fn check_tokens(tokens: &[Token]) -> Result<(), NotAnalysable> {
    let mut open: Vec<&str> = Vec::new();
    let mut doubling = 0;
    let mut starts_command = true;
    let mut before: Option<&str> = None;
    for token in tokens {
        match token {
            Token::Operator(operator, _) => {
                if operator.starts_with(['<', '>'])
                    && let Some(fd) = before
                    && fd.bytes().all(|b| b.is_ascii_digit())
                    && fd.parse::<u16>().is_err()
                {
                    return Err(NotAnalysable::Uncertain { what: "an odd file descriptor" });
                }
                match operator.as_str() {
                    "(" => {
                        open.push("(");
                        doubling += 1;
                    }
                    ")" if open.last() == Some(&"(") => {
                        open.pop();
                        doubling -= 1;
                    }
                    _ => {}
                }
                starts_command = !operator.starts_with(['<', '>']);
                before = None;
            }
            Token::Word(word, _) => {
                let word = word.as_str();
                check_subscript(word)?;
                if starts_command {
                    match word {
                        "{" | "if" | "while" | "until" | "for" | "select" => open.push(word),
                        "case" => {
                            open.push(word);
                            doubling += 2;
                        }
                        "}" if open.last() == Some(&"{") => drop(open.pop()),
                        "fi" if open.last() == Some(&"if") => drop(open.pop()),
                        "done" => {
                            if matches!(open.last(), Some(&("while" | "until" | "for" | "select")))
                            {
                                open.pop();
                            }
                        }
                        "esac" if open.last() == Some(&"case") => {
                            open.pop();
                            doubling -= 2;
                        }
                        _ => {}
                    }
                }
                starts_command = matches!(
                    word,
                    "{" | "}"
                        | "if"
                        | "then"
                        | "else"
                        | "elif"
                        | "fi"
                        | "while"
                        | "until"
                        | "do"
                        | "done"
                        | "esac"
                        | "in"
                        | "!"
                        | "time"
                        | "coproc"
                        | "function"
                ) || (starts_command && open.last() == Some(&"case"))
                    || before == Some("function")
                    || before == Some("coproc");
                before = Some(word);
            }
        }
        if open.len() > NESTING || doubling > DOUBLING {
            return Err(NotAnalysable::TooDeep);
        }
    }
    // INVARIANT: every level of the grammar's recursion has a token in `open`, except these two.
    let prefixes = tokens
        .iter()
        .filter(|token| matches!(token, Token::Word(w, _) if w == "coproc" || w == "!"))
        .count();
    if prefixes > NESTING { Err(NotAnalysable::TooDeep) } else { Ok(()) }
}

/// `name[…` is given to the grammar of expansions, which backtracks at each level.
fn check_subscript(word: &str) -> Result<(), NotAnalysable> {
    let name = word.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    if name == 0 || word.as_bytes().get(name) != Some(&b'[') {
        return Ok(());
    }
    let bytes = word.as_bytes();
    let opened = bytes.iter().filter(|b| matches!(b, b'(' | b'{' | b'[' | b'`')).count();
    if opened > 8 { Err(NotAnalysable::TooDeep) } else { Ok(()) }
}

/// Puts a line break between `( (`, between `) )` where the text has a space, and in `esac)`.
///
/// The grammar takes two parentheses for the beginning of arithmetic however far apart they
/// stand; for Bash `( (rm x) )` is a command in two subshells. And it takes the end of
/// `(case x in a) b;; esac)` for one more pattern.
pub(super) fn separate_parentheses(tokens: Vec<Token>) -> Vec<Token> {
    let mut separated: Vec<Token> = Vec::with_capacity(tokens.len() + 8);
    let mut in_test = false;
    for token in tokens {
        match &token {
            Token::Word(word, _) if word == "[[" => in_test = true,
            Token::Word(word, _) if word == "]]" => in_test = false,
            Token::Operator(_, at) if !in_test && must_part(&separated, &token) => {
                separated.push(Token::Operator("\n".to_owned(), at.clone()));
            }
            Token::Word(..) | Token::Operator(..) => {}
        }
        separated.push(token);
    }
    separated
}

fn must_part(before: &[Token], token: &Token) -> bool {
    let operator = |token: &Token, any: &[&str]| matches!(token, Token::Operator(o, _) if any.contains(&o.as_str()));
    match (before, token) {
        ([.., Token::Operator(a, left)], Token::Operator(b, right)) => {
            a == b && matches!(a.as_str(), "(" | ")") && left.end.index != right.start.index
        }
        // After these two it is a pattern that happens to be spelt so.
        ([.., first, Token::Word(word, _)], _) => {
            word == "esac" && operator(token, &[")"]) && !operator(first, &["(", "|"])
        }
        _ => false,
    }
}
