use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_model::{Digest, Origin, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `[tools.result_cache]`: results of tools that only read, which the same call gets again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResultCacheOptions {
    /// Whether there are any.
    pub enabled: bool,
    /// For how long a result is good, in seconds; 0 is for as long as the session.
    pub ttl_secs: u64,
    /// How much the results of one session may take together, in bytes.
    pub max_bytes: usize,
}

impl Default for ResultCacheOptions {
    fn default() -> Self {
        Self { enabled: true, ttl_secs: 300, max_bytes: 16 * 1024 * 1024 }
    }
}

impl ResultCacheOptions {
    /// The checked settings.
    #[must_use]
    pub fn resolve(self) -> ResultCacheSettings {
        let ttl = (self.ttl_secs > 0).then(|| Duration::from_secs(self.ttl_secs));
        ResultCacheSettings { enabled: self.enabled, ttl, max_bytes: self.max_bytes }
    }
}

/// How results are cached, checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResultCacheSettings {
    /// Whether they are.
    pub enabled: bool,
    /// For how long a result is good; `None` is for as long as the session.
    pub ttl: Option<Duration>,
    /// How much they may take together, in bytes.
    pub max_bytes: usize,
}

impl Default for ResultCacheSettings {
    fn default() -> Self {
        ResultCacheOptions::default().resolve()
    }
}

/// Tools that are never cached, whatever they declare: they act, or what they answer changes with
/// what others do.
const NEVER: &[&str] = &[
    "bash",
    "compress_context",
    "edit_file",
    "invoke_skill",
    "load_skill",
    "memory_save",
    "memory_search",
    "schedule_deferred",
    "scheduler",
    "shell",
    "write",
    "write_file",
];

/// Whether results of this tool may be given again: it declares that it only reads and that it
/// may be called twice, it is none of those that never are, and it is nobody's MCP server.
#[must_use]
pub fn is_cacheable(tool: &Tool) -> bool {
    !may_write(tool)
        && tool.effects.idempotent == Some(true)
        && !NEVER.contains(&tool.name.as_str())
}

/// Whether a call of this tool may change what others read. What a stranger declares counts for
/// nothing.
#[must_use]
pub fn may_write(tool: &Tool) -> bool {
    matches!(tool.origin, Origin::Mcp { .. }) || tool.effects.writes != Some(false)
}

/// Results of one session. Safe to share: a session may be served by several threads.
#[derive(Debug)]
pub struct ToolResultCache {
    settings: ResultCacheSettings,
    state: Mutex<State>,
}

/// What a result is kept under: the tool, and the digest of the canonical arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The tool.
    pub tool: String,
    /// Digest of its canonical arguments.
    pub arguments: Digest,
}

/// A result as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedResult {
    /// The execution that gave it.
    pub execution_id: String,
    /// Its text, redacted.
    pub text: String,
    /// The result as JSON, redacted, where the tool gives JSON.
    pub structured: Option<Value>,
}

/// How often a cache had what was asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounts {
    /// Results given again.
    pub hits: u64,
    /// Results asked for that were not there, or no longer good.
    pub misses: u64,
    /// Results that are there.
    pub entries: usize,
    /// Bytes that they take.
    pub bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<CacheKey, Entry>,
    /// Keys by when they were put, the oldest first.
    order: BTreeMap<u64, CacheKey>,
    next: u64,
    /// Changes when something may have been written: what was read before is not put any more.
    generation: u64,
    bytes: usize,
    hits: u64,
    misses: u64,
}

#[derive(Debug)]
struct Entry {
    result: CachedResult,
    at: Duration,
    place: u64,
    bytes: usize,
}

impl ToolResultCache {
    /// An empty cache.
    #[must_use]
    pub fn new(settings: ResultCacheSettings) -> Self {
        Self { settings, state: Mutex::default() }
    }

    /// The result under this key, if it is still good at `now`, by a clock that never goes back.
    /// One that is not is dropped.
    #[must_use]
    pub fn get(&self, key: &CacheKey, now: Duration) -> Option<CachedResult> {
        if !self.settings.enabled {
            return None;
        }
        let mut state = self.state();
        let good =
            |entry: &Entry| self.settings.ttl.is_none_or(|ttl| now.saturating_sub(entry.at) < ttl);
        match state.entries.get(key).map(|entry| (good(entry), entry.result.clone())) {
            Some((true, result)) => {
                state.hits += 1;
                Some(result)
            }
            Some((false, _)) => {
                state.remove(key);
                state.misses += 1;
                None
            }
            None => {
                state.misses += 1;
                None
            }
        }
    }

    /// What [`ToolResultCache::put`] wants to know: which state of the world is about to be read.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Keeps a result that was read in this generation. Nothing happens when the cache is off, when
    /// something may have been written meanwhile, or when the result alone is too large.
    pub fn put(&self, key: CacheKey, result: CachedResult, generation: u64, now: Duration) {
        let json = result.structured.as_ref().map_or(0, |value| value.to_string().len());
        let bytes = key.tool.len() + result.execution_id.len() + result.text.len() + json + 256;
        let mut state = self.state();
        if !self.settings.enabled
            || state.generation != generation
            || bytes > self.settings.max_bytes
        {
            return;
        }
        state.remove(&key);
        while state.bytes + bytes > self.settings.max_bytes {
            let Some(oldest) = state.order.values().next().cloned() else { break };
            state.remove(&oldest);
        }
        let place = state.next;
        state.next += 1;
        state.bytes += bytes;
        state.order.insert(place, key.clone());
        state.entries.insert(key, Entry { result, at: now, place, bytes });
    }

    /// Drops every result, because something may have been written. The counters stay.
    pub fn invalidate(&self) {
        let mut state = self.state();
        state.drop_all();
    }

    /// Drops every result and sets the counters back.
    pub fn clear(&self) {
        let mut state = self.state();
        state.drop_all();
        state.hits = 0;
        state.misses = 0;
    }

    /// How often it had what was asked for.
    #[must_use]
    pub fn counts(&self) -> CacheCounts {
        let state = self.state();
        CacheCounts {
            hits: state.hits,
            misses: state.misses,
            entries: state.entries.len(),
            bytes: state.bytes,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn remove(&mut self, key: &CacheKey) {
        if let Some(entry) = self.entries.remove(key) {
            self.order.remove(&entry.place);
            self.bytes -= entry.bytes;
        }
    }

    fn drop_all(&mut self) {
        self.entries.clear();
        self.order.clear();
        self.bytes = 0;
        self.generation += 1;
    }
}
