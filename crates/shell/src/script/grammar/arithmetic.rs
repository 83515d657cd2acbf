//! Arithmetic: only its end and the expansions in it matter.

use super::cursor::{Cursor, Parsed};
use super::words::{Draft, Quotes};
use crate::script::limits::NotAnalysable;

impl Cursor<'_> {
    /// Parses `((…))`; `false` if it turns out to be commands in parentheses.
    pub(super) fn arithmetic(&mut self, draft: &mut Draft) -> Parsed<bool> {
        match self.arithmetic_parts(draft)? {
            None => Ok(false),
            Some(1) => Ok(true),
            // Bash reads it as invalid arithmetic, other shells as commands.
            Some(_) => Err(NotAnalysable::Uncertain { what: "`;` in arithmetic" }),
        }
    }

    /// Parses `((…))` and returns the number of parts separated by `;`. Returns `None` if the
    /// parentheses do not close as a pair: `((a) | (b))` runs commands.
    pub(super) fn arithmetic_parts(&mut self, draft: &mut Draft) -> Parsed<Option<usize>> {
        let (start, here, level) = (self.at, self.here.clone(), self.level);
        let mark = draft.mark();
        self.expect("((")?;
        match self.up_to(draft, *b"()", b"") {
            Ok(parts) if self.takes(")") => return Ok(Some(parts)),
            Err(NotAnalysable::TooDeep) => return Err(NotAnalysable::TooDeep),
            Ok(_) | Err(_) => {}
        }
        draft.back_to(mark);
        (self.here, self.level) = (here, level);
        self.retry_from(start)?;
        Ok(None)
    }

    /// Parses the arithmetic of `$[…]`, from the `[`.
    pub(super) fn old_arithmetic(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.at += 1;
        self.nested(|parser| parser.up_to(draft, *b"[]", b"")).map(drop)
    }

    /// Parses `[…]` after the name of an array.
    pub(super) fn subscript(&mut self, draft: &mut Draft) -> Parsed<()> {
        self.at += 1;
        // Only Bash reads past these characters to the bracket.
        self.nested(|parser| parser.up_to(draft, *b"[]", b";&|\n")).map(drop)
    }

    /// Parses to the end of the arithmetic and returns the number of parts separated by `;`.
    fn up_to(
        &mut self,
        draft: &mut Draft,
        [open, close]: [u8; 2],
        refused: &[u8],
    ) -> Parsed<usize> {
        let (mut inner, mut parts) = (0_usize, 1);
        loop {
            match self.peek() {
                None => {
                    return Err(NotAnalysable::Uncertain {
                        what: "an unclosed arithmetic expression",
                    });
                }
                Some(b) if b == close && inner == 0 => {
                    self.at += 1;
                    return Ok(parts);
                }
                // In brackets this would be a process substitution.
                Some(b'<' | b'>') if close == b']' && self.peek_second() == Some(b'(') => {
                    return Err(NotAnalysable::Uncertain {
                        what: "a process substitution in a subscript",
                    });
                }
                Some(b) if refused.contains(&b) => {
                    return Err(NotAnalysable::Uncertain { what: "an unusual subscript" });
                }
                Some(b) => {
                    parts += usize::from(b == b';');
                    inner += usize::from(b == open);
                    inner -= usize::from(b == close);
                    self.part(b, draft, Quotes::Double)?;
                }
            }
        }
    }
}
