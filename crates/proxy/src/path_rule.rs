use hyper::Method;

/// A path that an operator allows: `GET /v1/files/*`. `*` matches one segment, `**` all that
/// follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PathRule {
    method: String,
    parts: Vec<String>,
}

impl PathRule {
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (method, path) = text.trim().split_once(' ')?;
        let parts = parts(path.trim())?;
        let known = !method.is_empty() && method.bytes().all(|letter| letter.is_ascii_uppercase());
        let parts: Vec<String> = parts.into_iter().map(str::to_owned).collect();
        (known && path.trim().starts_with('/')).then(|| Self { method: method.to_owned(), parts })
    }

    pub(crate) fn allows(&self, method: &Method, path: &[&str]) -> bool {
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        self.method == method.as_str() && matches(&parts, path)
    }

    /// Whether requests there are answered later, so that their cost is not counted.
    pub(crate) fn is_batch(&self) -> bool {
        self.parts.iter().any(|part| part == "batches" || part == "**") && self.method == "POST"
    }
}

/// The segments of a path, if all servers read it alike; `None` if it contains dot segments,
/// escapes, or characters that some servers remove.
pub(crate) fn parts(path: &str) -> Option<Vec<&str>> {
    let letter =
        |letter: char| letter.is_ascii_alphanumeric() || "-._~:@!$'()*+,=".contains(letter);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let plain = |part: &&str| ![".", ".."].contains(part) && part.chars().all(letter);
    parts.iter().all(plain).then_some(parts)
}

pub(crate) fn matches(rule: &[&str], path: &[&str]) -> bool {
    match (rule.split_first(), path.split_first()) {
        (None, None) => true,
        (Some((&"**", _)), Some(_)) => true,
        (Some((one, rule)), Some((part, path))) => {
            (*one == "*" || one == part) && matches(rule, path)
        }
        _ => false,
    }
}
