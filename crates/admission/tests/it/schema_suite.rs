//! Runs the official JSON Schema test suite through the module that admission uses.

#![expect(clippy::disallowed_methods, reason = "reads the cases from files")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use counterfoil_admission::{Remotes, Schema};
use serde_json::{Value, json};

use crate::datasets;

/// Whether the schema, embedded like a tool's schema, accepts the instance.
fn check(
    schema: &Value,
    draft: &str,
    instance: &Value,
    remotes: &BTreeMap<String, Value>,
) -> Option<bool> {
    let mut schema = schema.clone();
    if let Value::Object(members) = &mut schema {
        members.entry("$schema").or_insert_with(|| Value::from(draft));
        if instance.is_object() {
            let compiled = Schema::compile(&schema, &Remotes::new(remotes.clone())).ok()?;
            return Some(agreed(&compiled, instance));
        }
    }
    // The schema becomes a property of an object, as every argument is. A schema with its own base
    // is embedded directly; any other is referenced, so that its `#` keeps referring to its own
    // root.
    let mut remotes = remotes.clone();
    let property = if schema.get("$id").is_some() {
        schema
    } else {
        remotes.insert("urn:counterfoil:case".to_owned(), schema);
        json!({"$ref": "urn:counterfoil:case"})
    };
    let parameters = json!({
        "$schema": draft,
        "type": "object",
        "properties": {"value": property},
        "required": ["value"],
    });
    let compiled = Schema::compile(&parameters, &Remotes::new(remotes)).ok()?;
    Some(agreed(&compiled, &json!({"value": instance})))
}

fn agreed(schema: &Schema, instance: &Value) -> bool {
    let valid = schema.is_valid(instance);
    assert_eq!(valid, schema.violations(instance).is_empty(), "{instance} {schema:?}");
    valid
}

#[test]
fn hand_written_cases() {
    const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";
    const LATEST: &str = "https://json-schema.org/draft/2020-12/schema";
    for (schema, draft, instance, expected) in [
        (json!({"type": "integer"}), LATEST, json!(true), Some(false)),
        (json!({"type": "integer"}), LATEST, json!(1.0), Some(true)),
        (json!({"type": ["string", "null"]}), LATEST, json!(null), Some(true)),
        (
            json!({"prefixItems": [{"type": "string"}], "items": false}),
            LATEST,
            json!(["a", 1]),
            Some(false),
        ),
        (
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            DRAFT_7,
            json!(["a", 1]),
            Some(false),
        ),
        (json!({"format": "email"}), DRAFT_7, json!("no"), Some(true)),
        (json!({"pattern": "^a+$"}), LATEST, json!("aab"), Some(false)),
        (json!({"pattern": "(?=a)"}), LATEST, json!("a"), None),
        (json!({"$ref": "https://elsewhere.example/x.json"}), LATEST, json!(1), None),
        (json!({"type": "strnig"}), LATEST, json!(1), None),
    ] {
        assert_eq!(check(&schema, draft, &instance, &BTreeMap::new()), expected, "{schema}");
    }
}

#[test]
fn required_cases_of_the_official_suite() {
    let Some(suite) = datasets::path("json-schema-test-suite") else { return };
    let mut remotes = BTreeMap::new();
    collect(&suite.join("remotes"), "http://localhost:1234", &mut remotes);
    let (mut passed, mut failed) = (0, Vec::new());
    for (folder, draft) in [
        ("draft7", "http://json-schema.org/draft-07/schema#"),
        ("draft2020-12", "https://json-schema.org/draft/2020-12/schema"),
    ] {
        let mut files: Vec<_> = fs::read_dir(suite.join(folder)).unwrap().flatten().collect();
        files.sort_by_key(|file| file.path());
        for file in files.iter().filter(|file| file.path().is_file()) {
            let groups: Value = serde_json::from_slice(&fs::read(file.path()).unwrap()).unwrap();
            for group in groups.as_array().unwrap() {
                for case in group["tests"].as_array().unwrap() {
                    let expected = case["valid"].as_bool();
                    if check(&group["schema"], draft, &case["data"], &remotes) == expected {
                        passed += 1;
                    } else {
                        let name =
                            |value: &Value| value["description"].as_str().unwrap().to_owned();
                        failed.push((file.path(), name(group), name(case)));
                    }
                }
            }
        }
    }
    println!("{passed} cases pass, {} fail", failed.len());
    assert!(failed.is_empty(), "{failed:#?}");
}

fn collect(folder: &Path, uri: &str, remotes: &mut BTreeMap<String, Value>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let uri = format!("{uri}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            collect(&entry.path(), &uri, remotes);
        } else {
            remotes.insert(uri, serde_json::from_slice(&fs::read(entry.path()).unwrap()).unwrap());
        }
    }
}
