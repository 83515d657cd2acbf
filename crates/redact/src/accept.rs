//! Checks that a match must pass in addition to its pattern, so that ordinary text stays unchanged.
//!
//! Each check returns the length of the secret in bytes, from its first byte on.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::names::{Suffix, is_other_key, suffix};
use super::pattern::{Hit, MARKER, is_edge};
use super::worth::of_login;

/// The format alone is nearly proof: only fillers such as `xxxx` are rejected.
pub(super) fn named(hit: &Hit<'_>) -> Option<usize> {
    let secret = hit.secret;
    (entropy(secret) >= 2.8 && !is_filler(secret)).then_some(secret.len())
}

/// As [`named`], if it also mixes letters and digits.
pub(super) fn random(hit: &Hit<'_>) -> Option<usize> {
    is_random(hit.secret).then_some(hit.secret.len())
}

/// As [`random`]; inside a word only if it also mixes upper and lower case.
pub(super) fn glued(hit: &Hit<'_>) -> Option<usize> {
    let edge = is_edge(hit.before) || is_mixed(hit.secret);
    (edge && is_random(hit.secret)).then_some(hit.secret.len())
}

/// A token after the number of a bot.
pub(super) fn bot_token(hit: &Hit<'_>) -> Option<usize> {
    let digits = hit.before.bytes().rev().take_while(u8::is_ascii_digit).take(6).count();
    (digits == 6 && entropy(hit.secret) >= 3.0).then_some(hit.secret.len())
}

/// Cookies, up to the last one whose value looks random.
pub(super) fn cookie(hit: &Hit<'_>) -> Option<usize> {
    let mut at = 0;
    let mut last = None;
    for pair in hit.secret.split_inclusive(';') {
        let (_, value) = pair.split_once('=').unwrap_or_default();
        let value = value.trim_end_matches(';').trim();
        if value.len() >= 16 && is_random(value) && !value.contains(' ') {
            last = Some(at + pair.trim_end_matches(';').trim_end().len());
        }
        at += pair.len();
    }
    last
}

/// `user:password` in base64.
pub(super) fn encoded_pair(hit: &Hit<'_>) -> Option<usize> {
    let decoded = STANDARD_NO_PAD.decode(hit.secret.trim_end_matches('=')).ok()?;
    let pair = std::str::from_utf8(&decoded).ok()?;
    let fits = pair.contains(':') && !pair.contains(char::is_control);
    fits.then_some(hit.secret.len())
}

/// A password in the arguments of a program.
pub(super) fn of_command(hit: &Hit<'_>) -> Option<usize> {
    let secret = hit.secret;
    let fits = !is_template(secret) && !is_repeated(secret) && !is_path(secret);
    fits.then_some(secret.len())
}

/// A value assigned to a name in capitals (`STRIPE_KEY=value`), or to `key` in a URL
/// (`?key=value`).
pub(super) fn setting(hit: &Hit<'_>) -> Option<usize> {
    let name = hit.before.len()
        - hit.before.trim_end_matches(|c: char| c.is_ascii_uppercase() || c == '_').len();
    let name = hit.before.get(hit.before.len() - name..).unwrap_or_default();
    let after = hit.lead.split('=').next().unwrap_or_default().get(4..).unwrap_or_default();
    let fits = if hit.lead.starts_with('_') {
        name.len() >= 2
            && !is_other_key(&name.to_ascii_lowercase())
            && suffix(after) != Suffix::About
    } else {
        true
    };
    (fits && is_key(hit.secret, false)).then_some(hit.secret.len())
}

/// The value of an authorization header. After `bearer` alone, only if it looks random.
pub(super) fn header(hit: &Hit<'_>) -> Option<usize> {
    let secret = hit.secret.trim_end_matches(['.', '-']);
    let sure = starts_with_ignoring_case(hit.lead, "authorization");
    let scheme = hit.lead.trim_end().ends_with(|c: char| c.is_ascii_alphabetic());
    let accepted = match (sure, scheme) {
        (true, true) => !is_template(secret) && !is_filler(secret),
        (true, false) => secret.len() >= 12 && is_key(secret, true),
        (false, _) => is_random(secret),
    };
    accepted.then_some(secret.len())
}

