//! A text that the agent wrote for someone to use: an e-mail, a commit message. It is not the agent's
//! own report.

use super::{Clause, Prose, Sentence, Tags, Token, TokenKind, sets};

/// Whether a clause is part of a draft: from its label to the rule that closes it, or to the end.
pub(crate) fn is_in_draft(prose: &Prose<'_>, clause: &Clause) -> bool {
    prose.drafted.get(clause.sentence).copied().unwrap_or(false)
}

/// For each sentence, in order, whether it is part of a draft. A horizontal rule directly below the
/// label opens it; any other rule closes it.
pub(super) fn drafted(prose: &Prose<'_>) -> Vec<bool> {
    let (mut inside, mut is_first) = (false, false);
    let mut end = 0;
    let of = |sentence: &Sentence| {
        let tokens = prose.tokens(sentence.tokens.clone());
        let place = |token: Option<&Token>, of: fn(&Token) -> u32| token.map_or(end, of);
        let begin = place(tokens.first(), |token| token.start);
        if inside {
            let rules = rules_in(prose.text.get(end as usize..begin as usize).unwrap_or_default());
            inside = rules <= usize::from(is_first);
        }
        is_first = !inside && is_label(prose, tokens);
        inside |= is_first;
        end = place(tokens.last(), |token| token.end);
        inside
    };
    prose.sentences.iter().map(of).collect()
}

/// The number of horizontal rules in a text.
fn rules_in(text: &str) -> usize {
    let is_rule = |line: &str| {
        line.len() >= 3 && ['-', '*', '_'].iter().any(|mark| line.chars().all(|c| c == *mark))
    };
    text.lines().filter(|line| is_rule(line.trim())).count()
}

/// "Here is a draft:", "Suggested commit message: …", "Subject: …": whether a draft begins. "I updated
/// the description: …" is a report.
fn is_label(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let Some(colon) = tokens.iter().take(12).position(|t| t.is(':')) else { return false };
    let label = tokens.get(..colon).unwrap_or_default();
    let words = || label.iter().filter(|t| t.kind == TokenKind::Word);
    if let (Some(only), None) = (words().next(), words().nth(1)) {
        return prose.is(only, words!["subject"]);
    }
    let own = tags![AGENT, AGENT_OWN, HAVE, PAST_BE, FAILURE];
    let did = |t: &Token| t.has(own) || t.has(Tags::COMPLETED) && !t.has(Tags::AGENDA);
    words().any(|t| prose.is(t, &sets::DRAFTS)) && !words().any(did)
}
