use counterfoil_shell::Word;

use super::arguments::Arguments;
use super::target::{Add, Change};

/// Adds what `chmod` makes inaccessible to its owner or writable by others. Any other mode only
/// changes the file's metadata.
pub(super) fn shut(arguments: &Arguments<'_>, add: &mut Add<'_>) {
    // `chmod -w x`: the mode looks like an option.
    let letters = ["-w", "-r", "-x"];
    let (mode, files): (&str, &[&Word]) = match arguments.operands.split_first() {
        Some(_) if letters.iter().any(|mode| arguments.has(mode)) => ("-rwx", &arguments.operands),
        Some((mode, files)) => (mode.text.as_str(), files),
        None => return,
    };
    let change = if opens_or_shuts(mode) { Change::Replaces } else { Change::Writes };
    files.iter().for_each(|word| add((*word).clone(), change.clone()));
}

fn opens_or_shuts(mode: &str) -> bool {
    let digits: Vec<u32> = mode.chars().filter_map(|c| c.to_digit(8)).collect();
    if digits.len() == mode.len() && mode.len() >= 3 {
        let mut last = digits.iter().rev();
        let (others, group, owner) = (last.next(), last.next(), last.next());
        let writes = |digit: Option<&u32>| digit.is_some_and(|digit| digit & 2 != 0);
        return owner != Some(&7) || writes(group) || writes(others);
    }
    let adds = |part: &str| {
        part.split_once('+').is_some_and(|(who, what)| {
            let own = !who.contains(['g', 'o', 'a']) && !who.is_empty();
            own || !what.contains('w')
        })
    };
    !mode.split(',').all(adds)
}
