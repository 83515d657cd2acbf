//! Amounts that are said under the name of a member of the results.

use super::figure::Figure;
use super::given::Given;
use super::leaves::Leaf;
use super::sheet::Column;

/// So many times one amount may be another.
const TIMES: std::ops::RangeInclusive<i64> = 2..=12;
/// Where results hold more amounts, almost everything would follow from them.
const MOST: usize = 64;
/// A name of one word has to be this long to say what an amount is.
const TELLING: usize = 6;

/// The member that the words before an amount name, with its latest value, where the results hold
/// only others under that name, and the amount is no number of theirs and follows from no two.
pub(crate) fn mislabelled(
    given: &Given<'_>,
    turn: usize,
    bytes: usize,
    words: &[&str],
    figure: Figure,
) -> Option<(String, Figure)> {
    let sheets = given.sheets(turn, bytes);
    let columns = || sheets.iter().flat_map(|sheet| sheet.columns());
    let numbers = |column: &Column<'_>| -> Vec<Figure> {
        let number = |leaf: &Leaf<'_>| match leaf {
            Leaf::Number(text) => Figure::parse(text),
            Leaf::Text(text) if text.len() <= 16 => Figure::parse(text),
            _ => None,
        };
        column.cells.iter().filter_map(|(_, leaf)| number(leaf)).collect()
    };
    let (mut named, mut amounts) = (None, Vec::new());
    for column in columns() {
        let own = numbers(column);
        // Some services count cents.
        if own.iter().any(|f| *f == figure || Some(f.0) == figure.0.checked_mul(100)) {
            return None;
        }
        if column.is_amount() {
            if is_named(&column.words, words) && !own.is_empty() {
                named = named.or_else(|| Some((column.name.to_owned(), *own.first()?)));
            }
            amounts.extend(own.iter().map(|f| f.0.abs()));
        }
    }
    let named = named?;
    let wanted = figure.0.abs();
    let follows = amounts.iter().enumerate().any(|(at, a)| {
        TIMES.into_iter().any(|n| a.checked_mul(n) == Some(wanted) || wanted * n == *a)
            || amounts.iter().skip(at + 1).any(|b| a + b == wanted || (a - b).abs() == wanted)
    });
    (amounts.len() <= MOST && !follows).then_some(named)
}

/// Whether the words say all that the name of a member says.
fn is_named(name: &[String], words: &[&str]) -> bool {
    const VAGUE: [&str; 12] = [
        "per", "month", "year", "day", "night", "in", "of", "eur", "usd", "gbp", "total", "amount",
    ];
    let stem = |word: &'_ str| -> String {
        let word = word.trim_end_matches('s').to_ascii_lowercase();
        word.chars().take(6).collect()
    };
    let telling: Vec<String> =
        name.iter().filter(|word| !VAGUE.contains(&word.as_str())).map(|word| stem(word)).collect();
    let said: Vec<String> = words.iter().map(|word| stem(word)).collect();
    match telling.as_slice() {
        [] => false,
        [one] => name.len() == 1 && one.len() >= TELLING && said.last() == Some(one),
        more => more.iter().all(|word| said.contains(word)),
    }
}
