//! Not a limit: a search among 10,000 notes prints how long it takes.

use std::time::Instant;

use counterfoil_agent::Store;

use super::note;

const NOTES: u32 = 10_000;
const DIMENSIONS: u32 = 128;

const WORDS: [&str; 16] = [
    "server", "port", "deploy", "night", "coffee", "meeting", "password", "invoice", "branch",
    "release", "customer", "database", "window", "ticket", "budget", "weather",
];

/// Depends on nothing but the seed.
fn vector(seed: u32) -> Vec<f32> {
    let number = |at: u32| {
        let mixed = (seed * DIMENSIONS + at).wrapping_mul(2_654_435_761) >> 16;
        f32::from(u16::try_from(mixed & 0xffff).unwrap()) / 32_768.0 - 1.0
    };
    (0..DIMENSIONS).map(number).collect()
}

#[test]
fn searching_many_notes() {
    let store = Store::in_memory().unwrap();
    let started = Instant::now();
    for seed in 0..NOTES {
        let words: Vec<&str> = (0..12_u32)
            .map(|at| {
                let mixed = (seed * 12 + at).wrapping_mul(2_654_435_761) >> 20;
                WORDS[usize::try_from(mixed).unwrap() % WORDS.len()]
            })
            .collect();
        let text = format!("note {seed}: {}", words.join(" "));
        store.save(&note(&text), Some(&vector(seed))).unwrap();
    }
    println!("{NOTES} notes saved in {:?}", started.elapsed());
    let queries = ["note 4711", "the customer's invoice", "erver port deploy night coffee", ""];
    for query in queries {
        let started = Instant::now();
        let found = store.search(query, Some(&vector(4711)), 10).unwrap();
        println!("{query:?}: {} found in {:?}", found.len(), started.elapsed());
        assert_eq!(found.len(), 10);
    }
    let best = store.search("note 4711", Some(&vector(4711)), 1).unwrap();
    assert_eq!(best.first().map(|found| found.kept.id.0), Some(4712));
}
