//! Characters that are not seen, and letters that look like others.

use counterfoil_report::is_unseen;

use super::super::error::visible;

/// What is wrong with the characters of a line.
pub(super) fn unseen(line: &str) -> Option<String> {
    let chars: Vec<char> = line.chars().collect();
    let has_right_to_left = chars.iter().any(|c| is_right_to_left(*c));
    let is_odd = |at: usize, c: char| is_unseen(c) && !is_needed(&chars, at, has_right_to_left);
    let found: Vec<char> =
        (0..).zip(&chars).filter(|(at, c)| is_odd(*at, **c)).map(|(_, c)| *c).collect();
    // Bytes can be hidden in a row of selectors; one of them chooses how a character looks.
    let is_selector = |c: &char| matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}');
    let row = chars.windows(2).any(|pair| pair.iter().all(is_selector));
    if let Some(first) = found.first() {
        let (count, code) = (found.len(), u32::from(*first));
        let those = if count == 1 { "character" } else { "characters" };
        let tags = found.iter().filter_map(|c| tag(*c)).collect::<String>();
        let spelled = match tags.as_str() {
            "" => String::new(),
            tags => format!(", spelling \"{}\"", visible(tags)),
        };
        return Some(format!("{count} invisible {those}, first U+{code:04X}{spelled}"));
    }
    if row {
        return Some("a run of variation selectors, which can hide data".to_owned());
    }
    let mixed = line.split(|c: char| !c.is_alphabetic()).find(|word| is_mixed(word))?;
    Some(format!("the word `{mixed}` mixes Latin letters with look-alike Cyrillic letters"))
}

/// Whether an unseen character does what it is for: it joins letters or pictures.
fn is_needed(chars: &[char], at: usize, has_right_to_left: bool) -> bool {
    let beside = |at: Option<usize>| at.and_then(|at| chars.get(at)).copied();
    let (before, after) = (beside(at.checked_sub(1)), beside(at.checked_add(1)));
    let joins = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && !is_unseen(c) && !is_latin(c));
    match chars.get(at) {
        Some('\u{200c}' | '\u{200d}') => joins(before) && joins(after),
        Some('\u{200e}' | '\u{200f}' | '\u{61c}') => has_right_to_left,
        Some('\u{ad}') => false,
        // The letters of a flag follow a black flag.
        Some('\u{e0020}'..='\u{e007f}') => {
            let mut flag = chars.iter().take(at).rev().skip_while(|c| tag(**c).is_some());
            flag.next() == Some(&'\u{1f3f4}')
        }
        _ => false,
    }
}

/// The letter that a tag character means.
fn tag(c: char) -> Option<char> {
    let code = u32::from(c).checked_sub(0xe0000)?;
    char::from_u32(code).filter(|c| (' '..='\u{7e}').contains(c))
}

fn is_latin(c: char) -> bool {
    c.is_ascii_alphabetic() || ('\u{c0}'..='\u{24f}').contains(&c)
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
        && c != '\u{61c}'
}

/// Whether a word has Latin and Cyrillic letters.
fn is_mixed(word: &str) -> bool {
    let is_cyrillic = |c: char| ('\u{400}'..='\u{52f}').contains(&c);
    word.chars().any(is_latin) && word.chars().any(is_cyrillic)
}
