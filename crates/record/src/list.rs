use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// How many entries a list in a JSON result has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLength {
    /// The members that lead to the list, joined by dots; empty where the result itself is it.
    pub path: String,
    /// The number of its entries.
    pub length: u64,
}

/// The most lists that are kept of one result.
const MOST: usize = 12;
/// How deep lists are looked for.
const DEEPEST: usize = 4;

/// The lists of a result that is one JSON value; lists within lists aside. Reads without building
/// the value.
pub(crate) fn lengths(text: &str) -> Vec<ListLength> {
    let text = text.trim();
    if !text.starts_with(['{', '[']) {
        return Vec::new();
    }
    let Ok(Shape(found)) = serde_json::from_str(text) else { return Vec::new() };
    found
}

/// The lists of a value.
struct Shape(Vec<ListLength>);

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Lists)
    }
}

struct Lists;

impl<'de> Visitor<'de> for Lists {
    type Value = Shape;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut length = 0;
        while items.next_element::<IgnoredAny>()?.is_some() {
            length += 1;
        }
        Ok(Shape(vec![ListLength { path: String::new(), length }]))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Shape, A::Error> {
        let mut found = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let Shape(inner) = members.next_value()?;
            let deep = |list: &ListLength| list.path.matches('.').count() + 1 < DEEPEST;
            for list in inner.into_iter().filter(deep) {
                let path = match list.path.as_str() {
                    "" => name.clone(),
                    rest => format!("{name}.{rest}"),
                };
                if found.len() < MOST {
                    found.push(ListLength { path, length: list.length });
                }
            }
        }
        Ok(Shape(found))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }

    fn visit_str<E>(self, _: &str) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }

    fn visit_unit<E>(self) -> Result<Shape, E> {
        Ok(Shape(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_counted() {
        for (text, expected) in [
            ("[1, 2, [3, 4]]", " 3"),
            (r#"{"items": [{"tags": [1]}, {}], "page": {"ids": []}}"#, "items 2; page.ids 0"),
            (r#"{"total": 5}"#, ""),
            ("no JSON", ""),
            ("[1, 2", ""),
            ("", ""),
        ] {
            let found = lengths(text);
            let shown = found.iter().map(|l| format!("{} {}", l.path, l.length));
            assert_eq!(shown.collect::<Vec<_>>().join("; "), expected, "{text}");
        }
    }
}
