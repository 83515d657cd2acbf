//! A message that cannot be parsed as a whole may still show which request it answers. That request
//! is answered with an error, so that it does not wait forever and its receipt is closed.

use super::message::{self, code, id_of};

/// Maximum length of a name or an id.
const LONGEST: usize = 512;

/// The top level of a message, scanned byte by byte.
#[derive(Debug, Default)]
pub(crate) struct TopLevel {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The top-level text since the last `{`, `,` or `:`.
    token: Vec<u8>,
    name: Option<Vec<u8>>,
    id: Option<Vec<u8>>,
    /// Whether there are several ids, of which readers might choose different ones.
    ids_differ: bool,
    has_method: bool,
}

impl TopLevel {
    pub(crate) fn parse(message: &[u8]) -> Self {
        let mut found = Self::default();
        found.read(message);
        found
    }

    /// Continues with the next bytes.
    pub(crate) fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
        }
    }

    fn byte(&mut self, byte: u8) {
        let top = self.depth == 1;
        if self.in_text {
            self.keep(byte, top);
            let ends = byte == b'"' && !self.escaped;
            self.escaped = byte == b'\\' && !self.escaped;
            self.in_text = !ends;
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                self.keep(byte, top);
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                if top {
                    self.member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b':' if top => self.name = Some(std::mem::take(&mut self.token)),
            b',' if top => self.member(),
            byte => self.keep(byte, top && !byte.is_ascii_whitespace()),
        }
    }

    fn keep(&mut self, byte: u8, wanted: bool) {
        // Keep one byte over the limit: such a token cannot match anything.
        if wanted && self.token.len() <= LONGEST {
            self.token.push(byte);
        }
    }

    fn member(&mut self) {
        let value = std::mem::take(&mut self.token);
        let name = self.name.take().and_then(|name| serde_json::from_slice::<String>(&name).ok());
        match name.as_deref() {
            Some("id") => self.ids_differ |= self.id.replace(value).is_some(),
            Some("method") => self.has_method = true,
            _ => {}
        }
    }

    /// The id as canonical text.
    fn id(&self) -> Option<String> {
        let id = self.id.as_ref().filter(|id| !self.ids_differ && id.len() <= LONGEST)?;
        id_of(std::str::from_utf8(id).ok()?)
    }

    /// The error in place of an unreadable answer; `None` if it answers no request.
    pub(crate) fn in_place_of_answer(&self, why: &str) -> Option<String> {
        let id = self.id().filter(|_| !self.has_method)?;
        let what = format!(
            "the MCP server's answer cannot be read, so it is unknown what the server did: {why}"
        );
        Some(message::error(Some(&id), code::INTERNAL_ERROR, &what))
    }

    /// The error for a client whose message is unreadable.
    pub(crate) fn refusal(&self, why: &str) -> String {
        let id = self.id().filter(|_| self.has_method);
        message::error(id.as_deref(), code::PARSE_ERROR, why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_is_found_wherever_it_occurs() {
        for (message, id, has_method) in [
            (&br#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"text":"}"#[..], Some("7"), false),
            (br#"{"result":{"id":[1,{"id":2}],"t":"\"},"},"id":"a"}"#, Some("\"a\""), false),
            (br#"{"id" : "\u0061" ,"result":"#, Some("\"a\""), false),
            (b"{\"id\":5,\"result\":{\"text\":\"\xff\"}}", Some("5"), false),
            (br#"{"id":5,"id":6,"result":{}}"#, None, false),
            (br#"{"id":5.0,"result":{}}"#, None, false),
            (br#"{"id":{"id":5},"result":{}}"#, None, false),
            (br#"[{"id":5,"result":{}}]"#, None, false),
            (br#"{"id":5,"method":"x"}"#, Some("5"), true),
            (br#"{"id":5"#, None, false),
            (b"\"id\":5,", None, false),
        ] {
            let found = TopLevel::parse(message);
            assert_eq!((found.id().as_deref(), found.has_method), (id, has_method), "{message:?}");
        }
    }
}
