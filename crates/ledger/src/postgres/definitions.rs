//! Verifies that the tables of a ledger still have their original definitions.

use std::collections::BTreeSet;

use super::link::{Failure, Link, column};
use super::schema;
use crate::read::ReadLedgerError;

/// The columns of each table, in order; `!` marks those that are never null.
const COLUMNS: [(&str, &str); 9] = [
    ("ledger", "id smallint!, origin text!, version integer!"),
    ("sessions", "id bigint!, name text!"),
    (
        "events",
        "seq bigint!, session bigint!, session_seq bigint!, calls bigint!, kind text!, \
         execution_id text, opening bigint, digest bytea!, body bytea!",
    ),
    ("nodes", "level smallint!, number bigint!, hash bytea!"),
    ("checkpoints", "size bigint!, note text!"),
    ("keys", "number bigint!, public bytea!, note text!"),
    ("tombstones", "cut bigint!, note text!"),
    ("result_tombstones", "cut bigint!, note text!"),
    ("results", "id bigint!, digest bytea!, size bigint!, packed smallint!, bytes bytea!"),
];

/// The required indexes. There may be others.
const INDEXES: [&str; 14] = [
    "CREATE UNIQUE INDEX checkpoints_pkey ON checkpoints USING btree (size)",
    "CREATE UNIQUE INDEX events_of_session ON events USING btree (session, session_seq)",
    "CREATE UNIQUE INDEX events_pkey ON events USING btree (seq)",
    "CREATE INDEX events_that_follow ON events USING btree (opening) WHERE opening IS NOT NULL",
    "CREATE UNIQUE INDEX events_that_open ON events USING btree (execution_id) WHERE execution_id IS NOT NULL",
    "CREATE UNIQUE INDEX keys_pkey ON keys USING btree (number)",
    "CREATE UNIQUE INDEX ledger_pkey ON ledger USING btree (id)",
    "CREATE UNIQUE INDEX nodes_pkey ON nodes USING btree (level, number)",
    "CREATE UNIQUE INDEX result_tombstones_pkey ON result_tombstones USING btree (cut)",
    "CREATE UNIQUE INDEX results_by_digest ON results USING btree (digest)",
    "CREATE UNIQUE INDEX results_pkey ON results USING btree (id)",
    "CREATE UNIQUE INDEX sessions_by_name ON sessions USING btree (name)",
    "CREATE UNIQUE INDEX sessions_pkey ON sessions USING btree (id)",
    "CREATE UNIQUE INDEX tombstones_pkey ON tombstones USING btree (cut)",
];

/// Compares the definitions in the database with those of a ledger.
pub(super) fn verify(link: &Link) -> Result<(), ReadLedgerError> {
    let tables: Vec<(String, String)> = pairs(link, TABLES)?;
    for (table, columns) in COLUMNS {
        if !tables.iter().any(|(name, found)| name == table && found == columns) {
            return changed(&format!("table `{table}`"));
        }
    }
    let indexes: BTreeSet<String> = texts(link, INDEXES_THERE)?;
    if let Some(index) = INDEXES.iter().find(|index| !indexes.contains(**index)) {
        return changed(&format!("index `{index}`"));
    }
    let triggers = texts(link, TRIGGERS)?;
    let ours: BTreeSet<String> = schema::NAMES
        .iter()
        .flat_map(|table| schema::triggers(table))
        .map(|(name, definition)| format!("CREATE TRIGGER {name} {definition}"))
        .collect();
    if let Some(trigger) = ours.symmetric_difference(&triggers).next() {
        return changed(&format!("trigger `{trigger}`"));
    }
    let functions = texts(link, FUNCTIONS)?;
    let ours: BTreeSet<String> =
        schema::TABLES.split("$$").skip(1).step_by(2).map(str::to_owned).collect();
    if ours != functions {
        return changed("trigger function");
    }
    match texts(link, STRANGE)?.first() {
        Some(strange) => changed(strange),
        None => Ok(()),
    }
}

fn changed(what: &str) -> Result<(), ReadLedgerError> {
    Err(ReadLedgerError::Broken { what: format!("the definition of the {what} was changed") })
}

fn texts(link: &Link, query: &'static str) -> Result<BTreeSet<String>, Failure> {
    link.rows(query, &[])?.iter().map(|row| column(row, 0)).collect()
}

fn pairs(link: &Link, query: &'static str) -> Result<Vec<(String, String)>, Failure> {
    link.rows(query, &[])?.iter().map(|row| Ok((column(row, 0)?, column(row, 1)?))).collect()
}

/// Plain tables with their columns.
const TABLES: &str = "
    SELECT c.relname::text,
           string_agg(a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
                      || CASE WHEN a.attnotnull THEN '!' ELSE '' END, ', ' ORDER BY a.attnum)
    FROM pg_class c
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
      AND NOT c.relrowsecurity
    GROUP BY c.relname";

const INDEXES_THERE: &str = "
    SELECT pg_get_indexdef(i.indexrelid, 0, true)
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND i.indisvalid AND i.indisready";

/// The enabled triggers on our tables.
const TRIGGERS: &str = "
    SELECT pg_get_triggerdef(t.oid, true)
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal
      AND t.tgenabled IN ('O', 'A')
      AND c.relname IN ('ledger', 'sessions', 'events', 'nodes', 'checkpoints', 'keys',
                        'tombstones', 'result_tombstones', 'results')";

/// The source of the trigger functions, if their search path is fixed to our schema.
const FUNCTIONS: &str = "
    SELECT p.prosrc
    FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
    WHERE p.pronamespace = current_schema()::regnamespace AND l.lanname = 'plpgsql'
      AND p.proname IN ('ledger_refuses', 'ledger_drops')
      AND p.proconfig = ARRAY['search_path=' || quote_ident(current_schema()) || ', pg_temp']";

/// Rules, and tables that inherit from ours: both change the result of a query.
const STRANGE: &str = "
    SELECT 'rule `' || r.rulename || '`'
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    WHERE c.relnamespace = current_schema()::regnamespace
      AND c.relname IN ('ledger', 'sessions', 'events', 'nodes', 'checkpoints', 'keys',
                        'tombstones', 'result_tombstones', 'results')
    UNION ALL
    SELECT 'table `' || i.inhrelid::regclass || '`, which adds rows,'
    FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhparent
    WHERE c.relnamespace = current_schema()::regnamespace
      AND c.relname IN ('ledger', 'sessions', 'events', 'nodes', 'checkpoints', 'keys',
                        'tombstones', 'result_tombstones', 'results')";
