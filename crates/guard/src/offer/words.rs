//! Which tools a request is about, by the words that both have.

use std::collections::{HashMap, HashSet};

use counterfoil_model::Tool;
use serde_json::Value;

/// Words that say nothing about what is wanted.
const STOP: &str = "a an the of to in for and or is are be with on at by from as that this it i me \
                    my you your can could would please what which how do does want need like get \
                    give given some using use";

/// Endings that a word has beside its stem, the longest first.
const ENDINGS: [&str; 15] = [
    "ization", "ations", "ation", "ingly", "ings", "edly", "ing", "ies", "ied", "ers", "ed", "es",
    "er", "ly", "s",
];

/// How long the pieces of words are, in characters: they find what endings and compounds hide.
const PIECE: usize = 4;

/// What a piece is worth beside a word.
const PIECES_WEIGH: f64 = 0.3;

/// What a word of the name is worth beside one of the description.
const NAME: f64 = 2.0;

/// What a word of a parameter is worth beside one of the description.
const PARAMETER: f64 = 0.5;

/// Tools as bags of words, ranked by Okapi BM25.
#[derive(Debug, Default)]
pub(super) struct Index {
    words: Bags,
    pieces: Bags,
}

/// Terms, with how often they stand somewhere.
type Bag = HashMap<String, f64>;

#[derive(Debug, Default)]
struct Bags {
    bags: Vec<Bag>,
    /// In how many of them each term stands.
    in_bags: Bag,
    /// How long they are.
    average: f64,
}

impl Index {
    pub(super) fn of<'t>(tools: impl IntoIterator<Item = &'t Tool>) -> Self {
        let words: Vec<Bag> = tools.into_iter().map(words_of).collect();
        let pieces = words.iter().map(|bag| {
            let mut pieces = Bag::new();
            for (word, count) in bag {
                pieces_of(word).for_each(|piece| *pieces.entry(piece).or_default() += count);
            }
            pieces
        });
        Self { pieces: Bags::of(pieces.collect()), words: Bags::of(words) }
    }

    /// What each tool is worth for this request, from 0 to 1, in the order of the tools.
    pub(super) fn scores(&self, query: &str) -> Vec<f64> {
        let words: HashSet<String> = words(query).collect();
        let pieces: HashSet<String> = words.iter().flat_map(|word| pieces_of(word)).collect();
        let by_pieces = self.pieces.scores(&pieces).into_iter();
        let scores = self.words.scores(&words).into_iter().zip(by_pieces);
        let scores: Vec<f64> =
            scores.map(|(words, pieces)| words + PIECES_WEIGH * pieces).collect();
        let best = scores.iter().copied().fold(0.0, f64::max);
        scores.into_iter().map(|score| if best > 0.0 { score / best } else { 0.0 }).collect()
    }
}

impl Bags {
    fn of(bags: Vec<Bag>) -> Self {
        let mut in_bags = Bag::new();
        for term in bags.iter().flat_map(HashMap::keys) {
            *in_bags.entry(term.clone()).or_default() += 1.0;
        }
        let (mut total, mut count) = (0.0, 0.0);
        for bag in &bags {
            total += bag.values().sum::<f64>();
            count += 1.0;
        }
        Self { bags, in_bags, average: total / f64::max(count, 1.0) }
    }

    fn scores(&self, query: &HashSet<String>) -> Vec<f64> {
        const SATURATION: f64 = 1.2;
        const LENGTH: f64 = 0.6;
        let all = self.bags.iter().fold(0.0, |count, _| count + 1.0);
        let score = |bag: &Bag| {
            let long = bag.values().sum::<f64>() / f64::max(self.average, f64::MIN_POSITIVE);
            let worth = |term: &String| {
                let often = bag.get(term)?;
                let with = self.in_bags.get(term).copied().unwrap_or_default();
                let rare = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
                let damped = often + SATURATION * (1.0 - LENGTH + LENGTH * long);
                Some(rare * often * (SATURATION + 1.0) / damped)
            };
            query.iter().filter_map(worth).sum()
        };
        self.bags.iter().map(score).collect()
    }
}

/// What a tool says of itself to whoever looks for one.
pub(super) fn text_of(tool: &Tool) -> String {
    let mut text = format!("{}: {}", tool.name, tool.description);
    for (name, schema) in parameters(tool) {
        let about = schema.get("description").and_then(Value::as_str).unwrap_or_default();
        text.push_str(&format!("\n{name}: {about}"));
    }
    text
}

fn words_of(tool: &Tool) -> Bag {
    let mut bag = Bag::new();
    let mut add = |text: &str, weight: f64| {
        words(text).for_each(|word| *bag.entry(word).or_default() += weight);
    };
    add(&tool.name, NAME);
    add(&tool.description, 1.0);
    for (name, schema) in parameters(tool) {
        add(name, PARAMETER);
        add(schema.get("description").and_then(Value::as_str).unwrap_or_default(), PARAMETER);
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
        values.filter_map(Value::as_str).for_each(|value| add(value, PARAMETER));
    }
    bag
}

fn parameters(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    let schema = tool.parameters.as_ref().and_then(|schema| schema.get("properties"));
    schema.and_then(Value::as_object).into_iter().flatten()
}

/// What words of one family begin with, in lower case; `camelCase` is two.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut apart = String::with_capacity(text.len());
    let mut small = false;
    for c in text.chars() {
        if small && c.is_uppercase() {
            apart.push(' ');
        }
        small = c.is_lowercase() || c.is_numeric();
        apart.extend(c.to_lowercase());
    }
    let stems = apart.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let stems = stems.filter(|word| STOP.split(' ').all(|stop| stop != *word));
    stems.map(stem).collect::<Vec<_>>().into_iter()
}

fn stem(word: &str) -> String {
    for ending in ENDINGS {
        let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.chars().count() >= 3) else {
            continue;
        };
        let back = if matches!(ending, "ies" | "ied") { "y" } else { "" };
        return format!("{stem}{back}");
    }
    word.to_owned()
}

fn pieces_of(word: &str) -> impl Iterator<Item = String> {
    let whole: Vec<char> = format!("^{word}$").chars().collect();
    let pieces: Vec<String> = whole.windows(PIECE).map(|piece| piece.iter().collect()).collect();
    let short = pieces.is_empty().then(|| whole.iter().collect());
    pieces.into_iter().chain(short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_taken_apart_and_lose_their_endings() {
        let found: Vec<String> = words("getOrderStatus: Searches the cities of an order").collect();
        assert_eq!(found, ["ord", "statu", "search", "city", "ord"]);
        assert_eq!(pieces_of("city").collect::<Vec<_>>(), ["^cit", "city", "ity$"]);
        assert_eq!(pieces_of("a").collect::<Vec<_>>(), ["^a$"]);
    }
}
