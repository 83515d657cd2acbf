//! An embedding model for tests: a text is a bag of word stems.

use std::sync::Arc;

use counterfoil_guard::{BoxFuture, Embedder, EmbedderError};

/// The length of an embedding.
const SIZE: usize = 4096;

struct Words;

/// The model.
pub(crate) fn words() -> Option<Arc<dyn Embedder>> {
    Some(Arc::new(Words))
}

impl Embedder for Words {
    fn embed<'a>(
        &'a self,
        texts: &'a [String],
    ) -> BoxFuture<'a, Result<Vec<Vec<f32>>, EmbedderError>> {
        let all = texts.iter().map(|text| embedding(text)).collect();
        Box::pin(async move { Ok(all) })
    }
}

fn embedding(text: &str) -> Vec<f32> {
    let mut found = vec![0.0; SIZE];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let stem: Vec<u8> = word.trim_end_matches("ed").trim_end_matches('s').bytes().collect();
        if stem.len() >= 3 {
            let hash = stem.iter().fold(7_usize, |hash, byte| hash * 31 + usize::from(*byte));
            if let Some(place) = found.get_mut(hash % SIZE) {
                *place += 1.0;
            }
        }
    }
    found
}
