//! What the user asked for.

use counterfoil_model::{Family, Message, MessageKind, Role};

use crate::facts::{Facts, Families};
use crate::prose::{Action, Lexicon, Tags};

/// Whether the user's latest message asks for an act of one of these families.
pub(super) fn was_asked_for(facts: &Facts<'_>, turn: usize, wanted: Families) -> bool {
    let Some(asked) = request(facts, turn) else { return false };
    if names(&asked.text, wanted, false) {
        return true;
    }
    // "Yes, please.": what the agent had proposed.
    let messages = facts.transcript().messages.get(..turn).unwrap_or_default();
    let proposed = messages.iter().rev().find(|m| m.role == Role::Assistant && !m.text.is_empty());
    assents(&asked.text) && proposed.is_some_and(|m| names(&m.text, wanted, true))
}

fn request<'t>(facts: &Facts<'t>, turn: usize) -> Option<&'t Message> {
    let messages = facts.transcript().messages.get(..turn).unwrap_or_default();
    messages.iter().rev().find(|m| m.role == Role::User && m.kind == MessageKind::Ordinary)
}

/// Whether a text asks for an act by its verb, or names it by its noun.
fn names(text: &str, wanted: Families, noun: bool) -> bool {
    // "Did the rule change?" asks for no change.
    let about = |text: &&str| {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        !text.ends_with('?') || !words.any(|word| matches!(word, "did" | "Did" | "has" | "Has"))
    };
    let sentences = str::split_inclusive(text, ['.', '!', '?', '\n']).filter(about);
    let words = |text| str::split(text, |c: char| !c.is_alphanumeric() && c != '-');
    // "cancel order W1": behind a verb it is a noun.
    let leads = Tags::BASE.or(Tags::DETERMINER).or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    let entry = |word: &str| Lexicon::english().get(word);
    let is_wanted = |family: Option<Family>| family.is_some_and(|family| wanted.has(family));
    let mut before = "";
    sentences.flat_map(words).filter(|word| !word.is_empty()).any(|word| {
        let led = entry(std::mem::replace(&mut before, word)).is_some_and(|e| e.tags.any(leads));
        entry(word).is_some_and(|entry| {
            let verb = matches!(entry.verb, Some(Action::Of(family)) if wanted.has(family));
            (entry.tags.any(Tags::BASE) && verb && !led) || (noun && is_wanted(entry.noun))
        })
    })
}

/// "Yes", "go ahead": nothing but assent to what was proposed.
fn assents(text: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "yes",
        "yep",
        "yeah",
        "sure",
        "ok",
        "okay",
        "confirm",
        "confirmed",
        "proceed",
        "correct",
        "absolutely",
        "definitely",
        "go",
        "please",
    ];
    let mut words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let first = words.next().unwrap_or_default();
    KNOWN.iter().any(|word| word.eq_ignore_ascii_case(first)) && words.count() <= 6
}
