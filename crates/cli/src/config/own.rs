//! Edits the user's own configuration file on behalf of a command.

use std::path::PathBuf;

use counterfoil_hooks::{SettingsChange, SettingsEdit};
use toml_edit::{DocumentMut, Item, Table, TomlError, Value};

use super::place::{Files, NAME, Place, user_file, user_folder};
use crate::exit::Complaint;
use crate::settings_file::{apply, read};

/// Sets these members of `[judge]` in the user's own file, which is created if missing. The rest of
/// the file is kept. A dry run only shows what would change.
pub(crate) fn set_judge(
    place: &Place,
    members: &[(&str, Value)],
    dry_run: bool,
) -> anyhow::Result<()> {
    let path = own_file(place)?;
    let before = read(&path)?;
    let shown = path.display();
    let edit = with_judge(before.as_deref().unwrap_or_default(), members).map_err(|why| {
        Complaint::new(format!("{shown}: {why}")).help("correct the file, then try again")
    })?;
    apply(&path, before.as_deref(), &edit, dry_run)
}

fn own_file(place: &Place) -> Result<PathBuf, Complaint> {
    let none = || {
        Complaint::new("there is no user configuration file to write to")
            .help("specify one with `--config FILE`, or set HOME")
    };
    let own = user_file(place).or_else(|| user_folder().map(|folder| folder.join(NAME)));
    own.filter(|_| place.files != Files::Nowhere).ok_or_else(none)
}

fn with_judge(text: &str, members: &[(&str, Value)]) -> Result<SettingsEdit, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: TomlError| error.to_string())?;
    let judge = document.entry("judge").or_insert_with(|| Item::Table(Table::new()));
    let judge = judge.as_table_like_mut().ok_or("`judge` is not a table")?;
    let mut changes = Vec::new();
    for (name, value) in members {
        let entry = format!("judge.{name} = {}", value.to_string().trim());
        let before = judge.get(name).and_then(Item::as_value).map(|v| v.to_string());
        match before.map(|before| before.trim().to_owned()) {
            Some(before) if before == value.to_string().trim() => continue,
            Some(from) => changes.push(SettingsChange::Updated { entry, from }),
            None => changes.push(SettingsChange::Added { entry }),
        }
        judge.insert(name, Item::Value(value.clone()));
    }
    Ok(SettingsEdit { text: Some(document.to_string()), changes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_the_file_stays() {
        let members = [("hooks", Value::from(true)), ("name", Value::from("claude"))];
        let text = "# mine\n[judge]\nname = \"codex\" # for now\n\n[hooks]\nstop = \"warn\"\n";
        let edit = with_judge(text, &members).unwrap();
        let after = edit.text.unwrap();
        assert!(after.starts_with("# mine\n[judge]\nname = \"claude\""), "{after}");
        assert!(after.contains("hooks = true\n"), "{after}");
        assert!(after.ends_with("\n[hooks]\nstop = \"warn\"\n"), "{after}");
        assert_eq!(edit.changes.len(), 2);
        assert!(with_judge(&after, &members).unwrap().changes.is_empty());
        let made = with_judge("", &members).unwrap().text.unwrap();
        assert_eq!(made, "[judge]\nhooks = true\nname = \"claude\"\n");
        assert!(with_judge("judge = 1", &members).is_err());
        assert!(with_judge("judge = [", &members).is_err());
    }
}
