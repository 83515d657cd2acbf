//! Names of tools as people write them: in any case, and with or without the namespace.

use rustc_hash::FxHashSet;

use crate::facts::words_of;

/// A set of tool names for lookups.
#[derive(Debug)]
pub(crate) struct Names {
    /// The plain names, with and without the namespace.
    plain: FxHashSet<String>,
}

impl Names {
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        Self { plain: names.flat_map(|name| [plain(name), plain(last_of(name))]).collect() }
    }

    /// Whether one of them names the [`same`] tool.
    pub(crate) fn has(&self, name: &str) -> bool {
        let mut wanted = plain(name);
        if wanted.is_empty() {
            return false;
        }
        let short = wanted.strip_suffix("tool").is_some_and(|short| self.plain.contains(short));
        short || self.plain.contains(&wanted) || {
            wanted.push_str("tool");
            self.plain.contains(&wanted)
        }
    }
}

/// Whether two names denote the same tool.
pub(crate) fn same(tool: &str, name: &str) -> bool {
    let letters = |name: &'_ str| -> bool { name.bytes().any(|b| b.is_ascii_alphanumeric()) };
    letters(name)
        && [tool, last_of(tool)].iter().any(|candidate| {
            let (known, wanted) = (|| folded(candidate), || folded(name));
            known().eq(wanted())
                || known().eq(wanted().chain(*b"tool"))
                || known().chain(*b"tool").eq(wanted())
        })
}

/// Whether the first words of a tool's name, after `mcp__`, are this name.
pub(crate) fn begins_with(tool: &str, name: &str) -> bool {
    let tool = tool.strip_prefix("mcp__").unwrap_or(tool);
    let begins_word = |b: u8| !b.is_ascii_lowercase() && !b.is_ascii_digit();
    let mut ends = tool.bytes().enumerate().skip(1).filter(|(_, b)| begins_word(*b));
    folded(name).next().is_some()
        && ends.any(|(end, _)| tool.get(..end).is_some_and(|first| folded(first).eq(folded(name))))
}

/// Whether names share half of their words or beginnings of them, or one all of its own: "Python" and
/// `run_python`. For a name that is spelled like code, half is too little.
pub(crate) fn resembles(tool: &str, name: &str) -> bool {
    let (few, many) = (words_of(name), words_of(tool.strip_prefix("mcp__").unwrap_or(tool)));
    let (few, many) = if many.len() < few.len() { (many, few) } else { (few, many) };
    let begins = |a: &str, b: &str| b.len() > 3 && a.starts_with(b);
    let akin = |a: &str, b: &str| a == b || begins(a, b) || begins(b, a);
    let mut shared = few.iter().filter(|word| many.iter().any(|other| akin(word, other)));
    let count = shared.clone().count();
    let half = 2 * count >= many.len() && !name.contains('_');
    !few.is_empty() && count == few.len() || half && shared.any(|word| word.len() > 3)
}

/// The letters and digits of a name, in lower case.
fn folded(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().filter(u8::is_ascii_alphanumeric).map(|b| b.to_ascii_lowercase())
}

/// The letters and digits of a name, in lower case.
fn plain(name: &str) -> String {
    folded(name).map(char::from).collect()
}

/// A name without its namespace.
fn last_of(tool: &str) -> &str {
    let last = tool.rsplit(['.', '/', ':']).next().unwrap_or(tool);
    last.rsplit("__").next().unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::{begins_with, same};

    #[test]
    fn a_name_may_be_the_beginning_of_another() {
        for (tool, name, expected) in [
            ("mcp__github__list_issues", "GitHub", true),
            ("GithubListIssues", "github", true),
            ("jira.get_issue", "Jira", true),
            ("mcp__brave__web_search", "Brave web", true),
            ("githubber_list", "GitHub", false),
            ("gitlab_list_issues", "GitHub", false),
            ("ping", "ping", false),
            ("ping", "", false),
        ] {
            assert_eq!(begins_with(tool, name), expected, "{tool} {name}");
        }
    }

    #[test]
    fn names_of_one_tool() {
        for (a, b, expected) in [
            ("run_speed_test", "run_speed_test", true),
            ("RunSpeedTest", "run-speed-test", true),
            ("net.run_speed_test", "run_speed_test", true),
            ("mcp__net__ping", "ping", true),
            ("net.ping", "host.ping", false),
            ("ping", "ping_all", false),
            ("", "", false),
        ] {
            assert_eq!(same(a, b), expected, "{a} {b}");
        }
    }
}
