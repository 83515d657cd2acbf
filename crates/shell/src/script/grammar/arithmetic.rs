//! Arithmetic: only its end and the expansions in it matter.

use super::Parsed;
use super::cursor::Cursor;
use super::words::{Draft, Quotes};
use crate::script::limits::NotAnalysable;

impl Cursor<'_> {
    /// Takes `((…))`, unless the parentheses do not close as a pair: `((a) | (b))` runs commands.
    pub(super) fn arithmetic_pair(&mut self, draft: &mut Draft) -> Parsed<bool> {
        let (start, here, text) = (self.at, self.here.clone(), draft.text.len());
        let (scripts, processes) = (draft.found.scripts.len(), draft.found.processes.len());
        let level = self.level;
        self.expect("((")?;
        match self.arithmetic(draft, b'(', b')') {
            Ok(()) if self.takes(")") => return Ok(true),
            Err(NotAnalysable::TooDeep) => return Err(NotAnalysable::TooDeep),
            Ok(()) | Err(_) => {}
        }
        draft.text.truncate(text);
        draft.found.scripts.truncate(scripts);
        draft.found.processes.truncate(processes);
        self.here = here;
        self.level = level;
        self.retry_from(start)?;
        Ok(false)
    }

    /// Reads up to what closes the arithmetic that began before.
    pub(super) fn arithmetic(&mut self, draft: &mut Draft, open: u8, close: u8) -> Parsed<()> {
        let mut inner = 0_usize;
        loop {
            match self.peek() {
                None => {
                    return Err(NotAnalysable::Uncertain { what: "arithmetic without an end" });
                }
                Some(b) if b == close && inner == 0 => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b) => {
                    inner += usize::from(b == open);
                    inner -= usize::from(b == close);
                    self.part(b, draft, Quotes::Double)?;
                }
            }
        }
    }
}
