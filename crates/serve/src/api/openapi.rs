//! Generates the OpenAPI document from the table of endpoints and their types.

use hyper::Method;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::resource::{ROOT, Resource};
use crate::dashboard::Dashboard;
use crate::dashboard::request::{ENTRIES, MOST_ENTRIES};
use crate::dashboard::visitor::Role;

/// The schema of an object whose members are documented elsewhere.
pub(super) fn any_object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// The document as text.
pub(super) fn document(dashboard: &Dashboard, resources: &[Resource]) -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for resource in resources {
        let path = format!("{ROOT}{}", resource.path);
        let operation = operation(resource, &mut generator);
        let entry = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(entry) = entry.as_object_mut() {
            entry.insert(resource.method.as_str().to_ascii_lowercase(), operation);
        }
    }
    let mut schemas = generator.take_definitions(true);
    schemas.insert("Problem".to_owned(), problem());
    let document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Counterfoil",
            "version": dashboard.version(),
            "description": "The contents of a Counterfoil ledger: sessions, receipts, judged \
                            answers, approvals. Text written by a model or a tool is untrusted.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    });
    serde_json::to_string_pretty(&document).unwrap_or_default()
}

fn operation(resource: &Resource, generator: &mut SchemaGenerator) -> Value {
    let answer = (resource.answer)(generator);
    let named = resource.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        Some(json!({
            "name": name, "in": "path", "required": true,
            "schema": { "type": "string", "minLength": 1 },
        }))
    });
    let parameters: Vec<Value> = named.chain(resource.query.iter().map(parameter)).collect();
    let mut object = json!({
        "operationId": resource.id,
        "summary": resource.summary,
        "parameters": parameters,
        "responses": responses(resource, answer.to_value()),
    });
    let Some(members) = object.as_object_mut() else { return object };
    if resource.role > Role::Read {
        let needs = format!("Needs the role `{}`.", resource.role.name());
        members.insert("description".to_owned(), json!(needs));
    }
    if let Some(body) = resource.body {
        let schema = body(generator).to_value();
        let content = json!({ "application/json": { "schema": schema } });
        members.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    object
}

fn parameter(name: &&str) -> Value {
    let (schema, what) = match *name {
        "limit" => (
            json!({ "type": "integer", "minimum": 1, "maximum": MOST_ENTRIES, "default": ENTRIES }),
            "Maximum number of entries",
        ),
        "cursor" => (json!({ "type": "string" }), "The `next` value of the previous page"),
        "state" => (json!({ "type": "string" }), "`waiting` or `decided`"),
        _ => (json!({ "type": "string" }), "Only entries of this session"),
    };
    json!({ "name": name, "in": "query", "required": false, "description": what, "schema": schema })
}

fn responses(resource: &Resource, answer: Value) -> Value {
    let problem = |what: &str| {
        let schema = json!({ "$ref": "#/components/schemas/Problem" });
        let content = json!({ "application/problem+json": { "schema": schema } });
        json!({ "description": what, "content": content })
    };
    let mut all = Map::new();
    let content = json!({ "application/json": { "schema": answer } });
    all.insert("200".to_owned(), json!({ "description": "Success", "content": content }));
    let mut add = |status: &str, what: &str| {
        all.insert(status.to_owned(), problem(what));
    };
    add("400", "Invalid request");
    add("401", "A token is required");
    add("403", "This token, host or page is not allowed");
    add("405", "Method not allowed");
    add("429", "Too many requests");
    add("503", "The ledger has not been read to its end");
    if resource.path.contains('{') || resource.body.is_some() || resource.query.contains(&"session")
    {
        add("404", "Not found");
    }
    if resource.method == Method::POST || resource.path == "/policy" {
        add("409", "Conflict with the current state");
    }
    if resource.method == Method::POST {
        add("408", "The body did not arrive in time");
        add("413", "The body is too long");
        add("415", "The body is not JSON");
        add("422", "The policy is invalid");
    }
    Value::Object(all)
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "The problem, in the format of RFC 9457.",
        "required": ["type", "title", "status", "detail"],
        "properties": {
            "type": { "type": "string" },
            "title": { "type": "string" },
            "status": { "type": "integer" },
            "detail": { "type": "string" },
        },
    })
}
