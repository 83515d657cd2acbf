//! Determines what tools do from their names and descriptions, and which deeds can support which
//! claims.

use counterfoil_model::{Family, Tool};

use crate::prose::{Action, Lexicon, Tags, sets};

/// `families![Read, Search]`: a set of [`Families`].
macro_rules! families {
    ($($family:ident),+) => {
        const { $crate::facts::Families::new(&[$(counterfoil_model::Family::$family),+]) }
    };
}

/// A set of families, as bits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct Families(u32);

impl Families {
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn new(families: &[Family]) -> Self {
        let (mut set, mut rest) = (Self::NONE, families);
        while let [family, more @ ..] = rest {
            set = set.with(*family);
            rest = more;
        }
        set
    }

    pub(crate) const fn with(self, family: Family) -> Self {
        Self(self.0 | 1 << family as u32)
    }

    pub(crate) fn has(self, family: Family) -> bool {
        self.0 & (1 << family as u32) != 0
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// All families that change something.
    pub(crate) fn changing() -> Self {
        Family::ALL.into_iter().filter(|family| family.changes_state()).fold(Self::NONE, Self::with)
    }
}

/// What the name of a tool says.
#[derive(Debug)]
pub(crate) struct ToolName {
    /// Its words, lower case.
    pub(crate) words: Vec<String>,
    /// The families of action.
    pub(crate) families: Families,
}

impl ToolName {
    pub(crate) fn parse(name: &str) -> Self {
        let words = words_of_tool(name);
        let families = of_parts(&words);
        Self { words, families }
    }
}

/// The families of a tool: from its name, otherwise from the verb of its description.
pub(crate) fn of_tool(named: Families, tool: Option<&Tool>) -> Families {
    let mut families = named;
    if let Some(tool) = tool {
        if families.is_empty() {
            let words = || tool.description.split_whitespace().take(4);
            families = of_words(words());
        }
        if tool.effects.retrieves == Some(true) {
            families = families.with(Family::Search);
        }
    }
    families
}

/// Words in tool names that denote actions, in addition to the verbs of the lexicon.
const ACTING: [(&[&str], Families); 8] = [
    (&["accept", "hold", "sign"], families![Update]),
    (&["allocate", "enrol", "join", "restock"], families![Book, Update]),
    (&["authorise", "authorize", "capture"], families![Pay, Update]),
    (&["decline", "deny", "end", "leave", "refuse", "stop"], families![Cancel, Update]),
    (&["comment", "deliver", "queue"], families![Send, Update]),
    (&["ask", "page", "phone", "remind", "sms"], families![Send]),
    (&["note"], families![Create, Update]),
    (&["tip"], families![Pay]),
];

/// The families in a name. The last segment of a dotted name takes precedence.
pub(crate) fn of_name(name: &str) -> Families {
    of_parts(&words_of_tool(name))
}

/// The families in the words of a name.
pub(crate) fn of_parts(words: &[String]) -> Families {
    // `leave_balance` and `balance_transfer`: the last word decides whether it is a look-up.
    if words.len() > 1 && words.last().is_some_and(|word| word == "balance" || word == "history") {
        return families![Read, Search];
    }
    // `place_details`, `order_status`: information about a thing.
    let information = ["details", "detail", "info", "status", "overview", "summary"];
    let acts = |word: &String| {
        let verb = Lexicon::english().get(word).is_some_and(|entry| entry.verb.is_some());
        verb && !sets::NAMES_THINGS.list.contains(&word.as_str())
    };
    if let [.., thing, last] = words
        && information.contains(&last.as_str())
        && sets::NAMES_THINGS.list.contains(&thing.as_str())
        && !words.iter().any(acts)
    {
        return families![Read, Search];
    }
    // `file_search`, `order_lookup`: these search; they do not file or order.
    let looks = |word: &String| {
        let entry = Lexicon::english().get(word);
        let verb = entry.filter(|entry| entry.tags.any(Tags::BASE)).and_then(|entry| entry.verb);
        matches!(verb, Some(Action::Of(Family::Search | Family::Read)))
            || matches!(word.as_str(), "lookup" | "finder" | "viewer" | "reader")
    };
    // `mail_search`, `contact_lookup`: these search messages.
    let sends = |word: &str| {
        let verb = Lexicon::english().get(word).and_then(|entry| entry.verb);
        verb == Some(Action::Of(Family::Send))
    };
    if let [thing, rest @ ..] = words
        && (sets::NAMES_THINGS.list.contains(&thing.as_str()) || sends(thing))
        && rest.iter().any(looks)
    {
        return families![Read, Search];
    }
    let first = of_words(words.iter().map(String::as_str));
    if !first.is_empty() {
        return first;
    }
    // No verb: a noun such as `web_search`, `email`.
    let named = words.iter().fold(Families::NONE, |set, word| {
        match Lexicon::english().get(word).and_then(|entry| entry.noun) {
            Some(family) => set.with(family),
            None => set,
        }
    });
    if !named.is_empty() {
        return named;
    }
    let acting = |word: &String| ACTING.iter().find(|(known, _)| known.contains(&word.as_str()));
    words.iter().find_map(acting).map_or(Families::NONE, |(_, families)| *families)
}

fn of_words<'w>(mut words: impl Iterator<Item = &'w str>) -> Families {
    let mut generic = false;
    while let Some(word) = words.next() {
        if sets::READING_TOOLS.list.contains(&word.to_ascii_lowercase().as_str()) {
            return families![Read, Search];
        }
        let Some(entry) = Lexicon::english().get(word) else { continue };
        let verbal = entry.tags.any(tags![BASE, THIRD_PERSON, GERUND]);
        match entry.verb {
            Some(Action::Of(Family::Search | Family::Read)) if verbal && !generic => {
                return families![Read, Search];
            }
            // `submit_meter_read`: a reading.
            Some(Action::Of(Family::Search | Family::Read)) if generic => {}
            // `run_tests`: the noun determines what is run.
            Some(Action::Of(Family::Run)) if verbal => {
                // Not `run_line_test`, which does not test code.
                let kinds = sets::KINDS_OF_CHECKS.list;
                let what = words.find(|word| !kinds.contains(&word.to_ascii_lowercase().as_str()));
                let noun = what.and_then(|word| Lexicon::english().get(word)?.noun);
                let checks = [Family::Test, Family::Lint, Family::Build];
                let check = noun.filter(|family| checks.contains(family));
                return Families::NONE.with(check.unwrap_or(Family::Run));
            }
            Some(Action::Of(family)) if verbal => return Families::NONE.with(family),
            Some(Action::Generic | Action::Any) if verbal => generic = true,
            _ => {
                if let (true, Some(family)) = (generic, entry.noun) {
                    return Families::NONE.with(family);
                }
            }
        }
    }
    if generic { families![Update] } else { Families::NONE }
}

