use serde_json::{Map, Value};

use super::accept::{is_cursor, is_key};
use super::names::{Suffix, is_other_key, suffix, without_narrowing};
use super::pattern::{Found, find};
use super::pattern::{MARKER, SecretCategory};
use super::{Redactor, replaced};

/// How often a list is searched for secrets that span several of its texts.
const PASSES: usize = 4;

/// What the name of a member says about its value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named {
    /// Nothing.
    Ordinary,
    /// A secret if it looks like one: `token`.
    Maybe,
    /// A secret whatever it looks like: `password`, `client_secret`.
    Secret,
}

/// The value without secrets: in its strings, its names, and after names of secrets.
pub(super) fn redacted(redactor: &Redactor, value: &Value) -> Value {
    walk(redactor, value, Named::Ordinary)
}

fn walk(redactor: &Redactor, value: &Value, named: Named) -> Value {
    match value {
        Value::String(text) => Value::String(string(redactor, text, named)),
        Value::Number(number) if named == Named::Secret && number.to_string().len() >= 4 => {
            Value::String(SecretCategory::Password.marker().to_owned())
        }
        Value::Array(items) => Value::Array(array(redactor, items, named)),
        Value::Object(members) => Value::Object(object(redactor, members, named)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn string(redactor: &Redactor, text: &str, named: Named) -> String {
    let path = text.starts_with('/') && named != Named::Ordinary && !text.contains([' ', '=']);
    let secret = match named {
        Named::Ordinary => false,
        Named::Maybe => is_key(text, true),
        Named::Secret => !text.trim().is_empty() && !path,
    };
    if secret && !text.starts_with(MARKER) {
        SecretCategory::Password.marker().to_owned()
    } else {
        redactor.redact(text).into_owned()
    }
}

/// Items inherit the meaning of the array's name; the item after `--password` is a password.
fn array(redactor: &Redactor, items: &[Value], named: Named) -> Vec<Value> {
    let mut before = Named::Ordinary;
    let one = |item: &Value| {
        let inherited = if before == Named::Ordinary { named } else { before };
        let flag = item.as_str().filter(|text| text.starts_with("--") && !text.contains('='));
        before = flag.map_or(Named::Ordinary, of_name);
        walk(redactor, item, if flag.is_some() { named } else { inherited })
    };
    let mut items: Vec<Value> = items.iter().map(one).collect();
    // What stood beside a secret may show only now.
    (0..PASSES).all(|_| across(&mut items));
    items
}

/// Takes out the secrets that begin in the text of one item and end in that of another, as blocks of
/// content have it: a reader takes them as one text. Whether there were any.
fn across(items: &mut [Value]) -> bool {
    let texts = || items.iter().map(|item| item.get("text").and_then(Value::as_str));
    if texts().flatten().count() < 2 {
        return false;
    }
    let joined: String = texts().flatten().collect();
    let mut end = 0;
    let ends: Vec<usize> = texts()
        .map(|text| {
            end += text.map_or(0, str::len);
            end
        })
        .collect();
    let within = |found: &Found| {
        let item = ends.partition_point(|end| *end <= found.start);
        ends.get(item).is_none_or(|end| found.end <= *end)
    };
    let found: Vec<Found> = find(&joined).into_iter().filter(|found| !within(found)).collect();
    let mut begin = 0;
    for (item, end) in items.iter_mut().zip(&ends) {
        let own: Vec<Found> = found
            .iter()
            .filter(|found| found.start < *end && found.end > begin)
            .map(|found| Found {
                start: found.start.max(begin) - begin,
                end: found.end.min(*end) - begin,
                row: found.row,
            })
            .collect();
        begin = *end;
        if let (Some(Value::String(text)), false) = (item.get_mut("text"), own.is_empty()) {
            *text = String::from_utf8_lossy(&replaced(text.as_bytes(), &own)).into_owned();
        }
    }
    !found.is_empty()
}

/// In `{"password": {"value": …}}`, the value inherits the name of the object.
fn object(redactor: &Redactor, members: &Map<String, Value>, named: Named) -> Map<String, Value> {
    // In `{"name": "DB_PASSWORD", "value": …}`, from lists of variables, headers or form fields,
    // the name applies to the value.
    let name = ["name", "key"].iter().find_map(|key| members.get(*key)?.as_str());
    let pair = match name.map_or(Named::Ordinary, of_name) {
        Named::Ordinary => named,
        pair => pair,
    };
    let mut out = Map::new();
    for (key, value) in members {
        let named = match key.as_str() {
            "value" => pair,
            key => of_name(key),
        };
        let mut key = redactor.redact(key).into_owned();
        while out.contains_key(&key) {
            // Two names that were both secrets: keep both members.
            key.push('\'');
        }
        out.insert(key, walk(redactor, value, named));
    }
    out
}

fn of_name(name: &str) -> Named {
    const SECRET: [&str; 19] = [
        "password",
        "passwd",
        "passphrase",
        "passcode",
        "pwd",
        "secret",
        "apikey",
        "secretkey",
        "accesskey",
        "privatekey",
        "accesstoken",
        "authtoken",
        "refreshtoken",
        "sessiontoken",
        "bearertoken",
        "authorization",
        "credentials",
        "passwort",
        "kennwort",
    ];
    let whole = name;
    let name = without_narrowing(name);
    let letters: String =
        name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    if SECRET.iter().any(|word| letters.ends_with(word)) {
        return Named::Secret;
    }
    if name.rsplit(['_', '-']).next().is_some_and(|last| last.eq_ignore_ascii_case("pass")) {
        return Named::Maybe;
    }
    // `APP_KEY_LIVE` names a secret; `sort_key` and `public_key` do not.
    if let Some(before) = letters.strip_suffix("key").filter(|_| whole.len() > name.len()) {
        let none = is_other_key(before);
        return if none { Named::Ordinary } else { Named::Maybe };
    }
    let other = SECRET.iter().any(|word| letters.contains(word)) && suffix(name) == Suffix::Other;
    match letters.strip_suffix("token") {
        Some(before) if !is_cursor(before) => Named::Maybe,
        _ if other => Named::Maybe,
        _ => Named::Ordinary,
    }
}
