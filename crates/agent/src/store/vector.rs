//! Vectors as bytes, and how alike two of them are.

/// Little endian, 4 bytes each.
pub(super) fn to_bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Whether a vector can be kept: it has numbers, and all of them are finite.
pub(super) fn is_sound(vector: &[f32]) -> bool {
    !vector.is_empty() && vector.iter().all(|number| number.is_finite())
}

/// One side of many comparisons.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    vector: &'a [f32],
    length: f32,
    other: Vec<f32>,
}

impl<'a> Compared<'a> {
    pub(super) fn new(vector: &'a [f32]) -> Self {
        let other = Vec::with_capacity(vector.len());
        Self { vector, length: dot(vector, vector).sqrt(), other }
    }

    /// The cosine of the angle between this vector and one in bytes, from -1 to 1. `None` where
    /// they have different dimensions, or one of them is 0 or too long for 32 bits.
    pub(super) fn cosine(&mut self, bytes: &[u8]) -> Option<f32> {
        let (numbers, rest) = bytes.as_chunks::<4>();
        if !rest.is_empty() || numbers.len() != self.vector.len() {
            return None;
        }
        self.other.clear();
        self.other.extend(numbers.iter().map(|number| f32::from_le_bytes(*number)));
        let lengths = self.length * dot(&self.other, &self.other).sqrt();
        let comparable = lengths.is_finite() && lengths > 0.0;
        comparable.then(|| dot(self.vector, &self.other) / lengths)
    }
}

/// In eight sums, which the compiler adds up side by side.
fn dot(left: &[f32], right: &[f32]) -> f32 {
    let (left_lanes, left_rest) = left.as_chunks::<8>();
    let (right_lanes, right_rest) = right.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for (left, right) in left_lanes.iter().zip(right_lanes) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f32 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines() {
        let long: Vec<f32> = (1_u8..=19).map(f32::from).collect();
        let twice: Vec<f32> = long.iter().map(|number| number * 2.0).collect();
        let cases: [(&[f32], &[f32], Option<f32>); 8] = [
            (&[1.0, 0.0], &[1.0, 0.0], Some(1.0)),
            (&[1.0, 0.0], &[-3.0, 0.0], Some(-1.0)),
            (&[1.0, 0.0], &[0.0, 1.0], Some(0.0)),
            (&[3.0, 4.0], &[4.0, 3.0], Some(0.96)),
            (&long, &twice, Some(1.0)),
            (&[1.0, 0.0], &[1.0], None),
            (&[1.0, 0.0], &[0.0, 0.0], None),
            (&[1.0, 0.0], &[f32::MAX, f32::MAX], None),
        ];
        for (left, right, expected) in cases {
            let cosine = Compared::new(left).cosine(&to_bytes(right));
            let alike = match (cosine, expected) {
                (Some(cosine), Some(expected)) => (cosine - expected).abs() < 1e-5,
                (cosine, expected) => cosine == expected,
            };
            assert!(alike, "{left:?} {right:?}: {cosine:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_numbers_are_not_compared() {
        for bytes in [&b""[..], b"abc", b"abcde", &[0xff; 8]] {
            assert_eq!(Compared::new(&[1.0, 1.0]).cosine(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn sound_vectors() {
        let cases: [(&[f32], bool); 5] = [
            (&[0.0], true),
            (&[1.0, -1.0], true),
            (&[], false),
            (&[f32::NAN, 1.0], false),
            (&[f32::INFINITY], false),
        ];
        for (vector, expected) in cases {
            assert_eq!(is_sound(vector), expected, "{vector:?}");
        }
    }
}
