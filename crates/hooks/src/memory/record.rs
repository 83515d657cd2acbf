//! Serializes messages with lengths before texts, so that reading is little more than copying.

use counterfoil_model::{Arguments, Gap, Message, MessageKind, Outcome, Role, ToolCall};

const ROLES: [Role; 4] = [Role::System, Role::User, Role::Assistant, Role::Tool];
const KINDS: [MessageKind; 4] =
    [MessageKind::Ordinary, MessageKind::Injected, MessageKind::Summary, MessageKind::Reasoning];
const GAPS: [Gap; 9] = [
    Gap::LossyFormat,
    Gap::CutStart,
    Gap::CutEnd,
    Gap::Compacted,
    Gap::Unreadable,
    Gap::MissingResults,
    Gap::UnrecordedSubagent,
    Gap::UnreadParts,
    Gap::UnknownCalls,
];

/// Writes values one after another.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(u8::try_from(number & 0x7f).unwrap_or(0) | 0x80);
            number >>= 7;
        }
        self.0.push(u8::try_from(number).unwrap_or(0));
    }

    fn size(&mut self, size: usize) {
        self.number(u64::try_from(size).unwrap_or(u64::MAX));
    }

    pub(super) fn text(&mut self, text: &str) {
        self.size(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    /// Writes a number that may be negative or missing: `None` is 0, other values are shifted by
    /// one.
    fn maybe(&mut self, number: Option<i64>) {
        let folded = number.map(|n| (n.cast_unsigned() << 1) ^ (n >> 63).cast_unsigned());
        self.number(folded.map_or(0, |n| n.wrapping_add(1)));
    }

    fn one_of<T: PartialEq>(&mut self, all: &[T], one: &T) {
        self.size(all.iter().position(|known| known == one).unwrap_or(0));
    }

    pub(super) fn gap(&mut self, gap: Gap, at: usize) {
        self.one_of(&GAPS, &gap);
        self.size(at);
    }

    pub(super) fn message(&mut self, message: &Message) {
        self.one_of(&ROLES, &message.role);
        self.one_of(&KINDS, &message.kind);
        self.text(message.agent.as_deref().unwrap_or_default());
        self.maybe(message.time);
        self.size(message.line);
        self.text(&message.text);
        self.size(message.calls.len());
        for call in &message.calls {
            self.text(&call.id);
            self.text(&call.tool);
            self.text(call.arguments.as_str());
            self.size(call.line);
        }
        self.size(message.outcomes.len());
        for outcome in &message.outcomes {
            self.text(&outcome.call_id);
            self.text(&outcome.text);
            let is_error = outcome.is_error.map(|is_error| u8::from(is_error) + 1);
            let flags = [outcome.running, outcome.refused, outcome.truncated, outcome.unread];
            let flags = flags.iter().rev().fold(0, |all, flag| all << 1 | u8::from(*flag));
            self.number(u64::from(is_error.unwrap_or(0) | flags << 2));
            self.maybe(outcome.exit_code.map(i64::from));
            self.maybe(outcome.subagent_calls.and_then(|calls| i64::try_from(calls).ok()));
            self.size(outcome.line);
        }
    }
}

/// Reads values back. `None` if the bytes are not what was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'b>(pub(super) &'b [u8]);

impl<'b> Cursor<'b> {
    pub(super) fn number(&mut self) -> Option<u64> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn bytes(&mut self) -> Option<&'b [u8]> {
        let size = self.size()?;
        let (bytes, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn text(&mut self) -> Option<String> {
        std::str::from_utf8(self.bytes()?).ok().map(str::to_owned)
    }

    fn maybe(&mut self) -> Option<Option<i64>> {
        let folded = self.number()?;
        Some(folded.checked_sub(1).map(|n| (n >> 1).cast_signed() ^ -(n & 1).cast_signed()))
    }

    fn one_of<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.size()?).copied()
    }

    pub(super) fn gap(&mut self) -> Option<(Gap, usize)> {
        Some((self.one_of(&GAPS)?, self.size()?))
    }

    pub(super) fn message(&mut self) -> Option<Message> {
        let mut message = Message {
            kind: MessageKind::Ordinary,
            ..Message::text(self.one_of(&ROLES)?, String::new())
        };
        message.kind = self.one_of(&KINDS)?;
        message.agent = Some(self.text()?).filter(|agent| !agent.is_empty());
        message.time = self.maybe()?;
        message.line = self.size()?;
        message.text = self.text()?;
        let calls = self.size()?;
        // There may be very many messages, and most have one call, so extra capacity would cost
        // memory.
        message.calls.reserve_exact(calls.min(self.0.len()));
        for _ in 0..calls {
            message.calls.push(ToolCall {
                id: self.text()?,
                tool: self.text()?,
                arguments: Arguments::raw(self.text()?),
                line: self.size()?,
            });
        }
        let outcomes = self.size()?;
        message.outcomes.reserve_exact(outcomes.min(self.0.len()));
        for _ in 0..outcomes {
            let (call_id, text) = (self.text()?, self.text()?);
            let bits = self.number()?;
            message.outcomes.push(Outcome {
                call_id,
                text,
                is_error: match bits & 3 {
                    0 => None,
                    mark => Some(mark == 2),
                },
                running: bits & 4 != 0,
                refused: bits & 8 != 0,
                truncated: bits & 16 != 0,
                unread: bits & 32 != 0,
                exit_code: self.maybe()?.and_then(|code| i32::try_from(code).ok()),
                subagent_calls: self.maybe()?.and_then(|calls| u64::try_from(calls).ok()),
                line: self.size()?,
            });
        }
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message() -> impl Strategy<Value = Message> {
        let outcome = (
            "[a-z]{0,4}",
            ".{0,20}",
            any::<Option<bool>>(),
            any::<Option<i32>>(),
            any::<[bool; 4]>(),
            proptest::option::of(0..u64::from(u32::MAX)),
        );
        let outcome = outcome.prop_map(|(call_id, text, is_error, exit_code, flags, calls)| {
            let [running, refused, truncated, unread] = flags;
            Outcome {
                call_id,
                text,
                is_error,
                exit_code,
                running,
                refused,
                unread,
                truncated,
                subagent_calls: calls,
                line: 7,
            }
        });
        let call = ("[a-z]{0,4}", ".{0,9}", ".{0,30}").prop_map(|(id, tool, arguments)| ToolCall {
            id,
            tool,
            arguments: Arguments::raw(arguments),
            line: 3,
        });
        let outer = (0..4_usize, 0..4_usize, ".{0,40}", proptest::option::of("[a-z]{1,5}"));
        let inner = (
            proptest::collection::vec(call, 0..3),
            proptest::collection::vec(outcome, 0..3),
            proptest::option::of(-1_000_000_000_000_i64..4_000_000_000_000),
        );
        (outer, inner).prop_map(|((role, kind, text, agent), (calls, outcomes, time))| Message {
            role: ROLES[role],
            kind: KINDS[kind],
            text,
            calls,
            outcomes,
            agent,
            time,
            line: 123_456,
        })
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(message in message()) {
            let mut bytes = Bytes::default();
            bytes.message(&message);
            let mut cursor = Cursor(&bytes.0);
            prop_assert_eq!(cursor.message(), Some(message));
            prop_assert!(cursor.0.is_empty());
        }

        #[test]
        fn nothing_that_is_read_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Cursor(&bytes).message();
            let _ = Cursor(&bytes).gap();
        }
    }
}
