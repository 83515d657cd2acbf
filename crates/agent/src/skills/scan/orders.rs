//! Orders that a skill has no business to give: the rules of `lexicon.txt`, and where they count.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::super::error::visible;
use super::super::warning::WarningKind;
use super::sentences::{Sentence, Word, sentences};

/// What the scan knows of English.
struct Lexicon {
    /// Words, and phrases with blanks, the longest first.
    sets: BTreeMap<&'static str, Vec<String>>,
    rules: Vec<Rule>,
}

/// One pattern of words within a clause.
struct Rule {
    kind: WarningKind,
    /// Where it counts: `lexicon.txt` says what each flag means.
    flags: BTreeSet<&'static str>,
    pattern: Regex,
    /// The line of the file that has it.
    line: usize,
}

static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| Lexicon::read(include_str!("lexicon.txt")));

/// An order that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) kind: WarningKind,
    pub(super) line: usize,
    /// Its words, safe to print.
    pub(super) quote: String,
    /// The line of the lexicon whose rule found it.
    rule: usize,
}

impl Lexicon {
    fn read(text: &'static str) -> Self {
        let mut lexicon = Self { sets: BTreeMap::new(), rules: Vec::new() };
        for (line, text) in (1..).zip(text.lines()) {
            let Some((head, rest)) = text.split_once(": ") else { continue };
            let head: Vec<&str> = head.split(' ').collect();
            match head.as_slice() {
                ["set", name] => {
                    let mut set: Vec<String> =
                        rest.split(' ').map(|phrase| phrase.replace('_', " ")).collect();
                    set.sort_by_key(|phrase| std::cmp::Reverse(phrase.matches(' ').count()));
                    lexicon.sets.insert(name, set);
                }
                ["rule", kind, flags] => {
                    let kind = match *kind {
                        "OrdersIgnored" => WarningKind::OrdersIgnored,
                        "HiddenFromUser" => WarningKind::HiddenFromUser,
                        _ => WarningKind::ChecksDisabled,
                    };
                    let steps: String = rest.split(' ').map(|step| lexicon.pattern(step)).collect();
                    let flags = flags.split('+').collect();
                    if let Ok(pattern) = Regex::new(&format!(" {steps}")) {
                        lexicon.rules.push(Rule { kind, flags, pattern, line });
                    }
                }
                _ => {}
            }
        }
        lexicon
    }

    /// One step of a rule. In the text, a blank follows every word, and a comma begins a clause.
    fn pattern(&self, step: &str) -> String {
        let any_of = |set: &str| {
            let set = self.sets.get(set).map_or(&[][..], Vec::as_slice);
            let phrases = set.iter().map(|phrase| format!("{} ", regex::escape(phrase)));
            format!("(?:{})", phrases.collect::<Vec<_>>().join("|"))
        };
        match step.split_at_checked(1) {
            Some(("@", set)) => any_of(set),
            Some(("~", set)) => format!("{}{{0,6}}", any_of(set)),
            Some(("*", most)) => format!("(?:[^ ,]+ ){{0,{most}}}?"),
            Some(("$", "")) => "(?:, |$)".to_owned(),
            _ => format!("{} ", regex::escape(step)),
        }
    }
}

/// Whether a word is in a set.
pub(super) fn is_in(set: &str, word: &str) -> bool {
    LEXICON.sets.get(set).is_some_and(|set| set.iter().any(|known| known == word))
}

/// The orders of a sentence, at most one of a kind.
pub(super) fn orders(sentence: &Sentence) -> Vec<Hit> {
    let (mut text, mut starts) = (" ".to_owned(), Vec::new());
    for (at, word) in sentence.words.iter().enumerate() {
        if word.begins_clause && at > 0 {
            text.push_str(", ");
        }
        starts.push(text.len());
        text.push_str(&word.text);
        text.push(' ');
    }
    let mut found: Vec<(usize, usize, &Rule)> = Vec::new();
    for rule in &LEXICON.rules {
        let mut from = 0;
        while let Some(place) = rule.pattern.find_at(&text, from) {
            let start = starts.partition_point(|word| *word <= place.start());
            let end = starts.partition_point(|word| *word < place.end());
            if counts(sentence, start, end, rule) {
                found.push((start, end, rule));
                break;
            }
            from = place.start() + 1;
        }
    }
    found.sort_by_key(|(start, _, rule)| (*start, rule.line));
    let mut kinds = BTreeSet::new();
    found.retain(|(_, _, rule)| kinds.insert(rule.kind));
    let hit = |(start, end, rule): (usize, usize, &Rule)| {
        let words = sentence.words.get(start..end).unwrap_or_default();
        let quote = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        let line = words.first().map_or(0, |word| word.line);
        Hit { kind: rule.kind, line, quote: visible(&quote), rule: rule.line }
    };
    found.into_iter().map(hit).collect()
}

/// Whether a text that is not displayed tells an agent what to do.
pub(super) fn gives_orders(text: &str) -> bool {
    let sentences = sentences(text.lines().map(|line| (0, line)));
    let first = sentences.first().and_then(|sentence| sentence.words.first());
    let is_for_people = first.is_some_and(|word| is_in("maintainer", &word.text));
    let orders = |words: &[Word]| {
        let is_order = |at| has(words, at, "deed") && begins_order(words, at);
        words.len() > 1 && (0..words.len()).any(is_order)
    };
    sentences.iter().any(|Sentence { words, .. }| {
        (0..words.len()).any(|at| has(words, at, "address")) || !is_for_people && orders(words)
    })
}

