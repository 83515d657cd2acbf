use std::borrow::Cow;
use std::path::Path;

use memchr::memmem;

/// The home folder of a user, whose name readers of a result need not know.
#[derive(Debug, Clone)]
pub(super) struct Home(String);

impl Home {
    /// `None` for a folder that cannot be a home: a relative one, or the root.
    pub(super) fn new(folder: &Path) -> Option<Self> {
        let path = folder.to_str()?.trim_end_matches('/');
        (folder.is_absolute() && !path.is_empty()).then(|| Self(path.to_owned()))
    }

    /// Replaces the folder with `~`: `/home/ada/x` becomes `~/x`; `/home/adam` and `/mnt/home/ada`
    /// stay.
    pub(super) fn shortened<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut out = String::new();
        let mut copied = 0;
        for at in memmem::find_iter(text.as_bytes(), &self.0) {
            let end = at + self.0.len();
            let name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
            let before = text.get(..at).and_then(|t| t.chars().next_back());
            let mut after = text.get(end..).unwrap_or_default().chars();
            let goes_on = match after.next() {
                // A full stop ends a sentence, or continues another folder's name.
                Some('.') => after.next().is_some_and(name),
                next => next.is_some_and(name),
            };
            if at < copied || goes_on || before.is_some_and(|c| name(c) || c == '/') {
                continue;
            }
            out.push_str(text.get(copied..at).unwrap_or_default());
            out.push('~');
            copied = end;
        }
        if copied == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(text.get(copied..).unwrap_or_default());
        Cow::Owned(out)
    }
}
