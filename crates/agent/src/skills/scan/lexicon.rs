//! What the scan knows of English: sets of words and patterns of them, from `lexicon.txt`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use super::super::warning::WarningKind;

/// The words and patterns.
pub(super) struct Lexicon {
    sets: BTreeMap<&'static str, Vec<Vec<&'static str>>>,
    pub(super) rules: Vec<Rule>,
    /// The first words of patterns, and which those are.
    beginnings: BTreeMap<&'static str, Vec<usize>>,
}

/// One pattern.
pub(super) struct Rule {
    pub(super) kind: WarningKind,
    pub(super) flags: Flags,
    pub(super) steps: Vec<Step>,
    /// The line of the file that has it.
    pub(super) line: usize,
}

/// Where a pattern counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Flags {
    pub(super) order: bool,
    pub(super) affirmed: bool,
    pub(super) ordered: bool,
    pub(super) unless: bool,
}

/// One step of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A word or phrase of a set.
    Set(&'static str),
    /// This word.
    Word(&'static str),
    /// Any number of words of a set.
    Filler(&'static str),
    /// Up to so many words of any kind.
    Gap(usize),
    /// The end of the clause.
    End,
}

/// The words and patterns of the scan.
pub(super) static LEXICON: LazyLock<Lexicon> =
    LazyLock::new(|| Lexicon::read(include_str!("lexicon.txt")));

impl Lexicon {
    fn read(text: &'static str) -> Self {
        let mut lexicon =
            Self { sets: BTreeMap::new(), rules: Vec::new(), beginnings: BTreeMap::new() };
        for (at, line) in text.lines().enumerate() {
            let Some((head, rest)) = line.split_once(": ") else { continue };
            let mut head = head.split_whitespace();
            match (head.next(), head.next(), head.next()) {
                (Some("set"), Some(name), None) => {
                    let phrases = rest.split_whitespace().map(|p| p.split('_').collect());
                    lexicon.sets.insert(name, phrases.collect());
                }
                (Some("rule"), Some(kind), Some(flags)) => {
                    let Some(kind) = kind_of(kind) else { continue };
                    let (flags, steps) = (Flags::read(flags), rest.split_whitespace());
                    let steps = steps.map(Step::read).collect();
                    lexicon.rules.push(Rule { kind, flags, steps, line: at + 1 });
                }
                _ => {}
            }
        }
        for (at, rule) in lexicon.rules.iter().enumerate() {
            let words: Vec<&'static str> = match rule.steps.first() {
                Some(Step::Word(word)) => vec![word],
                Some(Step::Set(set)) => {
                    lexicon.set(set).iter().filter_map(|phrase| phrase.first().copied()).collect()
                }
                Some(Step::Filler(_) | Step::Gap(_) | Step::End) | None => Vec::new(),
            };
            for word in words {
                let rules = lexicon.beginnings.entry(word).or_default();
                if rules.last() != Some(&at) {
                    rules.push(at);
                }
            }
        }
        lexicon
    }

    /// The patterns that can begin with a word.
    pub(super) fn beginning_with(&self, word: &str) -> impl Iterator<Item = &Rule> {
        let rules = self.beginnings.get(word).map_or(&[][..], Vec::as_slice);
        rules.iter().filter_map(|at| self.rules.get(*at))
    }

    /// The phrases of a set.
    pub(super) fn set(&self, name: &str) -> &[Vec<&'static str>] {
        self.sets.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether a word is in a set.
    pub(super) fn has(&self, name: &str, word: &str) -> bool {
        self.set(name).iter().any(|phrase| phrase.as_slice() == [word])
    }
}

impl Flags {
    fn read(text: &str) -> Self {
        let has = |flag: &str| text.split('+').any(|one| one == flag);
        Self {
            order: has("order"),
            affirmed: has("affirmed"),
            ordered: has("ordered"),
            unless: has("unless"),
        }
    }
}

impl Step {
    fn read(text: &'static str) -> Self {
        if let Some(set) = text.strip_prefix('@') {
            Self::Set(set)
        } else if let Some(set) = text.strip_prefix('~') {
            Self::Filler(set)
        } else if let Some(most) = text.strip_prefix('*') {
            Self::Gap(most.parse().unwrap_or_default())
        } else if text == "$" {
            Self::End
        } else {
            Self::Word(text)
        }
    }
}

fn kind_of(name: &str) -> Option<WarningKind> {
    match name {
        "OrdersIgnored" => Some(WarningKind::OrdersIgnored),
        "HiddenFromUser" => Some(WarningKind::HiddenFromUser),
        "ChecksDisabled" => Some(WarningKind::ChecksDisabled),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_read() {
        let text = include_str!("lexicon.txt");
        let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
        assert_eq!(LEXICON.sets.len(), count("set "));
        assert_eq!(LEXICON.rules.len(), count("rule "));
        for rule in &LEXICON.rules {
            assert!(matches!(rule.steps[0], Step::Set(_) | Step::Word(_)), "line {}", rule.line);
            for step in &rule.steps {
                match step {
                    Step::Set(set) | Step::Filler(set) => {
                        assert!(!LEXICON.set(set).is_empty(), "{set}");
                    }
                    Step::Gap(most) => assert!(*most > 0, "line {}", rule.line),
                    Step::Word(_) | Step::End => {}
                }
            }
        }
    }
}