/// The families of all verbs and nouns in the arguments of a call whose tool's name says nothing:
/// `{"op": "renew"}`, `{"code": "calendar.delete(7)"}`.
pub(crate) fn of_arguments(arguments: &str) -> Families {
    const MOST: usize = 2_000;
    let text = arguments.get(..arguments.floor_char_boundary(MOST)).unwrap_or_default();
    let text: String = text.split_inclusive('"').map(without_names).collect();
    words_of(&text).iter().fold(Families::NONE, |families, word| {
        let Some(entry) = Lexicon::english().get(word) else { return families };
        let verb = match entry.verb {
            Some(Action::Of(family)) if entry.tags.any(Tags::BASE) => Some(family),
            _ => None,
        };
        [verb, entry.noun].into_iter().flatten().fold(families, Families::with)
    })
}

/// The text without sequences of capitalised words: "Clean Wells" is a name, not a cleaning.
fn without_names(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let capital = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at));
        word.is_some_and(|word| word.starts_with(|c: char| c.is_uppercase()))
    };
    // "Cancel Order", however, is an action.
    let strange = |at: Option<usize>| {
        let word = at.and_then(|at| words.get(at)).map_or("", |w| w.trim_end_matches(['"', ',']));
        capital(at) && Lexicon::english().get(word).is_none()
    };
    let named = |at: usize| {
        let beside = strange(at.checked_sub(1)) || strange(Some(at + 1));
        capital(Some(at)) && (beside || strange(Some(at)))
    };
    let kept = words.iter().enumerate().filter(|(at, _)| !named(*at)).map(|(_, word)| *word);
    kept.collect::<Vec<_>>().join(" ")
}

