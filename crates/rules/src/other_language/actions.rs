use std::ops::Range;

use counterfoil_model::{ClaimKind, Family, Object, ObjectKind};

use crate::action::{ActionClaim, objects_in};
use crate::prose::{
    Action, BlockKind, Clause, Forms, Language, Predicate, Prose, Subject, Tags, Token, TokenKind,
    Voice,
};

/// The claim of a completed side effect that a predicate makes.
pub(crate) fn action_claim(
    prose: &Prose<'_>,
    clause: &Clause,
    predicate: &Predicate,
    turn: usize,
) -> Option<ActionClaim> {
    let sentence = prose.sentences.get(clause.sentence)?;
    let block = prose.block_of(sentence).map(|block| block.kind);
    let listed = block.is_some_and(BlockKind::is_listed);
    if predicate.negated || predicate.earlier || block == Some(BlockKind::Quote) {
        return None;
    }
    let direct = is_own(predicate, block, opens_with_done(prose))?;
    let family = family_of(prose, clause, predicate)?;
    if !family.changes_state() || ships_goods(prose, clause, predicate, family) {
        return None;
    }
    let patients = objects_in(prose, clause.tokens.clone());
    let names_file = patients.iter().any(|o| o.kind == ObjectKind::Path);
    if sentence.introduces && !names_file {
        return None;
    }
    let mut objects: Vec<Object> = patients.clone();
    objects.dedup();
    let word = prose.tokens.get(predicate.verb).map(|t| prose.word(t).to_lowercase())?;
    Some(ActionClaim {
        claim: prose.claim(clause, ClaimKind::Action(family), objects, turn),
        family,
        verb: family.name().to_owned(),
        stem: Some(stem(&word).to_owned()),
        state: false,
        things: Vec::new(),
        patients,
        direct: direct && !listed,
        weak: is_weak(prose, clause, predicate, family),
        listed: Vec::new(),
        of_others: false,
        as_found: false,
        paraphrased: false,
        textual: is_textual(prose, clause, family),
    })
}

fn is_own(predicate: &Predicate, block: Option<BlockKind>, done: bool) -> Option<bool> {
    let titled = matches!(block, Some(BlockKind::Heading | BlockKind::Cell { .. }));
    match (predicate.voice, predicate.subject) {
        (Voice::Active, Subject::Agent) => Some(true),
        (Voice::Active, _) => None,
        (Voice::PerfectPassive | Voice::PastPassive, _) => Some(true),
        (Voice::State, _) => (predicate.emphatic || done).then_some(true),
        // Headings and cells describe: "已取消订单", "Pedidos cancelados".
        (Voice::Bare, _) => (!titled).then_some(true),
        (Voice::BareResult, _) => (!titled && (predicate.emphatic || done)).then_some(true),
    }
}

/// The family of the verb; for a verb without one, that of a noun in the clause.
fn family_of(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate) -> Option<Family> {
    match predicate.action {
        Action::Of(family) => Some(family),
        Action::Generic | Action::Any => {
            let nouns = |range: Range<usize>| {
                prose.tokens(range).iter().filter(|t| !t.quoted).filter_map(|t| t.noun)
            };
            let (start, end) = (clause.tokens.start, clause.tokens.end);
            // "キャンセルが完了しました", "办理退款", "die Stornierung … veranlasst".
            let final_verb =
                matches!(prose.language_of(clause), Language::Japanese | Language::Korean);
            let named = match final_verb {
                true => nouns(start..predicate.verb).next_back(),
                false => nouns(predicate.verb + 1..end).next().or_else(|| nouns(start..end).next()),
            };
            named.or((predicate.action == Action::Any).then_some(Family::Update))
        }
    }
}

/// Whether it may tell history: "Der Roman wurde veröffentlicht", "随后发布了第二版". What names
/// the user, an id, or a thing that is kept in a system tells of the agent's work.
fn is_weak(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate, family: Family) -> bool {
    use Family::{Create, Delete, Deploy, Move, Pay, Update};
    if predicate.emphatic {
        return false;
    }
    let told = match predicate.voice {
        Voice::PastPassive => return true,
        Voice::PerfectPassive => true,
        Voice::Bare => matches!(family, Create | Delete | Deploy | Move | Pay | Update),
        _ => false,
    };
    let year = |t: &Token| {
        t.kind == TokenKind::Number
            && prose.word(t).parse().is_ok_and(|year: u16| (1000..2100).contains(&year))
    };
    let anchors = |at: usize, t: &Token| {
        t.has(Tags::USER.or(Tags::USER_OWN))
            || t.is_form(Forms::RECORD.or(Forms::GOODS))
            || (t.noun.is_some() && at != predicate.verb)
            || matches!(
                t.kind,
                TokenKind::Id
                    | TokenKind::Path
                    | TokenKind::Email
                    | TokenKind::Url
                    | TokenKind::Code
                    | TokenKind::Money
            )
    };
    let words = || clause.tokens.clone().filter_map(|at| Some((at, prose.tokens.get(at)?)));
    told && (!words().any(|(at, t)| anchors(at, t)) || words().any(|(_, t)| year(t)))
}

/// "El pedido ha sido enviado": the shop's doing, and a state of record.
fn ships_goods(prose: &Prose<'_>, clause: &Clause, predicate: &Predicate, family: Family) -> bool {
    let tokens = prose.tokens(clause.tokens.clone());
    family == Family::Send
        && predicate.voice != Voice::Active
        && tokens.iter().any(|t| t.is_form(Forms::GOODS))
        && !tokens.iter().any(|t| t.noun == Some(Family::Send))
}

/// Whether what was made or changed may be words in the message itself. Only things that are
/// known to be kept elsewhere are not.
fn is_textual(prose: &Prose<'_>, clause: &Clause, family: Family) -> bool {
    if !matches!(family, Family::Create | Family::Update) {
        return false;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let kept = tokens.iter().any(|t| {
        t.is_form(Forms::RECORD.or(Forms::GOODS))
            || matches!(t.noun, Some(Family::Book | Family::Deploy))
    });
    !kept || tokens.iter().any(|t| t.has(Tags::TEXT_NOUN))
}

/// Whether the message opens with "Listo." or "完成。": what follows reports the work.
fn opens_with_done(prose: &Prose<'_>) -> bool {
    prose.sentences.first().is_some_and(|s| {
        let tokens = prose.tokens(s.tokens.clone());
        let words = tokens.iter().filter(|t| t.kind == TokenKind::Word).count();
        words <= 3 && tokens.iter().any(|t| t.has(Tags::DONE))
    })
}

/// A word without the ending of its gender and number: enough to find it in a result.
fn stem(word: &str) -> &str {
    let long = word.is_ascii() && word.len() > 6;
    if long { word.trim_end_matches(['s', 'e', 'a', 'o']) } else { word }
}
