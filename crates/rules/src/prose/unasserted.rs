//! The reasons why the agent does not assert a clause.

use counterfoil_model::Span;

use super::{
    BlockKind, Clause, Mood, Prose, Sentence, Tags, Token, TokenKind, is_agenda, is_in_draft, sets,
    unmarked,
};

/// A clause in its sentence, with its words.
pub(crate) struct ClauseContext<'p, 't> {
    prose: &'p Prose<'t>,
    clause: &'p Clause,
    sentence: &'p Sentence,
    tokens: &'p [Token],
}

/// The reasons why the agent does not assert a clause. The first that applies is used.
pub(crate) const UNASSERTED: [(&str, fn(&ClauseContext<'_, '_>) -> bool); 15] = [
    ("not in English", |context| context.sentence.foreign),
    ("a question", |context| context.sentence.question || context.clause.mood == Mood::Question),
    ("conditional", |context| context.clause.mood == Mood::Conditional),
    ("attributed to someone else", |context| context.clause.mood == Mood::Attributed),
    ("an observation about something that the agent read", |context| {
        context.clause.mood == Mood::Observed
    }),
    ("only identifies a thing", |context| context.clause.mood == Mood::Relative),
    ("a wish, a requirement or a guess", |context| context.clause.mood != Mood::Asserted),
    ("quoted", |context| {
        let block = context.prose.block_of(context.sentence);
        block.is_some_and(|block| block.kind == BlockKind::Quote)
    }),
    ("part of a draft", |context| is_in_draft(context.prose, context.clause)),
    ("planned, possible or hedged", |context| {
        context.clause.tags.any(tags![MODAL, HEDGE, CONDITIONAL])
    }),
    ("about what the user did", |context| is_of_user(context.tokens)),
    ("an offer or a request", |context| is_offered(context.prose, context.tokens)),
    ("a general statement", |context| in_general(context.prose, context.sentence)),
    ("still to be done or in progress", |context| {
        is_agenda(context.prose, context.clause) || is_under_way(context.prose, context.tokens)
    }),
    ("a short remark that states no action or result", |context| is_courtesy(context.tokens)),
];

/// Returns why the agent does not assert a clause; `None` if it does.
pub(crate) fn unasserted(prose: &Prose<'_>, clause: &Clause) -> Option<&'static str> {
    let Some(sentence) = prose.sentences.get(clause.sentence) else {
        return Some("not part of a sentence");
    };
    let context =
        ClauseContext { prose, clause, sentence, tokens: prose.tokens(clause.tokens.clone()) };
    UNASSERTED.iter().find(|(_, holds)| holds(&context)).map(|(reason, _)| *reason)
}

/// The clauses that the agent asserts.
pub(crate) fn asserted<'p>(prose: &'p Prose<'_>) -> impl Iterator<Item = Span> + 'p {
    let says = |span: &Span| span.slice(prose.text).contains(|c: char| c.is_alphanumeric());
    let clauses = prose.clauses.iter().filter(|clause| unasserted(prose, clause).is_none());
    clauses.map(|clause| unmarked(prose.text, clause.span)).filter(says)
}

/// "You told me": about the user's action.
fn is_of_user(tokens: &[Token]) -> bool {
    let subject = tokens.iter().find(|t| t.tags.any(tags![AGENT, USER, BE]));
    subject.is_some_and(|t| t.has(Tags::USER))
}

/// "Refunds are issued within a week": a general statement.
fn in_general(prose: &Prose<'_>, sentence: &Sentence) -> bool {
    let tokens = prose.tokens(sentence.tokens.clone());
    tokens.iter().any(|token| prose.is(token, &sets::IN_GENERAL))
}

/// "I'm cancelling it now", "let me cancel it": not done yet.
fn is_under_way(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let at = |tag: Tags| tokens.iter().position(|token| token.has(tag));
    let gerund = |token: &Token| token.has(Tags::GERUND) || prose.word(token).ends_with("ing");
    let doing = at(Tags::AGENT).is_some_and(|agent| {
        let after = tokens.get(agent + 1..).unwrap_or_default();
        let mut words = after.iter().filter(|t| !t.tags.any(tags![ADVERB, NOW]));
        let is =
            |t: &Token| t.has(Tags::BE) || matches!(prose.word(t), "'m" | "’m" | "'re" | "’re");
        words.next().is_some_and(is) && words.next().is_some_and(gerund)
    });
    let begins = tokens.iter().take(3).any(|token| prose.is(token, &sets::LETTING));
    let glad = at(Tags::AGENT).is_some() && tokens.iter().any(|t| prose.is(t, &sets::WILLING));
    doing || begins || glad
}

/// "Hello Ada", "Thank you", "Great question": a few words none of which says that something is or
/// was done.
fn is_courtesy(tokens: &[Token]) -> bool {
    const MOST: usize = 4;
    let states = tags![
        COMPLETED,
        BE,
        HAVE,
        MODAL,
        DO,
        PASSING,
        FAILURE,
        NEGATION,
        DONE,
        SUCCESS,
        ACCOMPLISHED,
        TROUBLE
    ];
    let empty = |t: &Token| match t.kind {
        TokenKind::Word => !t.tags.any(states) && t.verb.is_none() && t.noun.is_none(),
        kind => matches!(kind, TokenKind::Symbol(_)),
    };
    let words = tokens.iter().filter(|t| t.kind == TokenKind::Word).count();
    words <= MOST && tokens.iter().all(empty)
}

/// "Let me know", "Please check", "cancel it": a request or an offer.
fn is_offered(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let mut words = tokens.iter().filter(|t| t.kind == TokenKind::Word);
    let first = words.find(|t| !t.tags.any(tags![COORDINATE, ADVERB]));
    // "Rename complete": the action, not an instruction.
    let ended = |t: &Token| prose.is(t, &sets::FINISHED) || prose.word(t).ends_with("ed");
    first.is_some_and(|t| {
        let asks = t.tags.any(tags![REQUEST, INTEND]);
        let orders = t.has(Tags::BASE) && !tokens.iter().any(ended);
        (asks || orders) && !t.tags.any(Tags::COMPLETED)
    })
}