/// The words of a tool's name, with common abbreviations expanded: `est_snd`.
pub(crate) fn words_of_tool(name: &str) -> Vec<String> {
    let mut words = words_of(name);
    for word in &mut words {
        let mut shortened = sets::SHORTENED.list.iter().filter_map(|pair| pair.split_once(' '));
        if let Some((_, long)) = shortened.find(|(short, _)| short == word) {
            long.clone_into(word);
        }
    }
    words
}

/// The words of a name, in lower case: the last segment first, then the others.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut segments: Vec<&str> = name.split(['.', '/', ':']).filter(|s| !s.is_empty()).collect();
    if segments.len() < 2 {
        segments = name.split("__").filter(|s| !s.is_empty()).collect();
    }
    let mut words = Vec::new();
    for segment in segments.into_iter().rev() {
        let mut word = String::new();
        let mut lower = false;
        for c in segment.chars() {
            let boundary = !c.is_alphanumeric() || (c.is_uppercase() && lower);
            if boundary && !word.is_empty() {
                words.push(std::mem::take(&mut word));
            }
            match c {
                c if c.is_ascii_alphanumeric() => word.push(c.to_ascii_lowercase()),
                c if c.is_alphanumeric() => word.extend(c.to_lowercase()),
                _ => {}
            }
            lower = c.is_lowercase() || c.is_ascii_digit();
        }
        if !word.is_empty() {
            words.push(word);
        }
    }
    words
}

/// The families of deeds that can support a claim of `family`.
///
/// Deliberately broad: a service may call a cancellation an update. Only deeds of a plainly
/// different kind are excluded.
pub(crate) fn vouching(family: Family) -> Families {
    use Family as F;
    match family {
        F::Update | F::Pay => Families::changing(),
        F::Create => families![
            Create, Update, Book, Send, Commit, Exchange, Return, Refund, Move, Install, Deploy,
            Push
        ],
        F::Send => families![Send, Move],
        F::Delete => families![Delete, Cancel, Update, Move],
        F::Cancel => families![Cancel, Delete, Update, Return, Refund],
        F::Book => families![Book, Create, Update, Pay, Exchange],
        F::Refund => families![Refund, Cancel, Return, Exchange, Update, Send, Pay, Create],
        F::Return => families![Return, Refund, Exchange, Update, Create],
        F::Exchange => families![Exchange, Update, Return, Create, Book],
        F::Move => families![Move, Update, Send, Create, Delete, Book, Exchange],
        F::Search | F::Read => families![Search, Read, Run],
        F::Deploy => families![Deploy, Push, Create, Update],
        other => Families::new(&[other]),
    }
}

/// The families that share their vocabulary.
pub(crate) fn kindred(family: Family) -> Families {
    use Family as F;
    match family {
        F::Create | F::Update | F::Book => families![Create, Update, Book],
        F::Cancel | F::Delete => families![Cancel, Delete],
        F::Search | F::Read => families![Search, Read],
        other => Families::new(&[other]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let reads = families![Read, Search];
        for (name, expected) in [
            ("cancel_pending_order", families![Cancel]),
            ("return_delivered_order_items", families![Return]),
            ("email.send_email", families![Send]),
            ("customer_relationship_manager.update_customer", families![Update]),
            ("get_order_details", reads),
            ("maps_place_details", reads),
            ("order_status", reads),
            ("place_order", families![Book]),
            ("WebSearch", reads),
            ("find_user_id_by_email", reads),
            ("transfer_to_human_agents", families![Move]),
            ("calculate", families![Compute]),
            ("think", Families::NONE),
            ("process_refund", families![Refund]),
            ("mcp__github__create_issue", families![Create]),
        ] {
            assert_eq!(of_name(name), expected, "{name}");
        }
    }
}
