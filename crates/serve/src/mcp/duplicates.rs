//! Finds members that occur twice in one object, at any depth. Readers differ in which of the two
//! they take.

use std::borrow::Cow;
use std::collections::HashSet;

use counterfoil_formats::mended_json;

/// The name of a member that occurs twice in an object of this text, which is valid JSON.
pub(crate) fn twice(text: &str) -> Option<String> {
    let mut open: Vec<Object<'_>> = Vec::new();
    let (mut rest, mut at_name) = (text, false);
    while let Some(at) = rest.find(['"', '{', '}', '[', ']', ',', ':']) {
        let (mark, after) = (rest.as_bytes().get(at)?, rest.get(at + 1..)?);
        rest = after;
        match mark {
            b'{' | b'[' => {
                at_name = *mark == b'{';
                open.push(at_name.then(Names::default));
            }
            b'}' | b']' => {
                open.pop();
                at_name = false;
            }
            b',' => at_name = matches!(open.last(), Some(Some(_))),
            b':' => at_name = false,
            _ => {
                let end = end_of(after)?;
                rest = after.get(end + 1..)?;
                if at_name
                    && let Some(Some(names)) = open.last_mut()
                    && let Some(twice) = names.add(after.get(..end)?)
                {
                    return Some(twice);
                }
            }
        }
    }
    None
}

/// The names of an open object; `None` for an array.
type Object<'t> = Option<Names<'t>>;

/// The names of the members of one object. A set is made when there are many.
#[derive(Default)]
struct Names<'t> {
    few: Vec<Cow<'t, str>>,
    many: HashSet<Cow<'t, str>>,
}

/// Up to this many names are searched one after the other.
const FEW: usize = 16;

impl<'t> Names<'t> {
    /// Adds a name as it is written. Returns it if it was there already.
    fn add(&mut self, written: &'t str) -> Option<String> {
        let name = name(written);
        if self.few.contains(&name) || self.many.contains(&name) {
            return Some(name.into_owned());
        }
        match self.few.len() < FEW {
            true => self.few.push(name),
            false => drop(self.many.insert(name)),
        }
        None
    }
}

/// The name that is written so between quotes.
fn name(written: &str) -> Cow<'_, str> {
    if !written.contains('\\') {
        return Cow::Borrowed(written);
    }
    let quoted = format!("\"{written}\"");
    // Names may contain unpaired surrogates, which some readers replace.
    let read =
        serde_json::from_str(&quoted).or_else(|_| serde_json::from_str(&mended_json(&quoted)));
    Cow::Owned(read.unwrap_or(quoted))
}

/// Where the text ends that begins here.
fn end_of(text: &str) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + text.get(from..)?.find(['"', '\\'])?;
        if text.as_bytes().get(at) == Some(&b'"') {
            return Some(at);
        }
        // What is escaped is one character; the rest of `\u0022` is plain.
        from = at + 1 + text.get(at + 1..)?.chars().next()?.len_utf8();
    }
}

#[cfg(test)]
mod tests {
    use super::twice;

    #[test]
    fn a_member_that_occurs_twice_is_found_at_any_depth() {
        let many: Vec<String> = (0..40).map(|n| format!(r#""k{n}":{n}"#)).collect();
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(5_000), "]".repeat(5_000));
        for (text, name) in [
            (r#"{"a":{"a":1},"b":[{"a":1},{"a":2}]}"#.to_owned(), None),
            (r#"{"a":"b","b":"a"}"#.to_owned(), None),
            (r#"{"a":"\"a\":","b":"\\","c":["a","a"]}"#.to_owned(), None),
            (r#"{"a": 1 , "a" :2}"#.to_owned(), Some("a")),
            (r#"{"x":[1,{"text":"a","y":{"z":"}"},"text":"b"}]}"#.to_owned(), Some("text")),
            (r#"{"x":{"\u0061":1,"a":2}}"#.to_owned(), Some("a")),
            (r#"{"x":{"\"":1,"\u0022":2}}"#.to_owned(), Some("\"")),
            (r#"{"x":{"\ud800":1,"\ud800":2}}"#.to_owned(), Some("\u{fffd}")),
            (format!("{{{}}}", many.join(",")), None),
            (format!("{{{},\"k39\":1}}", many.join(",")), Some("k39")),
            (deep(r#"{"a":1,"a":2}"#), Some("a")),
            (deep("1"), None),
            (String::new(), None),
            (r#"{"a"#.to_owned(), None),
            (r#"{"a\"#.to_owned(), None),
        ] {
            assert_eq!(twice(&text).as_deref(), name, "{text}");
        }
    }
}