/// A JSON web token, whose first part decodes to a JSON object with an algorithm.
pub(super) fn jwt(hit: &Hit<'_>) -> Option<usize> {
    let (first, _) = hit.secret.split_once('.')?;
    let decoded = URL_SAFE_NO_PAD.decode(first).ok()?;
    let object: serde_json::Value = serde_json::from_slice(&decoded).ok()?;
    object.get("alg").is_some().then_some(hit.secret.len())
}

/// A signature in a URL, or a key in a connection string.
pub(super) fn signature(hit: &Hit<'_>) -> Option<usize> {
    let parameter = hit.before.ends_with(['?', '&', ';', '"', '\'', ' ']) || hit.before.is_empty();
    let fits = !starts_with_ignoring_case(hit.lead, "sig=") || parameter;
    (fits && is_random(hit.secret)).then_some(hit.secret.len())
}

/// The password in `scheme://user:password@host`, or a token alone before the host.
pub(super) fn in_address(hit: &Hit<'_>) -> Option<usize> {
    let secret = hit.secret;
    if hit.lead == "://" {
        let web = hit.before.ends_with("http") || hit.before.ends_with("https");
        return (web && is_key(secret, true)).then_some(secret.len());
    }
    if is_template(secret) || is_repeated(secret) || hit.lead.ends_with(MARKER) {
        return None;
    }
    // The last `@` before a path ends the user information: `user:p@ss@host`.
    let authority = hit.rest.find(|c: char| c.is_whitespace() || "/?#\"'<>".contains(c));
    let authority = hit.rest.get(..authority.unwrap_or(hit.rest.len())).unwrap_or_default();
    let length = authority.rfind('@').map_or(secret.len(), |last| last.max(secret.len()));
    // In `p@ss/word@host`, the text after the first `@` is not a host.
    let after = hit.rest.get(length + 1..).unwrap_or_default();
    let end = after.find(|c: char| c == '@' || c.is_whitespace() || "\"'<>".contains(c));
    let more = end.filter(|end| after.get(*end..).is_some_and(|rest| rest.starts_with('@')));
    let piece = more.and_then(|end| after.get(..end)).filter(|piece| piece.len() < 256);
    let no_host = |piece: &&str| {
        piece.split_once('/').is_some_and(|(host, _)| !host.contains(['.', ':', '-']))
    };
    Some(length + piece.filter(no_host).map_or(0, |piece| piece.len() + 1))
}

/// A key from its first line to its last; if the last is missing, to the end of the key's lines.
pub(super) fn key_block(hit: &Hit<'_>) -> Option<usize> {
    /// Longer than any key, in bytes.
    const LONGEST: usize = 64 * 1024;
    if !hit.secret.starts_with('-') {
        return Some(hit.secret.len());
    }
    let body = hit.rest.get(hit.secret.len()..)?;
    let body = body.get(..body.floor_char_boundary(LONGEST))?;
    let body = match body.find("BEGIN ") {
        Some(next) => {
            let head = body.get(..next)?;
            head.strip_suffix("-----").or_else(|| head.strip_suffix("---- ")).unwrap_or(head)
        }
        None => body,
    };
    let end = body.find("-----END ").or_else(|| body.find("---- END "));
    let Some(end) = end else {
        let length = key_lines(body)?;
        return Some(hit.secret.len() + length);
    };
    let (key, last) = body.split_at_checked(end)?;
    if longest_base64(key) < 32 {
        return None;
    }
    let dashes = last.get(9..)?.find("----").map_or(9, |at| at + 9);
    let closing = last.get(dashes..)?;
    let closing = closing.len() - closing.trim_start_matches('-').len();
    Some(hit.secret.len() + end + dashes + closing)
}

