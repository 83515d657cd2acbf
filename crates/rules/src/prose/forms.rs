/// What a word does in the grammar of a language other than English, beside its
/// [`super::Tags`]. A word may do several things.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Forms(u32);

macro_rules! forms {
    ($($(#[doc = $doc:literal])* $name:ident = $bit:literal, $group:literal;)*) => {
        impl Forms {
            $($(#[doc = $doc])* pub(crate) const $name: Self = Self(1 << $bit);)*

            /// The form of a group of a lexicon file.
            pub(super) fn of_group(group: &str) -> Option<Self> {
                match group { $($group => Some(Self::$name),)* _ => None }
            }
        }
    };
}

forms! {
    /// "he", "ai", "ich habe": the speaker's perfect.
    HAVE_FIRST = 0, "have-first";
    /// "habe": the speaker's only where the words around it say so.
    HAVE_ALONE = 1, "have-alone";
    /// "sido", "été", "worden".
    BEEN = 2, "been";
    /// "se" of "se ha cancelado".
    REFLEXIVE = 3, "reflexive";
    /// A verb of the speaker's in the simple past: "cancelé".
    PAST_FIRST = 4, "past-first";
    /// The same of a third person: "canceló".
    PAST_THIRD = 5, "past-third";
    /// Says that the verb behind it is over: "已".
    ALREADY = 6, "already";
    /// Says that the verb before it is over: "了".
    ASPECT = 7, "aspect";
    /// Ends a completed verb: "しました", "했습니다".
    ENDED = 8, "ended";
    /// Ends a completed passive: "されました", "되었습니다".
    ENDED_PASSIVE = 9, "ended-passive";
    /// Ends a verb that was not done: "していません", "하지 않았습니다".
    ENDED_NOT = 10, "ended-not";
    /// "没有": negates what could have been done.
    NOT_DONE = 11, "not-done";
    /// Marks the subject before it: "が", "가".
    SUBJECT_MARK = 12, "subject-mark";
    /// Marks the topic before it: "は", "는".
    TOPIC_MARK = 13, "topic-mark";
    /// Marks an object: "を", "을" behind it, "把" before it.
    OBJECT_MARK = 14, "object-mark";
    /// Turns what stands before it into a description: "的", "の".
    ATTRIBUTIVE = 15, "attributive";
    /// May stand behind the last verb of a clause, and ends the clause: "ので".
    CLOSING = 16, "closing";
    /// A verb of the speaker's that makes what follows an assertion: "confirmo que".
    DECLARE = 17, "declare";
    /// Opens what a verb says or thinks: "dass", "que".
    COMPLEMENT = 18, "complement";
    /// Names who did it: "von", "por", "由".
    BY = 19, "by";
    /// "any", "none", "nothing": a denial of everything.
    ANY = 20, "any";
    /// "files", "changes", "commands": what a denial of everything is about.
    EVERYTHING = 21, "everything";
    /// "other", "further": a denial of the rest.
    OTHER = 22, "other";
    /// Things that are kept in a system: "booking", "ticket", "address".
    RECORD = 23, "record-noun";
    /// Things that are shipped: "order", "parcel".
    GOODS = 24, "goods";
    /// Says that a part is left out: "except".
    EXCEPT = 25, "except";
    /// "all", "every".
    ALL = 26, "all";
    /// The first word of an entry of several words.
    LEADS = 27, "(leads)";
    /// Occurs only in this language among those with spaces.
    SPANISH = 28, "(spanish)";
    /// The same.
    GERMAN = 29, "(german)";
    /// The same.
    FRENCH = 30, "(french)";
}

impl Forms {
    pub(crate) const NONE: Self = Self(0);

    /// The words that tell languages with spaces apart.
    pub(crate) const TELLING: Self = Self(Self::SPANISH.0 | Self::GERMAN.0 | Self::FRENCH.0);

    /// Whether at least one of `other` is set.
    pub(crate) fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Both together.
    pub(crate) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
