use serde_json::Value;

/// A non-negative integer, even if the model wrote `5.0`, as JSON Schema allows.
#[must_use]
pub fn whole(value: &Value) -> Option<u64> {
    let written = || {
        let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
        // Above this, doubles cannot represent every integer.
        let small = (0.0..=9_007_199_254_740_992.0).contains(&number);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
        small.then_some(number as u64)
    };
    value.as_u64().or_else(written)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers() {
        for (value, expected) in [
            (json!(5), Some(5)),
            (json!(5.0), Some(5)),
            (json!(5.5), None),
            (json!(-1), None),
            (json!(-1.0), None),
            (json!(1e300), None),
            (json!("5"), None),
        ] {
            assert_eq!(whole(&value), expected, "{value}");
        }
    }
}
