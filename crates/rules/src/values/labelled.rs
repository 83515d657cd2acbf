//! Amounts that are said under the name of a member of the results.

use std::collections::HashSet;

use super::figure::Figure;
use super::given::Given;
use super::leaves::Leaf;

/// So many bytes of results before a message are read.
const REACH: usize = 32 * 1024;
/// So many times one amount may be another.
const TIMES: std::ops::RangeInclusive<i64> = 2..=12;
/// Where results hold more amounts, almost everything would follow from them.
const MOST: usize = 64;
/// A name of one word has to be this long to say what an amount is.
const TELLING: usize = 6;

/// The amounts of the results near an answer by the names of their members.
#[derive(Debug, Default)]
pub(crate) struct Labels {
    /// The words of each name, cut to their beginnings, with its latest value.
    names: Vec<Name>,
    /// Every number of the results, in hundredths.
    numbers: HashSet<i64>,
    amounts: Vec<i64>,
}

#[derive(Debug)]
struct Name {
    name: String,
    stems: Vec<String>,
    latest: Figure,
}

impl Labels {
    pub(super) fn of(given: &Given<'_>, turn: usize) -> Self {
        let mut all = Self::default();
        for column in given.sheets(turn, REACH).iter().flat_map(|sheet| sheet.columns()) {
            let number = |leaf: &Leaf<'_>| match leaf {
                Leaf::Number(text) => Figure::parse(text),
                Leaf::Text(text) if text.len() <= 16 => {
                    Figure::parse(text).or_else(|| Figure::of_money(text))
                }
                _ => None,
            };
            let own = || column.cells.iter().filter_map(|(_, leaf)| number(leaf));
            all.numbers.extend(own().map(|figure| figure.0));
            if !column.is_amount() {
                continue;
            }
            all.amounts.extend(own().map(|figure| figure.0.abs()));
            if all.names.iter().any(|known| known.name == column.name) {
                continue;
            }
            if let (Some(stems), Some(latest)) = (stems_of(&column.words), own().next()) {
                all.names.push(Name { name: column.name.to_owned(), stems, latest });
            }
        }
        all
    }

    /// The member that the words before an amount name, with its latest value, where the results
    /// hold only others under that name, and the amount is no number of theirs and follows from no
    /// two.
    pub(crate) fn otherwise(&self, words: &[&str], figure: Figure) -> Option<(&str, Figure)> {
        // Some services count cents.
        let given = |value: i64| self.numbers.contains(&value);
        if words.is_empty() || given(figure.0) || figure.0.checked_mul(100).is_some_and(given) {
            return None;
        }
        let said: Vec<String> = words.iter().map(|word| stem(word)).collect();
        let named = |name: &&Name| match name.stems.as_slice() {
            [one] => said.last() == Some(one),
            more => more.iter().all(|word| said.contains(word)),
        };
        let name = self.names.iter().find(named)?;
        let wanted = figure.0.abs();
        let follows = || {
            self.amounts.iter().enumerate().any(|(at, a)| {
                TIMES.into_iter().any(|n| a.checked_mul(n) == Some(wanted) || wanted * n == *a)
                    || self
                        .amounts
                        .iter()
                        .skip(at + 1)
                        .any(|b| a + b == wanted || (a - b).abs() == wanted)
            })
        };
        (self.amounts.len() <= MOST && !follows()).then_some((name.name.as_str(), name.latest))
    }
}

/// What the words of a name say, cut to their beginnings; `None` where they do not say what an
/// amount is.
fn stems_of(name: &[String]) -> Option<Vec<String>> {
    const VAGUE: [&str; 12] = [
        "per", "month", "year", "day", "night", "in", "of", "eur", "usd", "gbp", "total", "amount",
    ];
    let telling = name.iter().filter(|word| !VAGUE.contains(&word.as_str()));
    let stems: Vec<String> = telling.map(|word| stem(word)).collect();
    match stems.as_slice() {
        [] => None,
        [one] if name.len() > 1 || one.len() < TELLING => None,
        _ => Some(stems),
    }
}

fn stem(word: &str) -> String {
    let word = word.trim_end_matches('s').to_ascii_lowercase();
    word.chars().take(TELLING).collect()
}
