//! Words and their functions in a clause. The words themselves are data: `lexicon/*.txt`.

use std::sync::LazyLock;

use counterfoil_model::Family;
use rustc_hash::FxHashMap;

/// The possible functions of a word in a clause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Tags(u64);

macro_rules! groups {
    ($($(#[doc = $doc:literal])* $name:ident = $bit:literal, $group:literal;)*) => {
        impl Tags {
            $($(#[doc = $doc])* pub(crate) const $name: Self = Self(1 << $bit);)*

            /// The tag of a group of the lexicon file.
            pub(super) fn of_group(group: &str) -> Option<Self> {
                match group { $($group => Some(Self::$name),)* _ => None }
            }
        }
    };
}

/// `tags![HAVE, BE]`: a set of [`Tags`].
macro_rules! tags {
    ($first:ident $(, $tag:ident)+) => {
        $crate::prose::Tags::$first$(.or($crate::prose::Tags::$tag))+
    };
}

groups! {
    /// Base form of a verb.
    BASE = 0, "(base)";
    /// Third person singular.
    THIRD_PERSON = 1, "(third person)";
    /// Simple past.
    PAST = 2, "past";
    /// Past participle.
    PARTICIPLE = 3, "(participle)";
    /// Gerund.
    GERUND = 4, "gerund";
    /// Names an action.
    NOUN = 5, "(noun)";
    HAVE = 6, "have";
    BE = 7, "be";
    PAST_BE = 8, "past-be";
    DO = 9, "do-aux";
    MODAL = 10, "modal";
    NEGATION = 11, "negation";
    FAILURE = 12, "failure";
    AGENT = 13, "agent";
    AGENT_OWN = 14, "agent-own";
    USER = 15, "user";
    USER_OWN = 16, "user-own";
    THIRD = 17, "third";
    THING = 18, "thing";
    RELATIVE = 19, "relative";
    SUBORDINATE = 20, "subordinate";
    COORDINATE = 21, "coordinate";
    ADVERSATIVE = 22, "adversative";
    DETERMINER = 23, "determiner";
    PREPOSITION = 24, "preposition";
    ADVERB = 25, "adverb";
    SUCCESS = 26, "success";
    NOW = 27, "now";
    EARLIER = 28, "earlier";
    INTEND = 29, "intend";
    HEDGE = 30, "hedge";
    REPORT = 31, "report";
    PERCEIVE = 32, "perceive";
    REQUEST = 33, "request";
    QUESTION = 34, "question";
    MONTH = 35, "month";
    TOOL_NOUN = 36, "tool-noun";
    SYSTEM_NOUN = 37, "system-noun";
    ABBREVIATION = 38, "abbreviation";
    DONE = 39, "done";
    CONDITIONAL = 40, "conditional";
    PURPOSE = 41, "purpose";
    TEXT_NOUN = 42, "text-noun";
    ALTERNATIVE = 43, "alternative";
    PASSING = 44, "passing";
    TROUBLE = 45, "trouble";
    AGENDA = 46, "agenda";
    /// Introduces a statement that the speaker asserts: "let you know that".
    ASSURE = 47, "assure";
    /// Introduces a consequence.
    RESULT = 48, "result";
    /// "been": makes any group of auxiliaries a perfect.
    BEEN = 54, "been";
    /// Something was tried and succeeded: "managed to", "succeeded in", "took the liberty of".
    ACHIEVE = 55, "achieve";
    /// "had it moved", "got it moved": the subject caused it.
    CAUSED = 56, "caused";
    /// Places that belong to a person: "your account", "the inbox".
    HOLDING = 59, "holding";
    /// "status", "state": the words after it are read from a record.
    STATE_NOUN = 60, "state-noun";
    /// Completes "go": "through", "out".
    PARTICLE = 61, "particle";
    /// Prepositions of destination: "pushed to origin".
    GOAL = 63, "goal";
    /// Adjectives that say that an action succeeded: "the transfer was successful".
    ACCOMPLISHED = 62, "accomplished";
}

impl Tags {
    /// Any verb form that can report a completed action.
    pub(crate) const COMPLETED: Self = Self(Self::PAST.0 | Self::PARTICIPLE.0);

    /// Whether at least one of `other` is set.
    pub(crate) fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The union of both.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// What a verb does, if it leaves a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// An action of a family.
    Of(Family),
    /// The family comes from the object; without one, the verb means nothing: "do", "complete".
    Generic,
    /// The family comes from the object; without one, the verb means some change: "process".
    Any,
}

/// One word of the lexicon.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Entry {
    /// Its possible functions.
    pub(crate) tags: Tags,
    /// The action of the verb.
    pub(crate) verb: Option<Action>,
    /// The action that the noun names.
    pub(crate) noun: Option<Family>,
    /// Whether it belongs to other languages and not to English.
    pub(crate) other: bool,
}

/// A word in lower case, packed into integers, because nearly every word of an answer is looked up.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Hash)]
struct Key([u64; 3]);

impl Key {
    /// `None` if it is not a word, or longer than any word of the lexicon.
    #[inline]
    fn new(word: &str) -> Option<Self> {
        let mut bytes = [0; 24];
        bytes.get_mut(..word.len()).filter(|_| !word.is_empty())?.copy_from_slice(word.as_bytes());
        bytes.make_ascii_lowercase();
        let number = |at: usize| {
            let part = bytes.get(at..at + 8).and_then(|part| part.try_into().ok());
            u64::from_le_bytes(part.unwrap_or_default())
        };
        Some(Self([number(0), number(8), number(16)]))
    }
}

/// The words of one language.
#[derive(Debug, Default)]
pub(crate) struct Lexicon {
    words: FxHashMap<Key, Entry>,
    /// The base of a verb, by its irregular form.
    bases: FxHashMap<Box<str>, Box<str>>,
}

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon::read(include_str!("../../lexicon/en.txt")).0;
    let lines = include_str!("../../lexicon/other.txt").lines();
    for word in lines.filter(|line| !line.starts_with('#')).flat_map(|line| line.split(',')) {
        lexicon.entry(word.trim()).other = true;
    }
    lexicon
});

impl Lexicon {
    /// The English lexicon.
    pub(crate) fn english() -> &'static Self {
        &ENGLISH
    }

    /// Looks up a word, ignoring case.
    pub(crate) fn get(&self, word: &str) -> Option<&Entry> {
        self.words.get(&Key::new(word)?)
    }

    /// The base of an irregular verb form in lower case: "freeze" for "frozen".
    pub(crate) fn base_of(&self, form: &str) -> Option<&str> {
        self.bases.get(form).map(AsRef::as_ref)
    }

    /// Reads a lexicon file. Also returns the numbers of invalid lines.
    fn read(text: &str) -> (Self, Vec<usize>) {
        let mut lexicon = Self::default();
        let mut wrong = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let understood = line.split_once(':').is_some_and(|(head, words)| {
                words.split(',').map(str::trim).all(|word| lexicon.add(head.trim(), word))
            });
            if !understood {
                wrong.push(number + 1);
            }
        }
        (lexicon, wrong)
    }

    fn add(&mut self, head: &str, word: &str) -> bool {
        match head.split_once(' ') {
            Some(("verb", "generic")) => self.verb(word, Action::Generic),
            Some(("verb", "any")) => self.verb(word, Action::Any),
            Some(("verb", family)) => match family_named(family) {
                Some(family) => self.verb(word, Action::Of(family)),
                None => false,
            },
            Some(("noun", family)) => match family_named(family) {
                Some(family) => {
                    for form in [word.to_owned(), format!("{word}s")] {
                        let entry = self.entry(&form);
                        entry.noun = entry.noun.or(Some(family));
                        entry.tags = entry.tags.or(Tags::NOUN);
                    }
                    true
                }
                None => false,
            },
            Some(_) => false,
            None => match Tags::of_group(head) {
                Some(tag) => {
                    let entry = self.entry(word);
                    entry.tags = entry.tags.or(tag);
                    true
                }
                None => false,
            },
        }
    }

    fn entry(&mut self, word: &str) -> &mut Entry {
        debug_assert!(Key::new(word).is_some(), "{word}");
        self.words.entry(Key::new(word).unwrap_or_default()).or_default()
    }

    fn verb(&mut self, spelled: &str, action: Action) -> bool {
        // "port", "address": nouns unless inflected as verbs.
        let (spelled, noun) =
            spelled.strip_prefix('=').map_or((spelled, false), |rest| (rest, true));
        let mut parts = spelled.split('/');
        let base = parts.next().unwrap_or_default();
        let (base, double) = match base.strip_suffix(['+', '~']) {
            Some(stem) => (stem, if base.ends_with('+') { Some(true) } else { None }),
            None => (base, Some(false)),
        };
        if base.is_empty() {
            return false;
        }
        let irregular: Vec<&str> = parts.collect();
        let doublings: &[bool] = match double {
            Some(true) => &[true],
            Some(false) => &[false],
            None => &[false, true],
        };
        let mut form = |word: String, tag: Tags| {
            let entry = self.entry(&word);
            entry.tags = entry.tags.or(tag);
            entry.verb = entry.verb.or(Some(action));
        };
        if !noun {
            form(base.to_owned(), Tags::BASE);
            form(third_person(base), Tags::THIRD_PERSON);
        }
        for &double in doublings {
            let stem = stem(base, double);
            form(format!("{stem}ing"), Tags::GERUND);
            if irregular.is_empty() {
                form(past(base, double), Tags::COMPLETED);
            }
        }
        if let [past, participle] = irregular[..] {
            form(past.to_owned(), Tags::PAST);
            form(participle.to_owned(), Tags::PARTICIPLE);
            for irregular in [past, participle] {
                self.bases.entry(irregular.into()).or_insert_with(|| base.into());
            }
        }
        true
    }
}

