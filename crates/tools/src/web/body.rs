//! Reads response bodies: unpacks them within bounds, and decodes them as text.

use std::io::{self, Write};

use counterfoil_model::ToolErrorCategory;
use encoding_rs::{Encoding, UTF_8};
use flate2::write::MultiGzDecoder;
use hyper::header::HeaderValue;

use crate::ToolError;

/// Why a body cannot be unpacked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UnpackError {
    TooLong,
    Broken(String),
}

/// A body being received.
pub(super) enum Unpacked {
    Plain(Bounded),
    Gzip(Box<MultiGzDecoder<Bounded>>),
}

impl Unpacked {
    /// Creates one for a body with this encoding and at most this many bytes.
    pub(super) fn new(encoding: Option<&HeaderValue>, most: u64) -> Result<Self, ToolError> {
        let bounded = Bounded { bytes: Vec::new(), most, full: false };
        let encoding = encoding.map(|value| String::from_utf8_lossy(value.as_bytes()));
        let encoding = encoding.map(|value| value.trim().to_ascii_lowercase());
        match encoding.as_deref() {
            None | Some("" | "identity") => Ok(Self::Plain(bounded)),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(bounded)))),
            Some(other) => {
                let message =
                    format!("the response is encoded as `{other}`, which was not requested");
                Err(ToolError::new(ToolErrorCategory::PermanentFailure, message))
            }
        }
    }

    pub(super) fn add(&mut self, piece: &[u8]) -> Result<(), UnpackError> {
        let (written, full) = match self {
            Self::Plain(bounded) => (bounded.write_all(piece), bounded.full),
            Self::Gzip(decoder) => (decoder.write_all(piece), decoder.get_ref().full),
        };
        explained(written, full)
    }

    pub(super) fn finish(self) -> Result<Vec<u8>, UnpackError> {
        match self {
            Self::Plain(bounded) => Ok(bounded.bytes),
            Self::Gzip(mut decoder) => {
                let ended = decoder.try_finish();
                explained(ended, decoder.get_ref().full)?;
                match decoder.finish() {
                    Ok(bounded) => Ok(bounded.bytes),
                    Err(error) => Err(UnpackError::Broken(error.to_string())),
                }
            }
        }
    }
}

fn explained(result: io::Result<()>, full: bool) -> Result<(), UnpackError> {
    match result {
        _ if full => Err(UnpackError::TooLong),
        Ok(()) => Ok(()),
        Err(error) => Err(UnpackError::Broken(error.to_string())),
    }
}

/// Bytes up to a limit: a body that unpacks to more is stopped here, before it fills memory.
pub(super) struct Bounded {
    bytes: Vec<u8>,
    most: u64,
    full: bool,
}

impl Write for Bounded {
    fn write(&mut self, piece: &[u8]) -> io::Result<usize> {
        if (self.bytes.len() + piece.len()) as u64 > self.most {
            self.full = true;
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.bytes.extend_from_slice(piece);
        Ok(piece.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The content type of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kind {
    /// The media type in lower case, without parameters; empty if not given.
    pub(super) media: String,
    charset: Option<&'static Encoding>,
}

impl Kind {
    pub(super) fn read(header: Option<&HeaderValue>) -> Self {
        let text = header.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
        let text = text.unwrap_or_default();
        let mut parts = text.split(';');
        let media = parts.next().unwrap_or_default().trim().to_ascii_lowercase();
        let charset = parts.find_map(|part| {
            let (name, value) = part.split_once('=')?;
            let is_charset = name.trim().eq_ignore_ascii_case("charset");
            is_charset.then(|| value.trim().trim_matches('"'))
        });
        let charset = charset.and_then(|label| Encoding::for_label(label.as_bytes()));
        Self { media, charset }
    }

    pub(super) fn is_html(&self) -> bool {
        matches!(self.media.as_str(), "text/html" | "application/xhtml+xml")
    }

    /// Whether it is text, according to its type.
    fn is_text(&self) -> bool {
        let media = self.media.as_str();
        media.is_empty()
            || media.starts_with("text/")
            || media.ends_with("+json")
            || media.ends_with("+xml")
            || matches!(
                media,
                "application/json"
                    | "application/ld+json"
                    | "application/x-ndjson"
                    | "application/xml"
                    | "application/xhtml+xml"
                    | "application/javascript"
                    | "application/x-javascript"
                    | "application/yaml"
                    | "application/toml"
                    | "application/x-sh"
            )
    }

    /// The body as text; `None` if it is not text.
    pub(super) fn text(&self, body: &[u8]) -> Option<String> {
        if !self.is_text() {
            return None;
        }
        let named = if self.is_html() { meta_charset(body) } else { None };
        let encoding = self.charset.or(named).unwrap_or(UTF_8);
        let (text, encoding, _) = encoding.decode(body);
        // In UTF-8, text has no NUL near its beginning.
        let binary =
            encoding == UTF_8 && memchr::memchr(0, body.get(..8 * 1024).unwrap_or(body)).is_some();
        (!binary).then(|| text.into_owned())
    }
}

/// The encoding declared in the first kilobyte of a page.
fn meta_charset(body: &[u8]) -> Option<&'static Encoding> {
    let head = body.get(..1024).unwrap_or(body).to_ascii_lowercase();
    let at = memchr::memmem::find(&head, b"charset=")? + b"charset=".len();
    let rest = head.get(at..)?;
    let rest = rest.strip_prefix(b"\"").or_else(|| rest.strip_prefix(b"'")).unwrap_or(rest);
    let label: Vec<u8> = rest
        .iter()
        .copied()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"-_:.".contains(byte))
        .collect();
    Encoding::for_label(&label)
}
