use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use counterfoil_model::{Digest, Origin, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// `[tools.result_cache]`: reuses results of read-only tools for identical calls.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ResultCacheOptions {
    /// Whether results are cached.
    pub enabled: bool,
    /// How long a result is valid, in seconds; 0 means for the whole session.
    pub ttl_secs: u64,
    /// The maximum total size of the results of one session, in bytes.
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
    /// Whether results are cached.
    pub enabled: bool,
    /// How long a result is valid; `None` means for the whole session.
    pub ttl: Option<Duration>,
    /// The maximum total size in bytes.
    pub max_bytes: usize,
}

impl Default for ResultCacheSettings {
    fn default() -> Self {
        ResultCacheOptions::default().resolve()
    }
}

/// Tools that are never cached, whatever they declare: they have effects, or their answers change
/// with the actions of others.
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

/// Whether results of this tool may be reused: it declares that it only reads and is idempotent, is
/// not in the list above, and does not come from an MCP server.
#[must_use]
pub fn is_cacheable(tool: &Tool) -> bool {
    !may_write(tool)
        && tool.effects.idempotent == Some(true)
        && !NEVER.contains(&tool.name.as_str())
}

/// Whether a call of this tool may change what others read. The declarations of MCP servers are not
/// trusted.
#[must_use]
pub fn may_write(tool: &Tool) -> bool {
    matches!(tool.origin, Origin::Mcp { .. }) || tool.effects.writes != Some(false)
}

/// The results of one session. Thread-safe.
#[derive(Debug)]
pub struct ToolResultCache {
    settings: ResultCacheSettings,
    state: Mutex<State>,
}

/// The key of a result: the tool and the digest of the canonical arguments.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CacheKey {
    /// The tool.
    pub tool: String,
    /// The digest of its canonical arguments.
    pub arguments: Digest,
}

/// A result as it was recorded.
#[derive(Debug, Clone, PartialEq)]
pub struct CachedResult {
    /// The execution that produced it.
    pub execution_id: String,
    /// Its text, redacted.
    pub text: String,
    /// The result as JSON, redacted, if the tool returns JSON.
    pub structured: Option<Value>,
}

/// The statistics of a cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CacheCounts {
    /// The number of results reused.
    pub hits: u64,
    /// The number of lookups that found no valid result.
    pub misses: u64,
    /// The number of results in the cache.
    pub entries: usize,
    /// Their total size in bytes.
    pub bytes: usize,
}

#[derive(Debug, Default)]
struct State {
    entries: HashMap<CacheKey, Entry>,
    /// Keys by insertion order, oldest first.
    order: BTreeMap<u64, CacheKey>,
    next: u64,
    /// Changes when something may have been written; results read before that are not stored any
    /// more.
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

    /// The result under this key, if it is still valid at `now`, which is monotonic. Drops it if it
    /// has expired.
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

    /// The current generation, for [`ToolResultCache::put`]. Must be read before the result is.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.state().generation
    }

    /// Stores a result that was read in this generation. Does nothing if the cache is off, if
    /// something may have been written since, or if the result alone is too large.
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

    /// Drops every result, because something may have been written. Keeps the counters.
    pub fn invalidate(&self) {
        let mut state = self.state();
        state.drop_all();
    }

    /// Drops every result and resets the counters.
    pub fn clear(&self) {
        let mut state = self.state();
        state.drop_all();
        state.hits = 0;
        state.misses = 0;
    }

    /// The statistics.
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
