use std::io::{self, BufRead, BufReader, Read};

use crate::archive::{self, ZSTD};
use crate::lines::LARGEST;

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Decompresses the input if its first bytes are those of gzip (any number of members) or Zstandard
/// (any number of frames), and converts UTF-16 with a byte-order mark to UTF-8. Of a zip archive,
/// returns its JSON files, concatenated. Other input is returned unchanged.
///
/// # Errors
/// When the first bytes cannot be read, an archive is damaged, or an archive or a UTF-16 text is
/// larger than 512 MiB. Damaged gzip or Zstandard data is an error of the returned reader.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = read_up_to(&mut input, ZSTD.len())?;
    let packed_by_gzip = head.starts_with(&GZIP);
    let packed_by_zstd = head == ZSTD;
    let is_archive = head == archive::ZIP;
    let wide = Wide::detect(&head);
    let input = io::Cursor::new(head).chain(input);
    if let Some(wide) = wide {
        return Ok(Box::new(io::Cursor::new(wide.decoded(input)?)));
    }
    Ok(if packed_by_gzip {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(input)))
    } else if packed_by_zstd {
        Box::new(BufReader::new(Frames { input: Some(input), frame: None }))
    } else if is_archive {
        Box::new(io::Cursor::new(archive::json_of(input)?))
    } else {
        Box::new(input)
    })
}

/// Reads `wanted` bytes; returns fewer only at the end of the input.
pub(crate) fn read_up_to(input: &mut impl BufRead, wanted: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(wanted as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// The byte order of UTF-16 text, from its byte-order mark.
#[derive(Debug, Clone, Copy)]
enum Wide {
    LowFirst,
    HighFirst,
}

impl Wide {
    fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [0xff, 0xfe, ..] => Some(Self::LowFirst),
            [0xfe, 0xff, ..] => Some(Self::HighFirst),
            _ => None,
        }
    }

    /// Decodes the text to UTF-8, replacing invalid characters.
    fn decoded(self, input: impl BufRead) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        input.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            let wrong = "the UTF-16 text is larger than 512 MiB";
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, wrong));
        }
        let units = bytes.chunks_exact(2).filter_map(|pair| <[u8; 2]>::try_from(pair).ok());
        let units = units.skip(1).map(|pair| match self {
            Self::LowFirst => u16::from_le_bytes(pair),
            Self::HighFirst => u16::from_be_bytes(pair),
        });
        let text = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER));
        Ok(text.collect::<String>().into_bytes())
    }
}

type Frame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// Decodes consecutive Zstandard frames; the decoder itself stops after the first.
struct Frames<R: BufRead> {
    input: Option<R>,
    frame: Option<Frame<R>>,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(frame) = &mut self.frame {
                let count = frame.read(out)?;
                if count > 0 || out.is_empty() {
                    return Ok(count);
                }
            }
            if let Some(frame) = self.frame.take() {
                self.input = Some(frame.into_inner());
            }
            let Some(mut input) = self.input.take() else { return Ok(0) };
            if input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            let frame = Frame::new(input)
                .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))?;
            self.frame = Some(frame);
        }
    }
}
