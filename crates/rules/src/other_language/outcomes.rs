use counterfoil_model::{ClaimKind, Family};

use crate::action::objects_in;
use crate::outcome::OutcomeClaim;
use crate::prose::{
    Action, BlockKind, Clause, Forms, Language, Mood, Prose, Tags, Token, TokenKind, Voice,
};

/// The claim that a check came out well, or ran, that a clause makes.
pub(crate) fn outcome_claim_in(
    prose: &Prose<'_>,
    clause: &Clause,
    turn: usize,
) -> Option<OutcomeClaim> {
    let kind = prose.sentences.get(clause.sentence).and_then(|s| prose.block_of(s)).map(|b| b.kind);
    let described = matches!(
        kind,
        Some(
            BlockKind::Cell { .. }
                | BlockKind::Quote
                | BlockKind::Field
                | BlockKind::Heading
                | BlockKind::Item { ticked: Some(false) }
        )
    );
    if clause.mood != Mood::Asserted || described {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let language = prose.language_of(clause);
    let passed = passed(prose, tokens, before(prose, clause), language)
        .filter(|_| !is_limited(prose, clause, tokens));
    let ran = || ran(clause, tokens);
    let (family, ran) = match passed {
        Some(family) => (family, false),
        None => (ran()?, true),
    };
    if follows_agenda(prose, clause) {
        return None;
    }
    let named =
        |t: &Token| matches!(t.kind, TokenKind::Path | TokenKind::Code | TokenKind::Identifier);
    let all = tokens.iter().any(|t| t.is_form(Forms::ALL));
    Some(OutcomeClaim {
        claim: prose.claim(
            clause,
            ClaimKind::Outcome(family),
            objects_in(prose, clause.tokens.clone()),
            turn,
        ),
        family,
        singular: family == Family::Test && !all && !is_plural(prose, tokens),
        tabular: false,
        discloses: false,
        mixed: false,
        narrowed: tokens.iter().any(named),
        elsewhere: tokens
            .iter()
            .any(|t| matches!(prose.word(t), "CI" | "pipeline" | "Pipeline" | "GitHub" | "流水线")),
        ran,
        proves: false,
        named: None,
        general: false,
        partly: false,
        number: None,
        first: false,
        dated: false,
        unwarned: false,
        check: None,
        language,
    })
}

/// Whether a text says that a check came out well, as a user may who ran it.
pub(crate) fn tells_outcome(text: &str) -> bool {
    let prose = Prose::read(text);
    prose.clauses.iter().any(|clause| {
        let tokens = prose.tokens(clause.tokens.clone());
        let language = prose.language_of(clause);
        language != Language::English && passed(&prose, tokens, &[], language).is_some()
    })
}

/// The check that the words say came out well.
fn passed(
    prose: &Prose<'_>,
    tokens: &[Token],
    before: &[Token],
    language: Language,
) -> Option<Family> {
    let has = |tags: Tags| tokens.iter().any(|t| t.has(tags));
    let named = |tokens: &[Token]| tokens.iter().filter(|t| !t.quoted).find_map(check_named);
    // "I ran the tests, and all of them passed."
    let all = tokens.iter().any(|t| t.is_form(Forms::ALL));
    let family = named(tokens).or_else(|| named(before).filter(|_| all))?;
    let clear = clears(prose, tokens);
    let doubted = has(Tags::MODAL.or(Tags::EARLIER).or(Tags::HEDGE).or(Tags::INTEND));
    if doubted || is_fraction(prose, tokens) {
        return None;
    }
    let against = tokens.iter().any(|t| {
        t.has(Tags::NEGATION.or(Tags::FAILURE).or(Tags::TROUBLE))
            || t.is_form(Forms::ENDED_NOT.or(Forms::NOT_DONE))
    });
    let plain = has(Tags::PASSING) && !against && is_finished(tokens, language);
    let described = tokens
        .windows(2)
        .any(|w| matches!(w, [a, b] if a.has(Tags::PASSING) && b.is_form(Forms::ATTRIBUTIVE)));
    ((plain && !described) || clear).then_some(family)
}

/// The words of the clause before, in the same sentence.
fn before<'p>(prose: &'p Prose<'_>, clause: &Clause) -> &'p [Token] {
    let start =
        prose.sentences.get(clause.sentence).map_or(clause.tokens.start, |s| s.tokens.start);
    prose.tokens(start..clause.tokens.start)
}

/// Whether the word that says so ends its clause, where verbs have endings that tell: not in
/// "成功した場合", "통과하는지".
fn is_finished(tokens: &[Token], language: Language) -> bool {
    if !matches!(language, Language::Japanese | Language::Korean) {
        return true;
    }
    let ends = Forms::ENDED.or(Forms::ENDED_PASSIVE).or(Forms::ASPECT);
    tokens.iter().enumerate().any(|(i, t)| {
        let next = tokens.get(i + 1..(i + 3).min(tokens.len())).unwrap_or_default();
        t.has(Tags::PASSING) && next.iter().any(|t| t.is_form(ends))
    })
}

/// The check that a word names.
fn check_named(token: &Token) -> Option<Family> {
    let checked = |f: &Family| matches!(f, Family::Test | Family::Build | Family::Lint);
    let verb = match token.verb {
        Some(Action::Of(family)) => Some(family),
        _ => None,
    };
    token.noun.filter(checked).or(verb.filter(checked))
}

/// "keine Fehler", "没有错误": nothing but the absence of trouble is negated.
fn clears(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let negations = tokens
        .iter()
        .filter(|t| {
            t.has(Tags::NEGATION)
                || t.is_form(Forms::ANY.or(Forms::NOT_DONE).or(Forms::ENDED_NOT))
                || prose.word(t) == "0"
        })
        .count();
    let troubles = tokens.iter().filter(|t| t.has(Tags::TROUBLE)).count();
    let failed = tokens.iter().any(|t| t.has(Tags::FAILURE) && !t.has(Tags::TROUBLE));
    let counted = tokens.windows(2).any(|w| {
        matches!(w, [n, t] if n.kind == TokenKind::Number && prose.word(n) != "0"
            && t.has(Tags::TROUBLE))
    });
    !counted && troubles > 0 && (1..=2).contains(&negations) && !failed
}

/// "I ran the tests": the check.
fn ran(clause: &Clause, tokens: &[Token]) -> Option<Family> {
    let own = clause.predicates.iter().any(|p| {
        !p.negated
            && !p.earlier
            && matches!(p.voice, Voice::Active | Voice::Bare)
            && matches!(p.action, Action::Of(Family::Run | Family::Test))
    });
    let named = tokens.iter().filter(|t| !t.quoted).find_map(check_named);
    named.filter(|&family| own && matches!(family, Family::Test | Family::Lint))
}

/// "todas excepto una", "pero": something is left out, here or behind.
fn is_limited(prose: &Prose<'_>, clause: &Clause, tokens: &[Token]) -> bool {
    let end = prose.sentences.get(clause.sentence).map_or(clause.tokens.end, |s| s.tokens.end);
    let rest = prose.tokens(clause.tokens.end..end);
    let limits = |t: &Token| t.is_form(Forms::EXCEPT) || t.has(Tags::ADVERSATIVE);
    tokens.iter().chain(rest).any(limits)
}

/// "9 von 10", "3/5": not all of them.
fn is_fraction(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let number = |t: &Token| t.kind == TokenKind::Number;
    let two = tokens.windows(3).any(|w| {
        matches!(w, [a, of, b] if number(a) && number(b)
            && (of.has(Tags::PREPOSITION) || of.is_form(Forms::BY))
            && prose.word(a) != prose.word(b))
    });
    two || tokens.iter().any(|t| {
        prose.word(t).split_once('/').is_some_and(|(a, b)| {
            let digits = |s: &str| !s.is_empty() && s.bytes().all(|b| b.is_ascii_digit());
            digits(a) && digits(b) && a != b
        })
    })
}

/// Whether the noun is a plural, where the language writes one.
fn is_plural(prose: &Prose<'_>, tokens: &[Token]) -> bool {
    let noun = tokens.iter().find(|t| t.noun == Some(Family::Test));
    noun.is_some_and(|t| prose.word(t).ends_with('s'))
}

/// Whether the sentence is an item under a heading such as "Objetivos", or stands behind a label such
/// as "Vor dem Release:".
fn follows_agenda(prose: &Prose<'_>, clause: &Clause) -> bool {
    let whole = prose.sentences.get(clause.sentence).map(|s| prose.tokens(s.tokens.clone()));
    let label = whole.and_then(|tokens| {
        let colon = tokens.iter().take(6).position(|t| t.is(':') || t.is('：'))?;
        tokens.get(..colon)
    });
    let first = |t: &Token| prose.is(t, words!["vor", "avant", "antes"]);
    if label.is_some_and(|label| {
        label.first().is_some_and(first) || label.iter().any(|t| t.has(Tags::AGENDA))
    }) {
        return true;
    }
    let item = |i: usize| {
        prose.sentences.get(i).and_then(|s| prose.block_of(s)).is_some_and(|b| b.kind.is_listed())
    };
    let mut before = (0..clause.sentence).rev();
    item(clause.sentence)
        && before
            .find(|&i| !item(i))
            .and_then(|i| prose.sentences.get(i))
            .is_some_and(|s| prose.tokens(s.tokens.clone()).iter().any(|t| t.has(Tags::AGENDA)))
}
