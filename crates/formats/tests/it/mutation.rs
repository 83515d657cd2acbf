use counterfoil_formats::Options;
use counterfoil_model::Format;

use crate::shown::{fixture, read_all};

/// A small generator with a fixed seed, so that the mutations are always the same.
struct Seeded(u64);

impl Seeded {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap()
    }
}

/// Byte sequences that are hard on parsers.
const PIECES: [&[u8]; 16] = [
    b"\"",
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"\n",
    b"\xff",
    b"\0",
    b"\\ud83d",
    b"1e999",
    b"[[[[[[[[",
    b"\"type\":\"user\",",
];

fn mutated(text: &[u8], seed: &mut Seeded) -> Vec<u8> {
    let mut bytes = text.to_vec();
    for _ in 0..=seed.next(4) {
        let at = seed.next(bytes.len());
        match seed.next(5) {
            0 => bytes.truncate(at),
            1 => {
                let end = (at + seed.next(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            2 => {
                let piece = PIECES[seed.next(PIECES.len())];
                bytes.splice(at..at, piece.iter().copied());
            }
            3 => {
                let end = (at + seed.next(200)).min(bytes.len());
                let copy = bytes[at..end].to_vec();
                let to = seed.next(bytes.len());
                bytes.splice(to..to, copy);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = u8::try_from(seed.next(256)).unwrap();
                }
            }
        }
    }
    bytes
}

/// No input makes a reader panic, hang or lose what it counts.
#[test]
fn mutated_fixtures_never_break_a_reader() {
    let mut seed = Seeded(0x9e37_79b9_7f4a_7c15);
    for of in Format::ALL {
        for round in 0..150 {
            let bytes = mutated(fixture(of).as_bytes(), &mut seed);
            // Detected, the fixture's own format, or a random one.
            let format = match round % 3 {
                0 => None,
                1 => Some(of),
                _ => Some(Format::ALL[seed.next(Format::ALL.len())]),
            };
            let options = Options { format, ..Options::new("mutated") };
            if let Ok((_, readings)) = read_all(&bytes, &options) {
                for reading in readings {
                    let messages = &reading.transcript.messages;
                    let lines = bytes.iter().filter(|b| **b == b'\n').count() + 1;
                    assert!(messages.iter().all(|m| m.line <= lines));
                }
            }
        }
    }
}
