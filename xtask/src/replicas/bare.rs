//! Inserts the same bytes without checking, sealing or signing anything.

use std::time::Instant;

use anyhow::Result;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls};

/// The number of events in one transaction: as many as one replica has in progress.
const AT_ONCE: usize = 2048;

/// An event and its result, as the ledger stores them.
struct Row {
    numbers: [i64; 4],
    kind: String,
    execution_id: Option<String>,
    opening: Option<i64>,
    digest: Vec<u8>,
    body: Vec<u8>,
    result: Option<(i64, Vec<u8>, i64, i16, Vec<u8>)>,
}

/// Events per second, with multi-row inserts on one connection.
pub(super) struct Rates {
    /// Number, digest and bytes, into tables with primary keys only.
    pub(super) bytes: f64,
    /// Every column, into tables with the ledger's columns and indexes.
    pub(super) rows: f64,
}

pub(super) fn rates(of: &str, schema: &str, into: &str) -> Result<Rates> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let rows = read(&connect(of).await?).await?;
        let client = connect(into).await?;
        let tables = format!(
            "CREATE TABLE bytes (seq bigint PRIMARY KEY, digest bytea, body bytea);
             CREATE TABLE result_bytes (seq bigint PRIMARY KEY, bytes bytea);
             CREATE TABLE events (LIKE {schema}.events INCLUDING ALL);
             CREATE TABLE results (LIKE {schema}.results INCLUDING ALL)"
        );
        client.batch_execute(&tables).await?;
        let started = Instant::now();
        insert_bytes(&client, &rows).await?;
        let bytes = rows.len() as f64 / started.elapsed().as_secs_f64();
        let started = Instant::now();
        insert_rows(&client, &rows).await?;
        Ok(Rates { bytes, rows: rows.len() as f64 / started.elapsed().as_secs_f64() })
    })
}

async fn insert_bytes(client: &Client, rows: &[Row]) -> Result<()> {
    let events = "INSERT INTO bytes SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bytea[])";
    let results = "INSERT INTO result_bytes SELECT * FROM unnest($1::bigint[], $2::bytea[])";
    let (events, results) = (client.prepare(events).await?, client.prepare(results).await?);
    for group in rows.chunks(AT_ONCE) {
        let seqs: Vec<i64> = group.iter().filter_map(|row| row.numbers.first().copied()).collect();
        let digests: Vec<&[u8]> = group.iter().map(|row| row.digest.as_slice()).collect();
        let bodies: Vec<&[u8]> = group.iter().map(|row| row.body.as_slice()).collect();
        let stored = group.iter().filter_map(|row| row.result.as_ref());
        let (ids, bytes): (Vec<i64>, Vec<&[u8]>) =
            stored.map(|(id, _, _, _, bytes)| (*id, bytes.as_slice())).unzip();
        client.batch_execute("BEGIN").await?;
        client.execute(&events, &[&seqs, &digests, &bodies]).await?;
        client.execute(&results, &[&ids, &bytes]).await?;
        client.batch_execute("COMMIT").await?;
    }
    Ok(())
}

async fn insert_rows(client: &Client, rows: &[Row]) -> Result<()> {
    let events = "INSERT INTO events
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[],
                             $6::text[], $7::bigint[], $8::bytea[], $9::bytea[])";
    let results = "INSERT INTO results
        SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::smallint[], $5::bytea[])";
    let (events, results) = (client.prepare(events).await?, client.prepare(results).await?);
    for group in rows.chunks(AT_ONCE) {
        let numbers: Vec<Vec<i64>> = (0..4_usize)
            .map(|at| group.iter().filter_map(|row| row.numbers.get(at).copied()).collect())
            .collect();
        let kinds: Vec<&str> = group.iter().map(|row| row.kind.as_str()).collect();
        let executions: Vec<Option<&str>> =
            group.iter().map(|row| row.execution_id.as_deref()).collect();
        let openings: Vec<Option<i64>> = group.iter().map(|row| row.opening).collect();
        let digests: Vec<&[u8]> = group.iter().map(|row| row.digest.as_slice()).collect();
        let bodies: Vec<&[u8]> = group.iter().map(|row| row.body.as_slice()).collect();
        let mut columns: Vec<&(dyn ToSql + Sync)> = Vec::new();
        numbers.iter().for_each(|column| columns.push(column));
        columns.extend([&kinds as &(dyn ToSql + Sync), &executions, &openings, &digests, &bodies]);
        let stored: Vec<_> = group.iter().filter_map(|row| row.result.as_ref()).collect();
        let ids: Vec<i64> = stored.iter().map(|result| result.0).collect();
        let of: Vec<&[u8]> = stored.iter().map(|result| result.1.as_slice()).collect();
        let sizes: Vec<i64> = stored.iter().map(|result| result.2).collect();
        let packed: Vec<i16> = stored.iter().map(|result| result.3).collect();
        let bytes: Vec<&[u8]> = stored.iter().map(|result| result.4.as_slice()).collect();
        client.batch_execute("BEGIN").await?;
        client.execute(&events, &columns).await?;
        client.execute(&results, &[&ids, &of, &sizes, &packed, &bytes]).await?;
        client.batch_execute("COMMIT").await?;
    }
    Ok(())
}

async fn read(client: &Client) -> Result<Vec<Row>> {
    let query =
        "SELECT e.seq, e.session, e.session_seq, e.calls, e.kind, e.execution_id, e.opening,
                        e.digest, e.body, r.id, r.digest, r.size, r.packed, r.bytes
                 FROM events e LEFT JOIN results r ON r.id / 256 = e.seq ORDER BY e.seq";
    let rows = client.query(query, &[]).await?;
    let row = |row: &tokio_postgres::Row| {
        let result = match row.try_get::<_, Option<i64>>(9)? {
            Some(id) => {
                let (digest, size) = (row.try_get(10)?, row.try_get(11)?);
                Some((id, digest, size, row.try_get(12)?, row.try_get(13)?))
            }
            None => None,
        };
        Ok(Row {
            numbers: [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?, row.try_get(3)?],
            kind: row.try_get(4)?,
            execution_id: row.try_get(5)?,
            opening: row.try_get(6)?,
            digest: row.try_get(7)?,
            body: row.try_get(8)?,
            result,
        })
    };
    rows.iter().map(row).collect()
}

async fn connect(url: &str) -> Result<Client> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}