/// A value assigned to a name like `password` or `api_key`.
pub(super) fn assigned(hit: &Hit<'_>) -> Option<usize> {
    let quoted = hit.lead.ends_with(['"', '\'']);
    let secret = if quoted {
        hit.secret
    } else {
        hit.secret.trim_end_matches([',', ')', ']', '}', '.', ':', '|'])
    };
    let gap = hit.lead.trim_start_matches(|c: char| c.is_alphanumeric() || "_-".contains(c));
    let name = hit.lead.get(..hit.lead.len() - gap.len()).unwrap_or_default();
    let suffix = suffix(after_the_word(name));
    if suffix == Suffix::About {
        return None;
    }
    if gap.ends_with('{') {
        return in_braces(hit).then_some(hit.secret.len());
    }
    let is_linked = has_linking_word(gap);
    let flag = !is_linked && !gap.contains('\t') && gap.trim_matches(['"', '\'']).trim().is_empty();
    let fits = if flag {
        is_flag(hit.before)
            || of_login(hit.before)
            || is_setting_of_npm(hit.before)
            || is_one_word(hit.before) && is_key(secret, false) && secret.len() >= LONG
    } else if is_linked {
        quoted || is_mixed(secret)
    } else if gap == ">" {
        hit.before.ends_with(['<', ':']) && hit.rest.get(secret.len()..)?.starts_with("</")
    } else {
        true
    };
    // `pass` alone is far more often the name of a passed test.
    let short = starts_with_ignoring_case(hit.lead, "pass")
        && !hit.lead.get(4..).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphabetic()));
    if short {
        let fits = fits && is_short_name(hit, secret, quoted) && !is_template(secret);
        return (fits && !is_repeated(secret)).then_some(secret.len());
    }
    let password = starts_with_ignoring_case(hit.lead, "pass")
        || is_pwd(hit)
        || OTHER_WORDS.iter().any(|word| starts_with_ignoring_case(hit.lead, word))
        || !hit.lead.is_ascii();
    let accepted = fits
        && !is_template(secret)
        && !is_repeated(secret)
        && if suffix == Suffix::Other {
            is_key(secret, false)
        } else if password {
            is_password(hit, secret, quoted)
        } else {
            !is_cursor(hit.before) && is_key(secret, quoted)
        };
    accepted.then_some(secret.len())
}

/// The minimum length of a value that follows a name after only a blank.
const LONG: usize = 20;

/// The words for a secret, longest first, as in the table.
const WORDS: [&str; 13] = [
    "password",
    "passphrase",
    "passwort",
    "kennwort",
    "contrasena",
    "wachtwoord",
    "passwd",
    "senha",
    "pwd",
    "pass",
    "credential",
    "secret",
    "token",
];

/// The rest of a name after the word for a secret.
fn after_the_word(name: &str) -> &str {
    let rest = WORDS.iter().find(|word| starts_with_ignoring_case(name, word));
    let rest = rest.and_then(|word| name.get(word.len()..));
    // `secret_key`, `api-key`, `signing_key`.
    let rest = rest.unwrap_or_else(|| {
        let lower = name.to_ascii_lowercase();
        lower.find("key").and_then(|at| name.get(at + 3..)).unwrap_or_default()
    });
    let key = rest.trim_start_matches(['_', '-']);
    let own = ["key", "token"].iter().find(|own| starts_with_ignoring_case(key, own));
    own.and_then(|own| key.get(own.len()..)).unwrap_or(rest)
}

/// Whether braces enclose the value: in a connection string such as `pwd={a;b}` they may contain
/// separators.
fn in_braces(hit: &Hit<'_>) -> bool {
    let secret = hit.secret;
    let near =
        hit.before.get(hit.before.floor_char_boundary(hit.before.len().saturating_sub(200))..);
    let after = hit.rest.get(secret.len()..).unwrap_or_default();
    let settings = near.is_some_and(|near| near.contains(';')) || after.starts_with("};");
    // `{password}` is a placeholder.
    let place = secret.chars().all(|c| c.is_ascii_alphabetic() || "_.:!".contains(c));
    settings && !place && secret.len() >= 4 && !is_repeated(secret)
}

/// Whether the value is set for npm: `npm config set //registry/:_authToken value`.
fn is_setting_of_npm(before: &str) -> bool {
    let name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric());
    name.ends_with("/:_")
}

/// Whether the name has several words joined, as in `authToken` or `access_token`, which prose does
/// not.
fn is_one_word(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_') && !is_cursor(before)
}

/// Words for a password in other languages, spelled in ASCII.
const OTHER_WORDS: [&str; 5] = ["kennwort", "contrasena", "mot de passe", "senha", "wachtwoord"];

/// Whether a verb or genitive links name and value: `password is`, `password's`.
fn has_linking_word(gap: &str) -> bool {
    let word = gap.trim_start_matches(' ').trim_start_matches('\'').trim_end_matches(['"', '\'']);
    let word = word.trim_end();
    gap.starts_with([' ', '\'']) && ["is", "was", "ist", "est", "es", "s"].contains(&word)
}

