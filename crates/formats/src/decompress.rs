use std::io::{self, BufRead, BufReader, Read};

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The same input, unpacked when its first bytes say gzip (any number of members) or Zstandard
/// (any number of frames).
///
/// # Errors
/// When the first bytes cannot be read or the Zstandard header is damaged. Damage further on is
/// an error of the returned reader.
pub fn decompressed<'a>(mut input: impl BufRead + 'a) -> io::Result<Box<dyn BufRead + 'a>> {
    let head = read_up_to(&mut input, ZSTD.len())?;
    let packed_by_gzip = head.starts_with(&GZIP);
    let packed_by_zstd = head == ZSTD;
    let input = io::Cursor::new(head).chain(input);
    Ok(if packed_by_gzip {
        Box::new(BufReader::new(flate2::bufread::MultiGzDecoder::new(input)))
    } else if packed_by_zstd {
        Box::new(BufReader::new(Frames { input: Some(input), frame: None }))
    } else {
        Box::new(input)
    })
}

/// Fewer bytes come back only at the end of the input.
pub(crate) fn read_up_to(input: &mut impl BufRead, wanted: usize) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    input.take(wanted as u64).read_to_end(&mut head)?;
    Ok(head)
}

type Frame<R> = ruzstd::decoding::StreamingDecoder<R, ruzstd::decoding::FrameDecoder>;

/// Zstandard frames one after the other: the decoder itself stops after the first.
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
