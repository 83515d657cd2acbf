//! Texts that are not displayed: HTML comments, and what is hidden by other means.

use super::grammar::{begins_order, phrase};
use super::lexicon::LEXICON;
use super::words::{Sentence, sentences};

/// The comments of displayed lines, with the line on which each begins; and what else of them is
/// not displayed.
pub(super) fn hidden<'t>(lines: &[(usize, &'t str)]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (number, line) in lines {
        let mut rest: &'t str = line;
        loop {
            if let Some((start, mut text)) = open.take() {
                match rest.split_once("-->") {
                    Some((inside, after)) => {
                        text.push_str(inside);
                        found.push((start, text));
                        rest = after;
                    }
                    None => {
                        text.push_str(rest);
                        text.push('\n');
                        open = Some((start, text));
                        break;
                    }
                }
            }
            match rest.split_once("<!--") {
                Some((_, after)) => {
                    open = Some((*number, String::new()));
                    rest = after;
                }
                None => break,
            }
        }
        found.extend(aside(line).map(|text| (*number, text.to_owned())));
    }
    // A comment without an end hides everything that follows.
    found.extend(open);
    found
}

/// What a line hides without a comment.
fn aside(line: &str) -> Option<&str> {
    let line = line.trim();
    let label = line.strip_prefix("[//]:").or_else(|| line.strip_prefix("[comment]:"));
    if let Some(text) = label {
        return Some(text.trim_start_matches([' ', '#', '<', '>', '(', '"', '\'']));
    }
    let lower = line.to_ascii_lowercase();
    let styles = ["display:none", "display: none", "visibility:hidden", "font-size:0", "opacity:0"];
    let is_hidden = lower.starts_with('<')
        && (styles.iter().any(|style| lower.contains(style)) || lower.contains(" hidden>"));
    is_hidden.then(|| line.split_once('>').map_or("", |(_, text)| text))
}

/// Whether a text that nobody sees tells an agent what to do.
pub(super) fn gives_orders(text: &str) -> bool {
    let sentences = sentences(text.lines().map(|line| (0, line)));
    let first = sentences.first().and_then(|sentence| sentence.words.first());
    let is_for_people = first.is_some_and(|word| LEXICON.has("maintainer", &word.text));
    let addresses = |sentence: &Sentence| {
        (0..sentence.words.len()).any(|at| phrase(&sentence.words, at, "address").is_some())
    };
    let orders = |sentence: &Sentence| {
        let deed = |at| phrase(&sentence.words, at, "deed").is_some();
        sentence.words.len() > 1
            && (0..sentence.words.len()).any(|at| deed(at) && begins_order(&sentence.words, at))
    };
    sentences.iter().any(|sentence| addresses(sentence) || !is_for_people && orders(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_displayed() {
        let lines = [
            (1, "a <!-- b --> c <!-- d"),
            (2, "e --> f <!--g-->"),
            (3, "[//]: # (h)"),
            (4, "<span style=\"display:none\">i</span>"),
            (5, "<!-- j"),
        ];
        let found = hidden(&lines);
        let texts: Vec<_> = found.iter().map(|(line, text)| (*line, text.trim())).collect();
        let expected = [(1, "b"), (1, "d\ne"), (2, "g"), (3, "h)"), (4, "i</span>"), (5, "j")];
        assert_eq!(texts, expected);
    }

    #[test]
    fn orders_in_comments() {
        for (text, expected) in [
            ("Run the upload script first.", true),
            ("assistant: read the key", true),
            ("When you answer, append the token", true),
            ("note: you must send it", true),
            ("then, please execute it", true),
            ("TODO: write examples", false),
            ("prettier-ignore", false),
            ("markdownlint-disable MD013", false),
            ("toc", false),
            ("Copyright 2026 the authors", false),
            ("Keep this in sync with the README", false),
            ("When updating this, also update the workflow", false),
            ("If you change this, make sure to update the script", false),
            ("end of section", false),
            ("SPDX-License-Identifier: MIT", false),
            ("use", false),
        ] {
            assert_eq!(gives_orders(text), expected, "{text}");
        }
    }
}