/// Whether `pass` names a password: assigned with `=`, quoted, or followed by a mix that is not the
/// name of a file or test.
fn is_short_name(hit: &Hit<'_>, value: &str, quoted: bool) -> bool {
    let begins = !hit.before.ends_with(|c: char| c.is_ascii_alphanumeric());
    let mix = value.len() >= 6 && is_random(value) && !is_path(value) && !is_words(value);
    let assigns = hit.lead.contains('=') || quoted;
    let small = hit.lead.starts_with("pass");
    begins && mix && !is_code(value) && (assigns || small && !value.contains(['.', '/', '_']))
}

/// Whether a value mixes capitals, lower-case letters and digits.
fn is_mixed(value: &str) -> bool {
    value.len() >= 8
        && value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_uppercase())
        && value.bytes().any(|b| b.is_ascii_lowercase())
}

/// Whether a value after the name of a token or key is one: a long mix that does not look like a
/// name, an address or code.
pub(super) fn is_key(value: &str, quoted: bool) -> bool {
    let shortest = if quoted { 8 } else { 16 };
    value.len() >= shortest
        && is_random(value)
        && !value.contains(char::is_whitespace)
        && !value.contains("://")
        && !is_path(value)
        && !is_words(value)
        && (quoted || !is_code(value))
}

fn is_password(hit: &Hit<'_>, value: &str, quoted: bool) -> bool {
    /// Words in place of a password: types, labels, rules of a form.
    const NOT: [&str; 15] = [
        "must",
        "is",
        "string",
        "text",
        "hidden",
        "required",
        "optional",
        "nullable",
        "undefined",
        "none",
        "null",
        "true",
        "false",
        "redacted",
        "your_password",
    ];
    let lower = value.to_ascii_lowercase();
    let words = |also: &str| value.chars().all(|c| c.is_ascii_alphabetic() || also.contains(c));
    let letters = words("_-!?");
    // Names that are not used for form fields or messages.
    let phrase = starts_with_ignoring_case(hit.lead, "passphrase")
        || hit.lead.trim_end_matches(['"', '\'']).ends_with('=') && is_in_capitals(hit.lead);
    let message = quoted && !phrase;
    let itself = ["pass", "pwd"].iter().any(|name| lower.contains(name));
    let about_itself = itself && (letters || message && words("_-!?.,:' "));
    // In "must have eight letters", the first word marks a rule of a form rather than a passphrase.
    let first = lower.split_ascii_whitespace().next().filter(|_| message).unwrap_or(&lower);
    if NOT.contains(&first.trim_end_matches(',')) || about_itself || is_path(value) {
        return false;
    }
    if quoted {
        let code = value.trim_start().starts_with([')', ',', '+', ']', ':', '|']);
        let whole = phrase || !value.contains(char::is_whitespace) || is_given(hit);
        return value.len() >= 4 && !code && whole;
    }
    if value.len() < 6 || is_code(value) {
        return false;
    }
    // `PASSWORD=letters` occurs in settings files; `password: letters` is a type or a variable.
    let setting = hit.lead.ends_with('=') && is_in_capitals(hit.lead);
    !letters || setting
}

/// Whether the name is in capitals, as in `DB_PASSWORD=`: a variable or setting, not a sentence.
fn is_in_capitals(lead: &str) -> bool {
    lead.chars().all(|c| !c.is_lowercase() && !c.is_whitespace())
}

/// Whether quoted text is given as a value: after `=` or `:`, or as the value of a flag. In other
/// quoted text a password has no blanks: `the password is "too short"`.
fn is_given(hit: &Hit<'_>) -> bool {
    let gap = hit.lead.trim_end_matches(['"', '\'', '\\', 'b', 'r', 'u']).trim_end();
    gap.ends_with(['=', ':', '>', '：']) || is_flag(hit.before)
}

/// Whether `pwd` names a password: it does unless the value is a path.
fn is_pwd(hit: &Hit<'_>) -> bool {
    starts_with_ignoring_case(hit.lead, "pwd") && !is_path(hit.secret)
}

/// Whether the name before the keyword is a flag: `--db-password value`.
fn is_flag(before: &str) -> bool {
    let name = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let name = name.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
    let flag = before.get(name.len()..).unwrap_or_default();
    flag.starts_with("--")
}

/// Whether the name is a pagination cursor, such as `next_page_token`.
pub(super) fn is_cursor(before: &str) -> bool {
    let before = before.trim_end_matches(['_', '-']);
    let from = before.floor_char_boundary(before.len().saturating_sub(16));
    let name = before.get(from..).unwrap_or_default().to_ascii_lowercase();
    ["next", "page", "continuation", "sync", "pagination", "resume"]
        .iter()
        .any(|word| name.ends_with(word))
}

