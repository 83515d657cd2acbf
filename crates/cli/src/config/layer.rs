use toml::{Table, Value};

/// The values set by one file or variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layer {
    /// The name of the file or variable.
    pub(super) name: String,
    /// Its values.
    pub(super) says: Table,
}

/// Merges all layers into one table; the first one is the nearest and wins. Tables are merged key
/// by key, and all other values are replaced.
pub(super) fn merged(layers: &[Layer]) -> Table {
    let mut whole = Table::new();
    for layer in layers {
        fill(&mut whole, &layer.says);
    }
    whole
}

fn fill(whole: &mut Table, other: &Table) {
    for (key, value) in other {
        match (whole.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(other)) => fill(inner, other),
            (Some(_), _) => {}
            (None, _) => {
                whole.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Returns the value at a path.
pub(super) fn at<'t>(table: &'t Table, path: &[&str]) -> Option<&'t Value> {
    let (first, rest) = path.split_first()?;
    let value = table.get(*first)?;
    if rest.is_empty() { Some(value) } else { at(value.as_table()?, rest) }
}

/// Creates a table with a single value.
pub(super) fn only(path: &[&str], value: Value) -> Table {
    let mut value = value;
    for key in path.iter().skip(1).rev() {
        value = Value::Table(Table::from_iter([((*key).to_owned(), value)]));
    }
    path.first().map(|key| ((*key).to_owned(), value)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_wins_key_by_key() {
        let layer = |text: &str| Layer { name: String::new(), says: text.parse().unwrap() };
        let layers = [
            layer("[a]\nx = 1\nlist = [1]\n[a.b]\ny = 1"),
            layer("[a]\nx = 2\nz = 2\nlist = [2, 3]\n[a.b]\ny = 2\nw = 2"),
        ];
        let expected: Table = "[a]\nx = 1\nz = 2\nlist = [1]\n[a.b]\ny = 1\nw = 2".parse().unwrap();
        assert_eq!(merged(&layers), expected);
    }

    #[test]
    fn paths_lead_to_what_was_put_there() {
        let table = only(&["a", "b", "c"], Value::Integer(1));
        assert_eq!(at(&table, &["a", "b", "c"]), Some(&Value::Integer(1)));
        assert_eq!(at(&table, &["a", "x"]), None);
    }
}
