use std::io::{Cursor, Read, Write};

use counterfoil_formats::decompressed;

fn check(packed: &[u8], plain: &[u8]) {
    let mut found = Vec::new();
    decompressed(Cursor::new(packed)).unwrap().read_to_end(&mut found).unwrap();
    assert_eq!(found, plain);
}

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(plain, ruzstd::encoding::CompressionLevel::Fastest)
}

#[test]
fn what_is_packed_is_unpacked() {
    check(b"", b"");
    check(b"{}", b"{}");
    check(&gzip(b"one"), b"one");
    check(&[gzip(b"one"), gzip(b"two")].concat(), b"onetwo");
    check(&zstd(b"one"), b"one");
    check(&[zstd(b"one"), zstd(b""), zstd(b"two")].concat(), b"onetwo");
}

#[test]
fn damage_is_an_error() {
    let mut packed = gzip(&[7; 5000]);
    packed.truncate(packed.len() / 2);
    let mut reader = decompressed(Cursor::new(packed)).unwrap();
    assert!(reader.read_to_end(&mut Vec::new()).is_err());
}