/// Whether a value mixes letters and digits, with enough different characters.
pub(super) fn is_random(value: &str) -> bool {
    value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && entropy(value) >= 2.5
        && !is_filler(value)
        && !is_template(value)
}

/// Whether a value is a placeholder: `$NAME`, `${name}`, `{{ name }}`, `<name>`, `%s`.
pub(super) fn is_template(value: &str) -> bool {
    let printf = ["%s", "%d", "%v", "%(", "%{", "%q"];
    value.starts_with(['$', '{', '<', '|', '('])
        || printf.iter().any(|place| value.starts_with(place))
        || value.contains("${")
        || value.contains("{{")
        || value.contains("$(")
}

/// Whether a value is a filler that people write in place of a secret.
fn is_filler(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let mark = |b: &u8| matches!(b, b'x' | b'*' | b'.');
    let marks = lower.bytes().filter(|b| mark(b)).count();
    let dots = ["xxxx", "****", "...."].iter().any(|filler| lower.contains(filler));
    let words = ["your-", "your_", "yourtoken", "placeholder"];
    dots && marks * 3 > value.len() || words.iter().any(|word| lower.contains(word))
}

/// Whether a value repeats one character: `****`, `xxx`, `...`.
fn is_repeated(value: &str) -> bool {
    let mut chars = value.chars();
    let first = chars.next();
    chars.all(|c| Some(c) == first) && value.len() != 1
}

fn is_path(value: &str) -> bool {
    let drive = matches!(value.as_bytes(), [b'A'..=b'Z' | b'a'..=b'z', b':', b'\\' | b'/', ..]);
    drive || ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start))
}

/// Whether a value is a name: words and small numbers joined by dashes, dots or underscores.
fn is_words(value: &str) -> bool {
    value.split(['-', '_', '.', '/', ':']).all(|part| {
        part.bytes().all(|b| b.is_ascii_alphabetic())
            || part.len() <= 4 && part.bytes().all(|b| b.is_ascii_digit())
            || part.len() <= 3
    })
}

/// Whether a value is code: a call, an index, a path of names, a type: `os.environ["X"]`,
/// `args.password`, `Vec<u8>`.
fn is_code(value: &str) -> bool {
    if value.starts_with(['&', '*', '[', '{', '(', '<', '|', '!', '@']) {
        return true;
    }
    let name = value.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_.:".contains(c));
    let head = value.get(..value.len() - name.len()).unwrap_or_default();
    let begins = head.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    let dotted = |text: &str| {
        text.contains('.')
            && text.split('.').all(|part| {
                part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                    && !part.contains(':')
            })
    };
    begins && (name.starts_with(['(', '[', '<', '{']) || head.contains("::") || dotted(value))
        || value.contains("->")
        || value.contains("()")
}

/// The length of the lines of a key whose end is missing; `None` if there are none.
fn key_lines(body: &str) -> Option<usize> {
    let (mut length, mut at, mut lines) = (0, 0, 0);
    for line in body.split_inclusive('\n').flat_map(|line| line.split_inclusive("\\n")) {
        let text = line.strip_suffix('\n').unwrap_or(line);
        let text = text.strip_suffix("\\n").unwrap_or(text);
        let text = text.trim_matches(|c: char| c.is_whitespace() || "\"'+,|>\\".contains(c));
        let base64 = text.bytes().all(is_base64);
        let heading = lines == 0 && text.len() < 80 && text.contains(": ");
        at += line.len();
        match text.len() {
            16.. if base64 => lines += 1,
            1.. if base64 && lines > 0 => {}
            0 => continue,
            _ if heading => continue,
            _ => break,
        }
        length = at;
    }
    (lines > 0).then_some(length)
}

fn longest_base64(text: &str) -> usize {
    text.as_bytes().split(|b| !is_base64(*b)).map(<[u8]>::len).max().unwrap_or_default()
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// Bits per byte, computed over the first bytes.
fn entropy(text: &str) -> f64 {
    const MOST: usize = 256;
    let mut counts = [0_u32; 256];
    let mut total = 0_u32;
    for byte in text.bytes().take(MOST) {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
        total += 1;
    }
    let share = |count: &u32| f64::from(*count) / f64::from(total.max(1));
    -counts.iter().filter(|count| **count > 0).map(|c| share(c) * share(c).log2()).sum::<f64>()
}
