//! Words that the shell works out, although the script says what they are: `git $(echo push) -f`,
//! `git ${x:-push} -f`.

use counterfoil_shell::{Command, Word};

use super::text::quoted;

/// The line of a command whose words are worked out, with what they mean.
pub(super) fn line(command: &Command) -> Option<String> {
    let words = || command.name.iter().chain(&command.args);
    if !words().any(|word| stated(word).is_some()) {
        return None;
    }
    let line: Vec<String> = words()
        .map(|word| match (stated(word), word.literal()) {
            (Some(text), _) => text.split_whitespace().map(quoted).collect::<Vec<_>>().join(" "),
            (None, Some(text)) => quoted(text),
            (None, None) => "\"$1\"".to_owned(),
        })
        .collect();
    Some(match command.directory.as_deref() {
        Some("") | None => line.join(" "),
        Some(directory) => format!("cd {}; {}", quoted(directory), line.join(" ")),
    })
}

/// The text that a word means, or means where a variable holds nothing; `None` where the
/// script does not say it, and where the shell has nothing to work out.
pub(super) fn stated(word: &Word) -> Option<String> {
    word.literal().is_none().then_some(())?;
    let mut text = String::new();
    let mut rest = word.text.as_str();
    let mut found = false;
    while let Some(at) = rest.find(['$', '`']) {
        let (before, after) = rest.split_at_checked(at)?;
        text.push_str(before);
        let (inside, following) = opened(after)?;
        text.push_str(&inside);
        rest = following;
        found = true;
    }
    found.then(|| text + rest)
}

/// The text of an expansion at the beginning of a text, and what follows it.
fn opened(text: &str) -> Option<(String, &str)> {
    if let Some(inside) = text.strip_prefix("$(") {
        let (command, following) = inside.split_once(')')?;
        return Some((printed(command)?, following));
    }
    if let Some(inside) = text.strip_prefix('`') {
        let (command, following) = inside.split_once('`')?;
        return Some((printed(command)?, following));
    }
    let (variable, following) = text.strip_prefix("${")?.split_once('}')?;
    let end = variable.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let (_, sign) = variable.split_at_checked(end)?;
    let signs = [":-", ":=", ":+", "-", "=", "+"];
    let value = signs.into_iter().find_map(|known| sign.strip_prefix(known))?;
    plain(value).then(|| (unquoted(value), following))
}

/// What `echo` and `printf` print, where it is written there.
fn printed(command: &str) -> Option<String> {
    let mut words = command.split_whitespace();
    let prints = matches!(words.next(), Some("echo" | "printf"));
    let words: Vec<String> = words
        .filter(|word| !word.contains('%') && !matches!(*word, "-n" | "-e" | "-E" | "--"))
        .map(unquoted)
        .collect();
    (prints && plain(command)).then(|| words.join(" "))
}

fn plain(text: &str) -> bool {
    !text.contains(['$', '`', '|', ';', '&', '<', '>', '(', ')', '{', '}', '*', '?', '\n'])
}

fn unquoted(text: &str) -> String {
    text.replace(['\'', '"', '\\'], "")
}

#[cfg(test)]
mod tests {
    use counterfoil_shell::Script;

    use super::stated;

    #[test]
    fn a_word_says_what_it_means() {
        for (command, expected) in [
            ("git $(echo push)", Some("push")),
            ("git `echo push`", Some("push")),
            ("git $(printf '%s' push)", Some("push")),
            ("git ${x:-push}", Some("push")),
            ("git ${x:+push}", Some("push")),
            ("git \"pu$(echo sh)\"", Some("push")),
            ("git $(echo 'push -f')", Some("push -f")),
            ("git $(cat file)", None),
            ("git $(echo $x)", None),
            ("git ${x}", None),
            ("git push", None),
        ] {
            let script = Script::parse(command).unwrap();
            let word = script.commands().first().unwrap().args.first().unwrap();
            assert_eq!(stated(word).as_deref(), expected, "{command}");
        }
    }
}
