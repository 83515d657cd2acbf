//! Reads JSON text and writes it in canonical form. Numbers stay text throughout.

use std::borrow::Cow;

use super::decimal::canonical_number;
use super::{CanonicalForm, by_utf16};
use crate::json::JsonError;

/// The canonical bytes of a JSON text that is nested at most `depth` deep.
pub(super) fn canonical(
    text: &str,
    form: CanonicalForm,
    depth: usize,
) -> Result<Vec<u8>, JsonError> {
    let mut scanner = Scanner::new(text, form);
    scanner.out.reserve(text.len());
    scanner.whole(depth)?;
    Ok(scanner.out)
}

/// The numbers of a JSON text as written, in order.
pub(crate) fn numbers_of(text: &str, depth: usize) -> Result<Vec<&str>, JsonError> {
    let mut scanner =
        Scanner { numbers: Some(Vec::new()), ..Scanner::new(text, CanonicalForm::Exact) };
    scanner.whole(depth)?;
    Ok(scanner.numbers.unwrap_or_default())
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    form: CanonicalForm,
    out: Vec<u8>,
    /// The numbers so far, if requested.
    numbers: Option<Vec<&'t str>>,
}

/// A member of the object being written: its name, and the range of its bytes.
struct Member<'t> {
    name: Cow<'t, str>,
    start: usize,
    end: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str, form: CanonicalForm) -> Self {
        Self { text, at: 0, form, out: Vec::new(), numbers: None }
    }

    fn whole(&mut self, depth: usize) -> Result<(), JsonError> {
        self.value(depth)?;
        match self.next_byte() {
            None => Ok(()),
            Some(_) => Err(self.wrong("unexpected text after the value")),
        }
    }

    fn wrong(&self, what: &str) -> JsonError {
        if self.at >= self.text.len() {
            JsonError::Truncated(what.to_owned())
        } else {
            JsonError::Invalid(format!("{what} at byte {}", self.at))
        }
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// The next byte that is not white space.
    fn next_byte(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    /// Skips this byte, if it comes next.
    fn took(&mut self, byte: u8) -> bool {
        let there = self.next_byte() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth: usize) -> Result<(), JsonError> {
        let deeper = || depth.checked_sub(1);
        match self.next_byte() {
            Some(b'{') => match deeper() {
                Some(depth) => self.object(depth),
                None => Err(self.wrong("nested too deeply")),
            },
            Some(b'[') => match deeper() {
                Some(depth) => self.array(depth),
                None => Err(self.wrong("nested too deeply")),
            },
            Some(b'"') => {
                let text = self.string()?;
                write_string(&text, &mut self.out);
                Ok(())
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => self.word(),
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), JsonError> {
        self.at += 1;
        self.out.push(b'[');
        if !self.took(b']') {
            loop {
                self.value(depth)?;
                if self.took(b']') {
                    break;
                }
                if !self.took(b',') {
                    return Err(self.wrong("missing comma in an array"));
                }
                self.out.push(b',');
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), JsonError> {
        self.at += 1;
        self.out.push(b'{');
        let begin = self.out.len();
        let mut members = Vec::new();
        if !self.took(b'}') {
            loop {
                members.push(self.member(depth)?);
                if self.took(b'}') {
                    break;
                }
                if !self.took(b',') {
                    return Err(self.wrong("missing comma in an object"));
                }
            }
        }
        self.sort(members, begin)?;
        self.out.push(b'}');
        Ok(())
    }

    fn member(&mut self, depth: usize) -> Result<Member<'t>, JsonError> {
        if self.next_byte() != Some(b'"') {
            return Err(self.wrong("expected a member name in double quotes"));
        }
        let start = self.out.len();
        let name = self.string()?;
        write_string(&name, &mut self.out);
        if !self.took(b':') {
            return Err(self.wrong("missing colon after a member name"));
        }
        self.out.push(b':');
        self.value(depth)?;
        Ok(Member { name, start, end: self.out.len() })
    }

    /// Sorts the members, which were written from `begin` on.
    fn sort(&mut self, mut members: Vec<Member<'_>>, begin: usize) -> Result<(), JsonError> {
        members.sort_by(|a, b| by_utf16(&a.name, &b.name));
        for (one, next) in members.iter().zip(members.iter().skip(1)) {
            if one.name == next.name {
                return Err(JsonError::Invalid(format!("the key `{}` appears twice", one.name)));
            }
        }
        let written = self.out.split_off(begin);
        for (place, Member { start, end, .. }) in members.iter().enumerate() {
            if place > 0 {
                self.out.push(b',');
            }
            let bytes = written.get(start - begin..end - begin);
            self.out.extend_from_slice(bytes.unwrap_or_default());
        }
        Ok(())
    }

    fn string(&mut self) -> Result<Cow<'t, str>, JsonError> {
        let start = self.at;
        self.at += 1;
        let mut plain = true;
        loop {
            match self.byte() {
                None => return Err(self.wrong("unterminated string")),
                Some(b'"') => break,
                Some(b'\\') => {
                    plain = false;
                    self.at += 2;
                }
                Some(byte) => {
                    plain &= byte >= b' ';
                    self.at += 1;
                }
            }
        }
        self.at += 1;
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        if plain {
            return Ok(Cow::Borrowed(quoted.get(1..quoted.len() - 1).unwrap_or_default()));
        }
        serde_json::from_str(quoted)
            .map(Cow::Owned)
            .map_err(|error| JsonError::Invalid(format!("invalid string at byte {start}: {error}")))
    }

    fn number(&mut self) -> Result<(), JsonError> {
        let start = self.at;
        self.at += usize::from(self.byte() == Some(b'-'));
        let whole = self.at;
        let mut right = self.digits();
        let rest = self.text.as_bytes().get(whole..self.at).unwrap_or_default();
        right &= rest.len() == 1 || rest.first() != Some(&b'0');
        if self.byte() == Some(b'.') {
            self.at += 1;
            right &= self.digits();
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            right &= self.digits();
        }
        let number = self.text.get(start..self.at).filter(|_| right);
        let Some(number) = number else { return Err(self.wrong("invalid number")) };
        if let Some(numbers) = &mut self.numbers {
            numbers.push(number);
        }
        canonical_number(number, self.form, &mut self.out).ok_or_else(|| {
            JsonError::Invalid(format!("the number at byte {start} is out of range"))
        })
    }

    /// Skips digits. Returns whether there were any.
    fn digits(&mut self) -> bool {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        self.at > start
    }

    fn word(&mut self) -> Result<(), JsonError> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let word = ["null", "true", "false"].into_iter().find(|w| rest.starts_with(w.as_bytes()));
        let Some(word) = word else { return Err(self.wrong("expected a JSON value")) };
        self.at += word.len();
        self.out.extend_from_slice(word.as_bytes());
        Ok(())
    }
}

fn write_string(text: &str, out: &mut Vec<u8>) {
    if text.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        out.push(b'"');
        out.extend_from_slice(text.as_bytes());
        out.push(b'"');
        return;
    }
    // serde_json escapes exactly what RFC 8785 requires, and writing to memory cannot fail.
    let written = serde_json::to_writer(&mut *out, text);
    debug_assert!(written.is_ok());
}
