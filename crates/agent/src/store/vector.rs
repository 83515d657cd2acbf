//! Vectors as bytes, and how alike two of them are.

/// Little endian, 4 bytes each.
pub(super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Whether a vector can be kept: it has numbers, and all of them are finite.
pub(super) fn is_sound(vector: &[f32]) -> bool {
    !vector.is_empty() && vector.iter().all(|number| number.is_finite())
}

/// The cosine of the angle between a vector and one in bytes, from -1 to 1. `None` where they have
/// different dimensions, or one of them is 0 or too long for 32 bits.
pub(super) fn cosine(vector: &[f32], bytes: &[u8]) -> Option<f32> {
    let (numbers, rest) = bytes.as_chunks::<4>();
    if !rest.is_empty() || numbers.len() != vector.len() {
        return None;
    }
    let other: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    let dot = |one: &[f32], other: &[f32]| -> f32 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    };
    let lengths = dot(vector, vector).sqrt() * dot(&other, &other).sqrt();
    (lengths.is_finite() && lengths > 0.0).then(|| dot(vector, &other) / lengths)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines() {
        let cases: [(&[f32], &[f32], Option<f32>); 7] = [
            (&[1.0, 0.0], &[1.0, 0.0], Some(1.0)),
            (&[1.0, 0.0], &[-3.0, 0.0], Some(-1.0)),
            (&[1.0, 0.0], &[0.0, 1.0], Some(0.0)),
            (&[3.0, 4.0], &[4.0, 3.0], Some(0.96)),
            (&[1.0, 0.0], &[1.0], None),
            (&[1.0, 0.0], &[0.0, 0.0], None),
            (&[1.0, 0.0], &[f32::MAX, f32::MAX], None),
        ];
        for (left, right, expected) in cases {
            let found = cosine(left, &to_bytes(right));
            let difference = found.zip(expected).map_or(0.0, |(found, expected)| found - expected);
            assert!(found.is_some() == expected.is_some() && difference.abs() < 1e-5, "{left:?}");
        }
        assert_eq!(cosine(&[1.0], b"abcde"), None);
    }
}
