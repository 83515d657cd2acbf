//! Acts that are told in several words, none of which says what kind of act it is: "put a note on
//! your account", "passed it on to billing", "asked the carrier to look into it".

use counterfoil_model::{ClaimKind, Family, ObjectKind};

use super::extract::{ActionClaim, things_in};
use super::objects::objects_in;
use crate::prose::{BlockKind, Clause, Mood, Prose, Tags, Token, TokenKind, Words};

/// A verb with what must stand behind it.
struct Idiom {
    /// Past and participle.
    verbs: &'static Words,
    tail: Tail,
    family: Family,
}

/// What has to stand behind a verb.
enum Tail {
    /// Somebody else than the user.
    Party,
    /// The same, behind these words.
    PartyBehind(&'static [&'static [&'static str]]),
    /// One of these words behind what it is done to.
    Particle(&'static [&'static str]),
    /// One of these words at once.
    Next(&'static [&'static str]),
    /// One of these nouns, as something new: "a note"; any where there are none.
    New(&'static Words),
    /// A place where records are kept: "on file", "in your profile".
    Kept,
    /// Something that is paid: an id, an amount, "the balance".
    Due,
}

const IDIOMS: [Idiom; 18] = [
    Idiom { verbs: words!["asked", "instructed"], tail: Tail::Party, family: Family::Send },
    Idiom {
        verbs: words!["phoned", "telephoned", "rang"],
        tail: Tail::Party,
        family: Family::Send,
    },
    Idiom {
        verbs: words!["spoke", "spoken", "talked", "liaised"],
        tail: Tail::PartyBehind(&[&["with"], &["to"]]),
        family: Family::Send,
    },
    Idiom {
        verbs: words!["reached", "got", "gotten", "been"],
        tail: Tail::PartyBehind(&[
            &["out", "to"],
            &["in", "touch", "with"],
            &["in", "contact", "with"],
        ]),
        family: Family::Send,
    },
    Idiom {
        verbs: words!["requested"],
        tail: Tail::New(words![
            "call-back",
            "callback",
            "review",
            "replacement",
            "pickup",
            "quote"
        ]),
        family: Family::Update,
    },
    Idiom {
        verbs: words!["passed"],
        tail: Tail::Particle(&["on", "along"]),
        family: Family::Update,
    },
    Idiom {
        verbs: words!["handed"],
        tail: Tail::Particle(&["over to", "off to", "on to", "in"]),
        family: Family::Update,
    },
    Idiom {
        verbs: words!["put"],
        tail: Tail::Particle(&["aside", "on hold"]),
        family: Family::Update,
    },
    Idiom {
        verbs: words!["put"],
        tail: Tail::Next(&["in a", "in an", "in your"]),
        family: Family::Update,
    },
    Idiom {
        verbs: words!["put", "placed", "left"],
        tail: Tail::New(words![
            "note",
            "remark",
            "comment",
            "flag",
            "hold",
            "stop",
            "block",
            "reminder",
            "alert",
            "message",
            "voicemail",
            "request",
            "order",
        ]),
        family: Family::Update,
    },
    Idiom { verbs: words!["noted", "jotted", "made"], tail: Tail::Kept, family: Family::Update },
    Idiom {
        verbs: words!["took", "taken"],
        tail: Tail::Particle(&["out of"]),
        family: Family::Update,
    },
    Idiom { verbs: words!["settled", "squared"], tail: Tail::Due, family: Family::Pay },
    Idiom { verbs: words!["dealt"], tail: Tail::Next(&["with"]), family: Family::Update },
    Idiom { verbs: words!["signed"], tail: Tail::Particle(&["up"]), family: Family::Update },
    Idiom {
        verbs: words!["turned", "switched"],
        tail: Tail::Next(&["on", "off"]),
        family: Family::Update,
    },
    Idiom { verbs: words!["copied"], tail: Tail::Particle(&["in"]), family: Family::Send },
    Idiom {
        verbs: words!["arranged", "organised", "organized"],
        tail: Tail::New(words![]),
        family: Family::Update,
    },
];

/// The claim of a clause that tells of an act in such words. `None` for one that does not.
pub(super) fn idiom(prose: &Prose<'_>, clause: &Clause, turn: usize) -> Option<ActionClaim> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let quoted = prose.block_of(sentence).is_some_and(|block| block.kind == BlockKind::Quote);
    let doubt = Tags::MODAL.or(Tags::NEGATION).or(Tags::HEDGE).or(Tags::EARLIER);
    if clause.mood != Mood::Asserted
        || quoted
        || clause.tags.any(doubt)
        || !clause.tags.any(Tags::AGENT.or(Tags::COORDINATE).or(Tags::BEEN))
    {
        return None;
    }
    let mut idioms = IDIOMS.iter().filter(|idiom| clause.may_hold(idiom.verbs));
    let (idiom, verb, passive) = idioms.find_map(|idiom| told(prose, clause, idiom))?;
    let word = prose.tokens.get(verb).map(|t| prose.word(t).to_ascii_lowercase())?;
    let object = match passive {
        true => clause.tokens.start..verb,
        false => verb + 1..clause.tokens.end,
    };
    // "noted it in `CHANGELOG.md`": where it was put.
    let mut patients = objects_in(prose, object.clone());
    patients.retain(|thing| thing.kind == ObjectKind::Path && thing.text.contains('.'));
    Some(ActionClaim {
        claim: prose.claim(
            clause,
            ClaimKind::Action(idiom.family),
            objects_in(prose, clause.tokens.clone()),
            turn,
        ),
        family: idiom.family,
        verb: word,
        stem: None,
        patients,
        things: things_in(prose, object),
        listed: Vec::new(),
        direct: false,
        weak: false,
        state: passive,
        textual: false,
        of_others: passive,
        as_found: false,
        paraphrased: true,
    })
}

/// Where a clause tells of the act, and whether it does so in the passive.
fn told(
    prose: &Prose<'_>,
    clause: &Clause,
    idiom: &'static Idiom,
) -> Option<(&'static Idiom, usize, bool)> {
    let tokens = prose.tokens(clause.tokens.clone());
    if let Some(at) = prose.told_verb(clause, idiom.verbs) {
        let behind = tokens.get(at + 1..)?;
        return is_complete(prose, behind, &idiom.tail).then_some((
            idiom,
            clause.tokens.start + at,
            false,
        ));
    }
    // "Your case has been passed on": what a record may say as well.
    let been = tokens.iter().position(|t| t.has(Tags::BEEN))?;
    let have = been.checked_sub(1).and_then(|at| tokens.get(at))?;
    let verb = tokens.get(been + 1)?;
    let subject = tokens.get(..been - 1)?;
    let told = prose.is(verb, idiom.verbs)
        && have.has(Tags::HAVE)
        && match idiom.tail {
            Tail::Party => is_party(prose, subject),
            Tail::New(nouns) => {
                !nouns.list.is_empty() && subject.iter().any(|t| prose.is(t, nouns))
            }
            Tail::Particle(_) | Tail::Next(_) | Tail::Kept => {
                is_complete(prose, tokens.get(been + 2..)?, &idiom.tail)
            }
            Tail::PartyBehind(_) | Tail::Due => false,
        };
    told.then_some((idiom, clause.tokens.start + been + 1, true))
}

/// Whether what stands behind a verb makes it the act.
fn is_complete(prose: &Prose<'_>, behind: &[Token], tail: &Tail) -> bool {
    let words = |from: usize, wanted: &str| {
        let mut tokens = behind.iter().skip(from);
        wanted.split(' ').all(|word| tokens.next().is_some_and(|t| prose.is_word(t, word)))
    };
    match tail {
        Tail::Party => is_party(prose, behind),
        Tail::PartyBehind(leads) => leads.iter().any(|lead| {
            words(0, &lead.join(" "))
                && is_party(prose, behind.get(lead.len()..).unwrap_or_default())
        }),
        Tail::Particle(particles) => {
            particles.iter().any(|wanted| (0..behind.len().min(8)).any(|at| words(at, wanted)))
        }
        Tail::Next(wanted) => wanted.iter().any(|wanted| words(0, wanted)),
        Tail::New(nouns) => {
            let lead = usize::from(words(0, "for"));
            let article = behind.get(lead);
            let new = article.is_some_and(|t| prose.is(t, words!["a", "an", "another", "one"]));
            let mut phrase = behind.iter().skip(lead + 1).take_while(|t| {
                t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION.or(Tags::RELATIVE))
            });
            new && phrase.any(|t| nouns.list.is_empty() || prose.is(t, nouns))
        }
        Tail::Kept => behind.windows(2).any(|pair| {
            let [on, place] = pair else { return false };
            let owned = behind.iter().skip_while(|t| t.start <= on.start).take(3);
            let kept = |t: &Token| t.has(Tags::HOLDING);
            let file = matches!(place.kind, TokenKind::Path | TokenKind::Code)
                && prose.word(place).contains('.')
                && !prose.word(place).contains(' ');
            prose.is(on, words!["on", "in", "to"])
                && (file
                    || (prose.is(place, words!["file"]) || place.has(Tags::USER_OWN))
                        && owned.into_iter().any(kept))
        }),
        Tail::Due => {
            let mut phrase = behind.iter().take(6);
            !behind.first().is_some_and(|t| t.has(Tags::PREPOSITION))
                && phrase.any(|t| {
                    matches!(t.kind, TokenKind::Id | TokenKind::Money)
                        || prose
                            .is(t, words!["balance", "bill", "invoice", "fee", "fine", "amount"])
                })
        }
    }
}

/// Whether a phrase begins with somebody who can be spoken to, and is neither the user nor a
/// program.
fn is_party(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    const PROGRAMS: &Words = words![
        "reviewer",
        "researcher",
        "agent",
        "agents",
        "subagent",
        "sub-agent",
        "subagents",
        "sub-agents",
        "assistant",
        "model",
        "question",
        "questions",
        "following",
        "helper",
    ];
    let mut tokens = tokens.iter().skip_while(|t| t.has(Tags::COORDINATE.or(Tags::ADVERB)));
    let Some(first) = tokens.next().filter(|t| t.kind == TokenKind::Word && !t.quoted) else {
        return false;
    };
    if first.has(Tags::THIRD) {
        return true;
    }
    let lead = Tags::DETERMINER.or(Tags::USER_OWN).or(Tags::AGENT_OWN);
    if !first.has(lead) {
        return first.capital && first.tags.is_empty();
    }
    let phrase = || {
        let named = tokens.clone().take(4);
        named.take_while(|t| t.kind == TokenKind::Word && !t.has(Tags::PREPOSITION))
    };
    let program = |t: &Token| t.has(Tags::TOOL_NOUN) || prose.is(t, PROGRAMS);
    phrase().next().is_some() && !phrase().any(program)
}
