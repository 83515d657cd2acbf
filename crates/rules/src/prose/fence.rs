/// The fence of a code block, as CommonMark reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fence {
    mark: char,
    length: usize,
}

impl Fence {
    /// The fence that a line opens. It may be indented however far, as in a list.
    #[must_use]
    pub fn opened_by(line: &str) -> Option<Self> {
        let line = line.trim();
        let mark = line.chars().next().filter(|c| matches!(c, '`' | '~'))?;
        let info = line.trim_start_matches(mark);
        let length = line.len() - info.len();
        // Backticks with a backtick after them are code within a line.
        let opens = length >= 3 && !(mark == '`' && info.contains('`'));
        opens.then_some(Self { mark, length })
    }

    /// Whether a line closes it: with at least as many of its marks, and nothing else.
    #[must_use]
    pub fn is_closed_by(self, line: &str) -> bool {
        let line = line.trim();
        line.len() >= self.length && line.chars().all(|c| c == self.mark)
    }

    /// The fence after a line.
    #[must_use]
    pub fn after(open: Option<Self>, line: &str) -> Option<Self> {
        match open {
            None => Self::opened_by(line),
            Some(fence) => (!fence.is_closed_by(line)).then_some(fence),
        }
    }

    /// A line that opens such a fence.
    #[must_use]
    pub fn line(self) -> String {
        let marks: String = std::iter::repeat_n(self.mark, self.length).collect();
        format!("{marks}\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fences_are_those_of_commonmark() {
        for (text, open) in [
            ("```", true),
            ("``` rust\nx\n", true),
            ("```\nx\n```", false),
            ("~~~\nx\n```", true),
            ("````\nx\n```", true),
            ("````\nx\n```\n`````", false),
            ("  ```\nx\n```", false),
            ("``` ok ```", false),
            ("~~~ a`b", true),
            ("``", false),
            ("```\nx\n``` y", true),
        ] {
            assert_eq!(text.lines().fold(None, Fence::after).is_some(), open, "{text}");
        }
    }
}
