//! Checks that links between the repository's pages lead to existing files and headings.

use anyhow::Result;

use super::complaint::Complaint;
use super::house::House;

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    let pages = house.texts().filter(|(path, _)| {
        // Logs in Markdown come from others, and so do their links.
        path.ends_with(".md")
            && !path.contains("/fixtures/")
            && !path.starts_with("examples/")
            && !path.starts_with("corpus/")
    });
    for (path, text) in pages {
        for (line, target) in links(text) {
            if target.contains("://") || target.starts_with("mailto:") {
                continue;
            }
            let (file, heading) = target.split_once('#').unwrap_or((target, ""));
            let at = if file.is_empty() { path.to_owned() } else { joined(path, file) };
            let found = house.holds(&at)
                && (heading.is_empty()
                    || house.text(&at).is_some_and(|text| headings(text).any(|h| h == heading)));
            if !found {
                complaints.push(Complaint::new(
                    path,
                    line,
                    format!("the link to `{target}` leads nowhere"),
                    "correct it, or add what it should lead to",
                ));
            }
        }
    }
    Ok(complaints)
}

/// Returns the targets of `[text](target)` and `[text]: target` outside code, each with its line.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut fenced = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Odd pieces are code.
        for prose in line.split('`').step_by(2) {
            for (_, rest) in
                prose.match_indices("](").filter_map(|(i, m)| prose.split_at_checked(i + m.len()))
            {
                if let Some(end) = rest.find([')', ' ']) {
                    links.extend(rest.get(..end).map(|target| (at + 1, target)));
                }
            }
        }
        // If a link's text is all in back-ticks, the target begins the next piece.
        if let Some((label, target)) = line.split_once("]: ")
            && label.starts_with('[')
        {
            links.push((at + 1, target.trim()));
        }
    }
    links
}

/// Resolves `target` relative to the page at `page`.
fn joined(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

/// Returns the anchors of a page's headings, in the form that code hosts generate.
fn headings(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| line.starts_with('#')).map(|line| {
        line.trim_start_matches('#')
            .trim()
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_somewhere() {
        let cases: [(&str, &[usize]); 9] = [
            ("see [the map](../MAP.md)", &[]),
            ("see [the map](../MAP.md#the-two-walks)", &[]),
            ("see [`map`](../MAP.md#three)", &[1]),
            ("see [the map](MAP.md)", &[1]),
            ("see [a folder](..) and [a page](page.md)", &[]),
            ("[out](https://example.org/x)", &[]),
            ("`[no](nothing)`\n```\n[no](nothing)\n```\n", &[]),
            ("[here](#top) [there](#bottom)\n# Top", &[1]),
            ("\n[label]: nothing.md", &[2]),
        ];
        for (text, expected) in cases {
            let house =
                House::with_files(&[("MAP.md", "# The two walks!"), ("docs/page.md", text)]);
            let lines: Vec<usize> = check(&house).unwrap().iter().map(|c| c.line).collect();
            assert_eq!(lines, expected, "{text}");
        }
    }
}
