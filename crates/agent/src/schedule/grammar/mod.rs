//! Tokens become clauses, by recursive descent without a step back.
//!
//! ```text
//! phrase  = ["please"] clause { [","] clause } ["please"]
//! clause  = repeat | delay | day | times | window | part
//! ```
//! Every rule takes what it understands and stops at the first token that it does not, so that
//! the word which an error names is the first one that nobody could place.

mod amount;
mod day;
mod reader;
mod repeat;
mod time;

use crate::schedule::clause::{Clauses, Said};
use crate::schedule::error::ScheduleError;
use crate::schedule::lexicon::Word;
use crate::schedule::token::{Kind, Token};

use reader::Reader;

/// Reads the clauses of a phrase.
///
/// # Errors
/// At the first token that fits nowhere, or at the end where something is missing.
pub(crate) fn clauses(
    tokens: &[Token],
    examples: [&'static str; 3],
) -> Result<Clauses, ScheduleError> {
    let mut reader = Reader::new(tokens, examples);
    let mut clauses = Clauses::default();
    if reader.take_word(Word::Please) {
        reader.take_comma();
    }
    if reader.is_at_end() {
        return Err(ScheduleError::Empty { examples });
    }
    while !reader.is_at_end() {
        if reader.ends_with_please() {
            break;
        }
        clause(&mut reader, &mut clauses)?;
        if !reader.is_at_end_after_comma() {
            reader.take_comma();
        }
    }
    if clauses == Clauses::default() { Err(ScheduleError::Empty { examples }) } else { Ok(clauses) }
}

fn clause(reader: &mut Reader<'_>, clauses: &mut Clauses) -> Result<(), ScheduleError> {
    let Some(kind) = reader.peek() else { return Err(reader.refusal()) };
    match kind {
        Kind::Word(Word::Over) => Err(ScheduleError::Past { word: reader.text() }),
        Kind::Word(Word::Unclear(first, second)) => Err(ScheduleError::Ambiguous {
            word: reader.text(),
            first: first.to_owned(),
            second: second.to_owned(),
        }),
        Kind::Word(Word::Every | Word::Adverb(..)) => repeat::repeat(reader, clauses),
        Kind::Word(Word::In) => amount::delay_or_part(reader, clauses),
        Kind::Word(Word::A | Word::Half) => amount::from_now(reader, clauses),
        Kind::Number(_) if time::is_hour(reader) => time::times(reader, clauses),
        Kind::Number(_) if !reader.is_month_at(1) => amount::from_now(reader, clauses),
        Kind::Word(Word::At | Word::Noon | Word::Midnight) | Kind::Clock(_) => {
            time::times(reader, clauses)
        }
        Kind::Word(Word::Between | Word::From) => time::window(reader, clauses),
        Kind::Word(Word::Part(_) | Word::This | Word::Tonight) => day::part(reader, clauses),
        _ => day::day(reader, clauses),
    }
}

/// Puts what a clause says into its slot, which must be empty.
fn put<T>(
    slot: &mut Option<Said<T>>,
    value: T,
    from: usize,
    reader: &Reader<'_>,
) -> Result<(), ScheduleError> {
    if slot.is_some() {
        return Err(reader.refusal_at(from));
    }
    *slot = Some(Said { value, words: reader.words_from(from) });
    Ok(())
}
