//! Finds disguised secrets: encoded in base64 or hexadecimal, or interrupted by colours, zero-width
//! characters and escapes.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Texts that begin or precede secrets, and are rare enough to be recognised in encoded form.
const BEGINNINGS: [&str; 18] = [
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "sk-ant-",
    "sk-proj-",
    "sk_live_",
    "xoxb-",
    "AKIA",
    "npm_",
    "pypi-",
    "dckr_pat_",
    "-----BEGIN",
    "password",
    "passwd",
    "secret_access_key",
    "Bearer ",
];

/// How a keyword is encoded.
#[derive(Debug, Clone, Copy)]
enum Code {
    /// Base64, with this offset of its first character in a group of four.
    Base64(usize),
    Hexadecimal,
}

/// The beginnings in encoded form, for every position in a group.
static ENCODED: LazyLock<Vec<(String, Code)>> = LazyLock::new(|| {
    /// The minimum length: shorter ones occur in many words.
    const SHORTEST: usize = 4;
    let mut all = Vec::new();
    for word in BEGINNINGS {
        let bytes = word.as_bytes();
        all.push((bytes.iter().map(|b| format!("{b:02x}")).collect(), Code::Hexadecimal));
        for shift in 0..3_usize {
            let padded: Vec<u8> =
                std::iter::repeat_n(0, shift).chain(bytes.iter().copied()).collect();
            let text = LENIENT.encode(&padded);
            let (first, last) = ((shift * 8).div_ceil(6), (shift + bytes.len()) * 8 / 6);
            let known = text.get(first..last).unwrap_or_default();
            if known.len() >= SHORTEST {
                all.push((known.to_owned(), Code::Base64(first)));
            }
        }
    }
    all
});

/// Decodes what others write: with or without padding, cut anywhere.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The keywords of encoded secrets.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    ENCODED.iter().map(|(word, _)| word.as_str())
}

/// The run of encoded characters around a keyword, and its decoded text.
pub(super) fn decoded(text: &str, at: usize, keyword: usize) -> Option<(usize, usize, String)> {
    /// The maximum number of bytes of a run that is decoded.
    const MOST: usize = 64 * 1024;
    let (_, code) = ENCODED.get(keyword)?;
    let bytes = text.as_bytes();
    let belongs = |b: &u8| match code {
        Code::Base64(_) => b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'-' | b'_'),
        Code::Hexadecimal => b.is_ascii_hexdigit(),
    };
    let before = bytes.get(..at)?.iter().rev().take(MOST).take_while(|b| belongs(b)).count();
    let length = bytes.get(at..)?.iter().take(MOST).take_while(|b| belongs(b)).count();
    let (start, end) = (at - before, at + length);
    let decoded = match code {
        Code::Base64(first_in_group) => {
            let first = start + (before % 4 + 4 - first_in_group % 4) % 4;
            let group: Vec<u8> = bytes.get(first..end)?.iter().map(|b| plain(*b)).collect();
            // A single character in the last group is less than a byte.
            let whole = if group.len() % 4 == 1 { group.len() - 1 } else { group.len() };
            LENIENT.decode(group.get(..whole)?).ok()?
        }
        Code::Hexadecimal => {
            let run = bytes.get(start + before % 2..end)?;
            run.chunks_exact(2).filter_map(hexadecimal).collect()
        }
    };
    let padding = bytes.get(end..)?.iter().take(2).take_while(|b| **b == b'=').count();
    Some((start, end + padding, String::from_utf8_lossy(&decoded).into_owned()))
}

/// Maps a byte of the URL-safe alphabet to the standard one.
fn plain(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// A text without colours and zero-width characters, with its escapes resolved.
pub(super) struct View {
    pub(super) text: String,
    /// The pieces in order: their positions here and in the source.
    pieces: Vec<Piece>,
}

struct Piece {
    here: usize,
    source: usize,
    source_end: usize,
    /// Whether it is the same byte for byte.
    literal: bool,
}

impl View {
    /// The view of a text; `None` if nothing in it is disguised.
    pub(super) fn new(source: &str) -> Option<Self> {
        let mut view = Self { text: String::new(), pieces: Vec::new() };
        let mut copied = 0;
        let mut at = 0;
        while let Some(next) = source.get(at..).and_then(candidate) {
            let here = at + next;
            let Some((length, shown)) = source.get(here..).and_then(disguise) else {
                at = source.ceil_char_boundary(here + 1);
                continue;
            };
            view.push(source, copied, here);
            if let Some(shown) = shown {
                let (start, end) = (here, here + length);
                let piece =
                    Piece { here: view.text.len(), source: start, source_end: end, literal: false };
                view.pieces.push(piece);
                view.text.push(shown);
            }
            at = here + length;
            copied = at;
        }
        if view.pieces.is_empty() && copied == 0 {
            return None;
        }
        view.push(source, copied, source.len());
        Some(view)
    }

    fn push(&mut self, source: &str, from: usize, to: usize) {
        if from < to {
            let here = self.text.len();
            self.pieces.push(Piece { here, source: from, source_end: to, literal: true });
            self.text.push_str(source.get(from..to).unwrap_or_default());
        }
    }

    /// The range in the source for a range of this text.
    pub(super) fn source(&self, start: usize, end: usize) -> (usize, usize) {
        let piece = |at: usize| {
            let next = self.pieces.partition_point(|piece| piece.here <= at);
            self.pieces.get(next.saturating_sub(1))
        };
        let from = piece(start).map_or(0, |piece| {
            if piece.literal { piece.source + (start - piece.here) } else { piece.source }
        });
        let to = piece(end.saturating_sub(1)).map_or(0, |piece| {
            if piece.literal { piece.source + (end - piece.here) } else { piece.source_end }
        });
        (from, to)
    }
}

/// The first byte that may begin a disguise.
fn candidate(text: &str) -> Option<usize> {
    text.bytes().position(|b| matches!(b, b'\x1b' | b'%' | b'\\' | 0xc2 | 0xe2 | 0xef))
}

/// The disguise at the beginning of a text: its length in bytes, and the character that it shows,
/// if any.
fn disguise(text: &str) -> Option<(usize, Option<char>)> {
    let bytes = text.as_bytes();
    let ascii = |digits: &[u8]| {
        let byte = hexadecimal(digits)?;
        (b' '..0x7f).contains(&byte).then_some(char::from(byte))
    };
    match bytes {
        [b'%', high, low, ..] => ascii(&[*high, *low]).map(|shown| (3, Some(shown))),
        [b'\\', b'u', b'0', b'0', high, low, ..] => {
            ascii(&[*high, *low]).map(|shown| (6, Some(shown)))
        }
        [b'\\', b'x', high, low, ..] => ascii(&[*high, *low]).map(|shown| (4, Some(shown))),
        [b'\x1b', b'[', rest @ ..] => {
            let end = rest.iter().take(32).position(|b| (0x40..0x7f).contains(b))?;
            Some((end + 3, None))
        }
        [0xc2 | 0xe2 | 0xef, ..] => {
            const UNSEEN: [char; 6] =
                ['\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{feff}'];
            let first = text.chars().next()?;
            UNSEEN.contains(&first).then_some((first.len_utf8(), None))
        }
        _ => None,
    }
}
