//! Parses a JSON text in one pass, without building its values.

use super::json_string::end_of_string;

/// The values of a JSON text, in text order.
#[derive(Debug)]
pub(crate) struct Leaves<'t>(Vec<Node<'t>>);

/// One value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Node<'t> {
    /// Its name, as written in the text; empty in a list and at the top.
    pub(crate) name: &'t str,
    /// Its value.
    pub(crate) leaf: Leaf<'t>,
    /// The index of the object or list that contains it; its own index at the top.
    pub(crate) parent: usize,
}

/// The kind and content of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaf<'t> {
    /// A string, as written between its quotation marks.
    Text(&'t str),
    /// A number, as written.
    Number(&'t str),
    /// `true` or `false`.
    Flag(bool),
    /// `null`, or something that is not a number.
    Void,
    /// An object.
    Object,
    /// A list with this number of elements.
    List(usize),
}

impl<'t> Leaves<'t> {
    /// Parses a text; `None` if it is not JSON.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let mut scanner = Scanner { text, at: 0, nodes: Vec::with_capacity(text.len() / 16) };
        let mut open: Vec<usize> = Vec::new();
        loop {
            let byte = scanner.peek()?;
            let within = open.last().and_then(|at| scanner.nodes.get(*at)).map(|node| node.leaf);
            let opened = match within {
                Some(Leaf::Object) if byte == b'}' => scanner.close(&mut open),
                Some(Leaf::List(_)) if byte == b']' => scanner.close(&mut open),
                Some(Leaf::Object) => {
                    let name = scanner.string()?;
                    scanner.eat(b':')?;
                    scanner.value(name, &mut open)?
                }
                _ => scanner.value("", &mut open)?,
            };
            if opened {
                continue;
            }
            // After a value comes another one, or the end of its parent.
            loop {
                if open.is_empty() {
                    return scanner.peek().is_none().then_some(Self(scanner.nodes));
                }
                match scanner.peek()? {
                    b',' => {
                        scanner.at += 1;
                        break;
                    }
                    b'}' | b']' => scanner.close(&mut open),
                    _ => return None,
                };
            }
        }
    }

    /// Whether a text is JSON and one of its values passes a test.
    pub(crate) fn any(text: &'t str, test: impl Fn(&Node<'t>) -> bool) -> bool {
        Self::parse(text).is_some_and(|leaves| leaves.nodes().iter().any(test))
    }

    /// All values.
    pub(crate) fn nodes(&self) -> &[Node<'t>] {
        &self.0
    }
}

struct Scanner<'t> {
    text: &'t str,
    at: usize,
    nodes: Vec<Node<'t>>,
}

impl<'t> Scanner<'t> {
    /// The next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        while matches!(bytes.get(self.at)?, b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
        bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Option<()> {
        (self.peek()? == byte).then(|| self.at += 1)
    }

    fn close(&mut self, open: &mut Vec<usize>) -> bool {
        open.pop();
        self.at += 1;
        false
    }

    /// A string, without its quotation marks.
    fn string(&mut self) -> Option<&'t str> {
        if self.peek()? != b'"' {
            return None;
        }
        let from = self.at + 1;
        let end = end_of_string(self.text.as_bytes(), from)?;
        self.at = end + 1;
        self.text.get(from..end)
    }

    /// Reads a value up to its opening mark. Returns whether it is a container that is now open.
    fn value(&mut self, name: &'t str, open: &mut Vec<usize>) -> Option<bool> {
        let parent = open.last().copied();
        let here = self.nodes.len();
        if let Some(Leaf::List(count)) =
            parent.and_then(|at| self.nodes.get_mut(at)).map(|node| &mut node.leaf)
        {
            *count += 1;
        }
        let leaf = match self.peek()? {
            b'"' => Leaf::Text(self.string()?),
            b'{' => {
                self.at += 1;
                open.push(here);
                Leaf::Object
            }
            b'[' => {
                self.at += 1;
                open.push(here);
                Leaf::List(0)
            }
            byte => {
                let rest = self.text.get(self.at..)?;
                let part = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'+');
                let len = rest.bytes().take_while(|b| part(*b)).count();
                let word = rest.get(..len).filter(|word| !word.is_empty())?;
                self.at += len;
                match word {
                    "true" | "false" => Leaf::Flag(word == "true"),
                    "null" | "NaN" => Leaf::Void,
                    _ if byte == b'-' || byte.is_ascii_digit() => Leaf::Number(word),
                    _ => return None,
                }
            }
        };
        self.nodes.push(Node { name, leaf, parent: parent.unwrap_or(here) });
        Some(open.last() == Some(&here))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_in_order() {
        let text = r#" {"a": [1, {"b": "x\"y"}, []], "c": null, "d": false} "#;
        let leaves = Leaves::parse(text).unwrap();
        let node = |name, leaf, parent| Node { name, leaf, parent };
        let expected = [
            node("", Leaf::Object, 0),
            node("a", Leaf::List(3), 0),
            node("", Leaf::Number("1"), 1),
            node("", Leaf::Object, 1),
            node("b", Leaf::Text(r#"x\"y"#), 3),
            node("", Leaf::List(0), 1),
            node("c", Leaf::Void, 0),
            node("d", Leaf::Flag(false), 0),
        ];
        assert_eq!(leaves.nodes(), expected);
    }

    #[test]
    fn what_is_no_json() {
        for text in ["", "{", "{\"a\"}", "[1 2]", "{a:1}", "[1]]", "\"open", "word", "{} {}"] {
            assert!(Leaves::parse(text).is_none(), "{text}");
        }
    }
}
