use std::path::Path;

use serde_json::Value;

use crate::terminal::Paint;

/// The result of a verification, part by part.
#[derive(Default)]
pub(super) struct Answer {
    parts: Vec<Part>,
    pub(super) json: serde_json::Map<String, Value>,
}

struct Part {
    title: String,
    rows: Vec<(Mark, String)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Checked and correct.
    Holds,
    /// Checked and wrong.
    Broken,
    /// Not checked, because something needed was not given.
    Open,
}

impl Answer {
    pub(super) fn add(&mut self, path: &Path, name: &str, rows: Vec<(Mark, String)>, json: Value) {
        self.parts.push(Part { title: format!("{name}  {}", path.display()), rows });
        self.json.insert(name.to_owned(), json);
    }

    pub(super) fn sound(&self) -> bool {
        self.parts.iter().flat_map(|part| &part.rows).all(|(mark, _)| *mark != Mark::Broken)
    }

    pub(super) fn text(&self, paint: Paint) -> String {
        let mut text = String::new();
        for part in &self.parts {
            text += &format!("{}\n", paint.bold(&part.title));
            for (mark, row) in &part.rows {
                let mark = match mark {
                    Mark::Holds => paint.code("holds "),
                    Mark::Broken => paint.error("BROKEN"),
                    Mark::Open => "open  ".to_owned(),
                };
                text += &format!("  {mark}  {row}\n");
            }
        }
        text
    }
}