/// Whether a set has a word or phrase at a place.
fn has(words: &[Word], at: usize, set: &str) -> bool {
    let phrases = LEXICON.sets.get(set).map_or(&[][..], Vec::as_slice);
    phrases.iter().any(|phrase| {
        let mut words = words.iter().skip(at);
        phrase.split(' ').all(|part| words.next().is_some_and(|word| word.text == part))
    })
}

/// Whether a place that has the words of a rule means it.
fn counts(sentence: &Sentence, start: usize, end: usize, rule: &Rule) -> bool {
    let words = &sentence.words;
    let flag = |flag: &str| rule.flags.contains(flag);
    let is_order = begins_order(words, start);
    if (flag("order") && !is_order)
        || ((flag("order") || flag("affirmed")) && is_negated(words, start))
        || (rule.kind == WarningKind::ChecksDisabled && explains(words, start))
    {
        return false;
    }
    let follows = |at| begins_order(words, at) && has(words, at, "deed");
    let mut after = words.iter().skip(end);
    let excepted = after.any(|word| matches!(word.text.as_str(), "until" | "unless"));
    if (flag("ordered") && !(0..start).any(follows)) || (flag("unless") && excepted) {
        return false;
    }
    !is_mention(sentence, start, end) && !is_condition(words, start, end)
}

/// Whether an order can begin here: at the beginning of a clause, or after `please`, `you must`,
/// `and`, `I want you to`.
fn begins_order(words: &[Word], at: usize) -> bool {
    if words.get(at).is_none_or(|word| word.begins_clause) {
        return at < words.len();
    }
    let before = |count: usize| at.checked_sub(count).and_then(|at| words.get(at));
    let Some(last) = before(1) else { return true };
    let wants = |count| before(count).is_some_and(|word| is_in("wants", &word.text));
    is_in("leads", &last.text)
        || last.text == "to" && (wants(2) || wants(3))
        || last.text.ends_with("ly")
}

/// Whether all that comes before is an option or code, so that the rest says what that does.
fn explains(words: &[Word], at: usize) -> bool {
    let is_code = |word: &Word| word.is_quoted || word.text.starts_with('-');
    let begins = words.get(at).is_some_and(|word| word.is_quoted);
    at > 0 && !begins && words.iter().take(at).all(is_code)
}

/// Whether the clause says no before this word. `never, …` reaches over its comma.
fn is_negated(words: &[Word], at: usize) -> bool {
    let (before, rest) = words.split_at_checked(at).unwrap_or((words, &[]));
    let mut next = rest.first();
    for word in before.iter().rev() {
        let crosses = next.is_some_and(|next| next.begins_clause);
        if crosses && word.text != "never" {
            // The clause ends here, but `never, ever, …` may begin the sentence.
            let first = before.first().is_some_and(|first| first.text == "never");
            return first && before.get(1).is_some_and(|second| second.begins_clause);
        }
        if is_in("no", &word.text) {
            return true;
        }
        next = Some(word);
    }
    false
}

/// Whether it is quoted in talk about such texts.
fn is_mention(sentence: &Sentence, start: usize, end: usize) -> bool {
    let words = &sentence.words;
    let inside = words.get(start..end).unwrap_or_default();
    let is_quoted = !inside.is_empty() && inside.iter().all(|word| word.is_quoted);
    is_quoted && (sentence.is_example || (0..start).any(|at| has(words, at, "mention")))
}

/// Whether it is what others may ask for, and is then to be refused.
fn is_condition(words: &[Word], start: usize, end: usize) -> bool {
    let clause = words.iter().take(start + 1).rposition(|word| word.begins_clause).unwrap_or(0);
    let (before, after) = (words.iter().take(start).skip(clause), words.iter().skip(end));
    before.into_iter().any(|word| is_in("condition", &word.text))
        && after.into_iter().any(|word| is_in("defence", &word.text))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page `spec/agent/skills.md`, on which every text of the block `orders` is found.
    #[test]
    fn every_rule_has_a_case() {
        let page = include_str!("../../../../../spec/agent/skills.md");
        let (_, rest) = page.split_once("```orders\n").unwrap();
        let (cases, _) = rest.split_once("```").unwrap();
        let texts = cases.lines().filter_map(|line| line.split(" → ").next());
        let sentences = texts.flat_map(|text| sentences([(1, text)]));
        let used: BTreeSet<usize> =
            sentences.flat_map(|sentence| orders(&sentence)).map(|hit| hit.rule).collect();
        let idle = LEXICON.rules.iter().map(|rule| rule.line).filter(|line| !used.contains(line));
        assert_eq!(idle.collect::<Vec<_>>(), [0; 0], "lines of the lexicon without a case");
        let written = include_str!("lexicon.txt").lines().filter(|line| line.starts_with("rule "));
        assert_eq!(LEXICON.rules.len(), written.count());
    }
}
