//! Keeps long lists of words out of code: they are data, which anyone can extend.

use anyhow::Result;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{Expr, ExprArray, ExprLit, ItemMod, Lit, Macro, Token};

use super::complaint::Complaint;
use super::house::House;

/// The code that reads language.
const READERS: [&str; 2] = ["crates/rules/src/", "crates/record/src/"];

/// The maximum number of words in a list in such code.
const MOST: usize = 6;

pub(super) fn check(house: &House) -> Result<Vec<Complaint>> {
    let mut complaints = Vec::new();
    for (path, text) in house.texts() {
        if !path.ends_with(".rs") || !READERS.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        // What is not Rust fails to compile.
        let Ok(file) = syn::parse_file(text) else { continue };
        let mut lists = Lists::default();
        lists.visit_file(&file);
        complaints.extend(lists.long.into_iter().map(|(line, count)| {
            let what = format!("a list of {count} words in code, {MOST} are the most");
            Complaint::new(path, line, what, "move it to the crate's `lexicon/`")
        }));
    }
    Ok(complaints)
}

/// The line and the length of each long list.
#[derive(Default)]
struct Lists {
    long: Vec<(usize, usize)>,
}

impl Lists {
    fn add<'e>(&mut self, line: usize, items: impl Iterator<Item = &'e Expr>) {
        let words: Option<Vec<bool>> = items.map(|item| text_of(item).map(is_word)).collect();
        let count = words.map_or(0, |words| if words.contains(&false) { 0 } else { words.len() });
        if count > MOST {
            self.long.push((line, count));
        }
    }
}

impl<'f> Visit<'f> for Lists {
    fn visit_item_mod(&mut self, module: &'f ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_array(&mut self, array: &'f ExprArray) {
        self.add(array.span().start().line, array.elems.iter());
        visit::visit_expr_array(self, array);
    }

    fn visit_macro(&mut self, called: &'f Macro) {
        if called.path.is_ident("words") {
            let parse = Punctuated::<Expr, Token![,]>::parse_terminated;
            if let Ok(items) = called.parse_body_with(parse) {
                self.add(called.span().start().line, items.iter());
            }
        }
        visit::visit_macro(self, called);
    }
}

fn text_of(item: &Expr) -> Option<String> {
    match item {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
        _ => None,
    }
}

/// Whether a text is a word, a name or several words, and not a sign.
fn is_word(text: String) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '\'' | ' ');
    text.chars().all(plain) && text.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_of_words_are_found() {
        let seven = r#""a", "b", "c", "d", "e", "f", "g""#;
        for (text, found) in [
            (format!("const A: [&str; 7] = [{seven}];"), 1),
            (format!("fn f() {{ g(words![{seven}]); }}"), 1),
            (format!("mod tests {{ const A: [&str; 7] = [{seven}]; }}"), 0),
            ("const A: [&str; 2] = [\"a\", \"b\"];".to_owned(), 0),
            (format!("const A: [&str; 8] = [{seven}, \"{{\"];"), 0),
            ("const A: [u8; 7] = [1, 2, 3, 4, 5, 6, 7];".to_owned(), 0),
        ] {
            let mut lists = Lists::default();
            lists.visit_file(&syn::parse_file(&text).unwrap());
            assert_eq!(lists.long.len(), found, "{text}");
        }
    }
}
