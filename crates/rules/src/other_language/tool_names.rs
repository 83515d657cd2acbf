use crate::facts::Families;
use crate::prose::{Action, Language, Tags, Vocabulary, words_in};

/// The families that a tool's name or description names in another language than English:
/// `cancelar_pedido`, `发送邮件`.
pub(crate) fn families_of(words: &[String]) -> Families {
    Language::OTHERS
        .into_iter()
        .filter_map(Vocabulary::get)
        .map(|vocabulary| {
            let mut families = Families::NONE;
            for entry in words.iter().flat_map(|word| words_in(vocabulary, word)) {
                let verb = entry.verb.filter(|_| entry.tags.any(Tags::BASE));
                let family = match verb {
                    Some(Action::Of(family)) => Some(family),
                    Some(_) => None,
                    None => entry.noun,
                };
                families = family.map_or(families, |family| families.with(family));
            }
            families
        })
        .find(|families| !families.is_empty())
        .unwrap_or_default()
}
