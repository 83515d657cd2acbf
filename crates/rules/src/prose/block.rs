use counterfoil_model::Span;

/// A block of a message's layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Block {
    /// Its kind.
    pub(crate) kind: BlockKind,
    /// Its content, without markers.
    pub(crate) span: Span,
}

/// The kind of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockKind {
    /// Running text.
    Paragraph,
    /// `# …`, or a line that is entirely bold.
    Heading,
    /// A list item; `ticked` for check boxes and check marks.
    Item {
        /// `Some(true)` for `[x]` and ✅, `Some(false)` for `[ ]` and ❌.
        ticked: Option<bool>,
    },
    /// A cell of a table; cells of the same row share `row`.
    Cell {
        /// The row's number within the message.
        row: usize,
        /// The column, from 0.
        column: usize,
    },
    /// `> …`
    Quote,
    /// A fenced block.
    Code,
    /// Lines of tags.
    Markup,
    /// A string value in a message that is JSON or a printed Python dictionary.
    Field,
    /// The name of a member that is `true` in such a message.
    Flag,
}

impl BlockKind {
    /// Whether the block holds sentences of the agent's own.
    pub(crate) fn is_prose(self) -> bool {
        !matches!(self, Self::Code | Self::Markup)
    }

    /// Whether the block is part of a list or a table, where bare participles often describe things
    /// rather than report actions.
    pub(crate) fn is_listed(self) -> bool {
        matches!(self, Self::Item { .. } | Self::Cell { .. })
    }
}
