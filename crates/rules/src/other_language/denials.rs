use counterfoil_model::Family;

use crate::prose::{Action, Clause, Forms, Mood, Prose, Subject, Tags, Token, TokenKind, Voice};

/// What a clause says was not done at all: `Some(Family::Run)` of commands, `Some(Family::Update)`
/// of changes. Only where every word of the clause is known: an unknown one may narrow it.
pub(crate) fn denies_everything(prose: &Prose<'_>, clause: &Clause) -> Option<Family> {
    if clause.mood != Mood::Asserted {
        return None;
    }
    let tokens = prose.tokens(clause.tokens.clone());
    let any = |form: Forms| tokens.iter().any(|t| t.is_form(form));
    let denied = clause.predicates.iter().find(|p| {
        p.negated
            && !p.earlier
            && matches!((p.voice, p.subject), (Voice::Active, Subject::Agent) | (Voice::Bare, _))
    })?;
    let everything = any(Forms::ANY) && !any(Forms::OTHER);
    let narrowed = tokens.iter().any(is_unknown) || tokens.iter().any(|t| t.quoted);
    if !everything || narrowed {
        return None;
    }
    let subject = || any(Forms::EVERYTHING) || !tokens.iter().any(is_noun);
    match denied.action {
        Action::Of(Family::Run) => subject().then_some(Family::Run),
        Action::Of(Family::Update | Family::Create | Family::Delete) | Action::Generic => {
            subject().then_some(Family::Update)
        }
        _ => None,
    }
}

/// A word that no group of the lexicon explains, or a name.
fn is_unknown(token: &Token) -> bool {
    match token.kind {
        TokenKind::Symbol(_) => false,
        TokenKind::Word => {
            token.tags.is_empty()
                && token.forms == Forms::NONE
                && token.verb.is_none()
                && token.noun.is_none()
        }
        _ => true,
    }
}

fn is_noun(token: &Token) -> bool {
    token.noun.is_some_and(|f| f != Family::Update)
        || token.is_form(Forms::RECORD.or(Forms::GOODS))
        || token.has(Tags::TEXT_NOUN.or(Tags::TOOL_NOUN))
}