fn third_person(base: &str) -> String {
    if base.ends_with(['s', 'x', 'z', 'o']) || base.ends_with("ch") || base.ends_with("sh") {
        return format!("{base}es");
    }
    match consonant_y(base) {
        Some(stem) => format!("{stem}ies"),
        None => format!("{base}s"),
    }
}

fn past(base: &str, double: bool) -> String {
    match consonant_y(base) {
        Some(stem) => format!("{stem}ied"),
        None if base.ends_with('e') => format!("{base}d"),
        None => format!("{}ed", stem(base, double)),
    }
}

/// The stem before `-ing` and `-ed`.
fn stem(base: &str, double: bool) -> String {
    match base.chars().last() {
        Some('e') if !base.ends_with("ee") => base.trim_end_matches('e').to_owned(),
        Some(last) if double => format!("{base}{last}"),
        _ => base.to_owned(),
    }
}

fn consonant_y(base: &str) -> Option<&str> {
    let stem = base.strip_suffix('y')?;
    (!stem.ends_with(['a', 'e', 'i', 'o', 'u'])).then_some(stem)
}

/// The family with that name, as lexicon files and configuration spell it.
fn family_named(name: &str) -> Option<Family> {
    Family::ALL.into_iter().find(|family| family.name() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_understood() {
        let (_, wrong) = Lexicon::read(include_str!("../../lexicon/en.txt"));
        assert_eq!(wrong, Vec::<usize>::new());
    }

    #[test]
    fn inflections() {
        let lexicon = Lexicon::english();
        for (word, tag) in [
            ("cancelled", Tags::PARTICIPLE),
            ("canceled", Tags::PAST),
            ("Canceling", Tags::GERUND),
            ("submitted", Tags::PARTICIPLE),
            ("written", Tags::PARTICIPLE),
            ("wrote", Tags::PAST),
            ("updates", Tags::THIRD_PERSON),
            ("modified", Tags::PAST),
            ("searches", Tags::THIRD_PERSON),
            ("notified", Tags::PARTICIPLE),
        ] {
            assert!(lexicon.get(word).is_some_and(|e| e.tags.any(tag)), "{word}");
        }
        assert!(lexicon.get("writed").is_none());
        assert!(!lexicon.get("written").unwrap().tags.any(Tags::PAST));
    }
}
