use counterfoil_model::{Effects, Origin, Presentation, Tool};
use serde_json::{Map, Value};

/// Why a list of tools cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolListError {
    /// The value is neither a list nor an object of tools.
    #[error("expected a list of tools{}, got {found}", placed(.place))]
    NotAList {
        /// JSON Pointer to the value.
        place: String,
        /// What was found instead.
        found: &'static str,
    },
    /// An element is not a tool.
    #[error("tool at `{place}`: expected a tool definition, got {found}")]
    NotATool {
        /// JSON Pointer to the element.
        place: String,
        /// What was found instead.
        found: &'static str,
    },
    /// A tool has no name, or an empty one.
    #[error("tool at `{place}`: missing name")]
    NoName {
        /// JSON Pointer to the element.
        place: String,
    },
    /// A member of a tool has the wrong type.
    #[error("tool `{tool}` at `{place}`: expected {expected}, got {found}")]
    Wrong {
        /// The tool's name.
        tool: String,
        /// JSON Pointer to the member.
        place: String,
        /// What was expected.
        expected: &'static str,
        /// What was found instead.
        found: &'static str,
    },
}

/// Reads a list of tools in any of the usual shapes.
///
/// The list: an array, an object with `tools`, `functions` or `functionDeclarations`, a result of
/// MCP `tools/list`, or an object of definitions by name. An element: a name alone, a bare schema
/// (in an object by name), `{parameters}`, OpenAI chat `{type, function: {…}}`, OpenAI Responses
/// `{type, name, parameters}`, Anthropic `{name, input_schema}`, MCP
/// `{name, inputSchema, outputSchema, annotations}`, Gemini `{functionDeclarations: […]}`, OpenAI
/// `{type: "namespace", tools: […]}`.
///
/// # Errors
/// Names the tool and its position (a JSON Pointer).
pub fn read_tools(value: &Value) -> Result<Vec<Tool>, ToolListError> {
    let mut tools = Vec::new();
    read_list(value, "", &mut tools)?;
    Ok(tools)
}

fn read_list(value: &Value, place: &str, tools: &mut Vec<Tool>) -> Result<(), ToolListError> {
    match value {
        Value::Array(list) => {
            for (at, element) in list.iter().enumerate() {
                read_element(element, &format!("{place}/{at}"), tools)?;
            }
            Ok(())
        }
        Value::Object(object) => {
            for wrapper in ["tools", "functions", "functionDeclarations", "function_declarations"] {
                if let Some(inner) = object.get(wrapper).filter(|inner| !inner.is_null()) {
                    return read_list(inner, &format!("{place}/{wrapper}"), tools);
                }
            }
            if let Some(result @ Value::Object(_)) = object.get("result") {
                return read_list(result, &format!("{place}/result"), tools);
            }
            if object.get("name").is_some_and(Value::is_string)
                || object.get("function").is_some_and(Value::is_object)
            {
                return read_element(value, place, tools);
            }
            for (name, definition) in object {
                let place = format!("{place}/{}", escaped(name));
                tools.push(read_named(name, definition, &place)?);
            }
            Ok(())
        }
        other => Err(ToolListError::NotAList { place: place.to_owned(), found: kind(other) }),
    }
}

fn read_element(value: &Value, place: &str, tools: &mut Vec<Tool>) -> Result<(), ToolListError> {
    let object = match value {
        Value::String(name) if name.is_empty() => {
            return Err(ToolListError::NoName { place: place.to_owned() });
        }
        Value::String(name) => {
            tools.push(Tool::named(name));
            return Ok(());
        }
        Value::Object(object) => object,
        other => {
            return Err(ToolListError::NotATool { place: place.to_owned(), found: kind(other) });
        }
    };
    for wrapper in ["functionDeclarations", "function_declarations"] {
        if let Some(inner) = object.get(wrapper) {
            return read_list(inner, &format!("{place}/{wrapper}"), tools);
        }
    }
    // OpenAI's namespaces are groups of tools; calls name the tool.
    if object.get("type").is_some_and(|kind| kind == "namespace")
        && let Some(inner @ Value::Array(_)) = object.get("tools")
    {
        return read_list(inner, &format!("{place}/tools"), tools);
    }
    if let Some(Value::Object(function)) = object.get("function") {
        let mut tool = read_definition(function, &format!("{place}/function"))?;
        availability(object, &mut tool);
        tools.push(tool);
        return Ok(());
    }
    // A tool whose argument is plain text has no schema.
    if let Some(Value::Object(custom)) = object.get("custom")
        && let Some(name) = custom.get("name").and_then(Value::as_str)
    {
        let description = custom.get("description").and_then(Value::as_str).unwrap_or_default();
        tools.push(Tool { description: description.to_owned(), ..Tool::named(name) });
        return Ok(());
    }
    // Tools that the vendor runs itself have a type and no schema: `{"type": "web_search"}`.
    if !object.contains_key("name")
        && let Some(Value::String(vendor)) = object.get("type")
        && vendor != "function"
        && !vendor.is_empty()
    {
        tools.push(Tool::named(vendor));
        return Ok(());
    }
    tools.push(read_definition(object, place)?);
    Ok(())
}

/// Reads an entry of an object keyed by tool name: a wrapped definition, or the schema itself.
fn read_named(name: &str, value: &Value, place: &str) -> Result<Tool, ToolListError> {
    let object = match value {
        Value::Object(object) => object,
        Value::Null => return Ok(Tool::named(name)),
        Value::String(description) => {
            return Ok(Tool { description: description.clone(), ..Tool::named(name) });
        }
        other => {
            return Err(ToolListError::NotATool { place: place.to_owned(), found: kind(other) });
        }
    };
    if let Some(Value::Object(function)) = object.get("function") {
        return definition(name.to_owned(), function, &format!("{place}/function"));
    }
    let wrapped =
        SCHEMAS.iter().chain(&["description", "available"]).any(|k| object.contains_key(*k));
    let looks_like_schema = object.contains_key("properties")
        || object.contains_key("$schema")
        || object.get("type").is_some_and(|kind| kind == "object");
    if wrapped && !looks_like_schema {
        return definition(name.to_owned(), object, place);
    }
    let mut tool = Tool::named(name);
    if !object.is_empty() {
        tool.parameters = Some(value.clone());
        if let Some(Value::String(description)) = object.get("description") {
            tool.description.clone_from(description);
        }
    }
    Ok(tool)
}

fn read_definition(object: &Map<String, Value>, place: &str) -> Result<Tool, ToolListError> {
    match object
        .get("name")
        .or_else(|| object.get("title").filter(|_| object.contains_key("inputSchema")))
    {
        Some(Value::String(name)) if !name.is_empty() => definition(name.clone(), object, place),
        _ => Err(ToolListError::NoName { place: place.to_owned() }),
    }
}

/// The members under which vendors put the schema of the arguments.
const SCHEMAS: [&str; 6] = [
    "parameters",
    "input_schema",
    "inputSchema",
    "parametersJsonSchema",
    "parameters_json_schema",
    "schema",
];

fn definition(
    name: String,
    object: &Map<String, Value>,
    place: &str,
) -> Result<Tool, ToolListError> {
    let mut tool = Tool::named(name);
    if let Some(Value::String(description)) = object.get("description") {
        tool.description.clone_from(description);
    }
    // The shape of Counterfoil's own export, for gated tools.
    match object.get("origin").and_then(Value::as_str) {
        Some("builtin") => tool.origin = Origin::Builtin,
        Some(origin) => {
            if let Some(name) = origin.strip_prefix("skill:") {
                tool.origin = Origin::Skill { name: name.to_owned() };
            }
        }
        None => {}
    }
    tool.parameters = schema(object, &SCHEMAS, &tool.name, place)?;
    tool.output =
        schema(object, &["outputSchema", "output_schema", "response"], &tool.name, place)?;
    availability(object, &mut tool);
    if let Some(Value::Object(annotations)) = object.get("annotations") {
        tool.effects = hinted(annotations);
    }
    tool.presentation = presentation(object);
    if let Some(Value::Object(effects)) = object.get("effects") {
        declared(effects, &mut tool.effects);
    }
    if let Some(origin) = object.get("origin").and_then(origin) {
        tool.origin = origin;
    }
    Ok(tool)
}

fn schema(
    object: &Map<String, Value>,
    names: &[&str],
    tool: &str,
    place: &str,
) -> Result<Option<Value>, ToolListError> {
    let Some((name, value)) =
        names.iter().find_map(|name| Some((*name, object.get(*name).filter(|v| !v.is_null())?)))
    else {
        return Ok(None);
    };
    match value {
        Value::Object(_) | Value::Bool(_) => Ok(Some(value.clone())),
        other => Err(ToolListError::Wrong {
            tool: tool.to_owned(),
            place: format!("{place}/{name}"),
            expected: "a JSON Schema (an object)",
            found: kind(other),
        }),
    }
}

fn availability(object: &Map<String, Value>, tool: &mut Tool) {
    if let Some(available) = object.get("available").and_then(Value::as_bool) {
        tool.available = available;
    }
}

fn presentation(object: &Map<String, Value>) -> Presentation {
    let member = |name: &str| object.get(name).filter(|value| !value.is_null()).cloned();
    Presentation {
        title: object.get("title").and_then(Value::as_str).map(str::to_owned),
        icons: member("icons"),
        annotations: member("annotations"),
        meta: member("_meta"),
    }
}

/// The hints of MCP annotations.
fn hinted(annotations: &Map<String, Value>) -> Effects {
    let hint = |name: &str| annotations.get(name).and_then(Value::as_bool);
    Effects {
        reads: None,
        writes: hint("readOnlyHint").map(|read_only| !read_only),
        network: hint("openWorldHint"),
        idempotent: hint("idempotentHint"),
        retrieves: None,
    }
}

/// Effects as Counterfoil's own lists declare them.
fn declared(object: &Map<String, Value>, effects: &mut Effects) {
    for (name, effect) in [
        ("reads", &mut effects.reads),
        ("writes", &mut effects.writes),
        ("network", &mut effects.network),
        ("idempotent", &mut effects.idempotent),
        ("retrieves", &mut effects.retrieves),
    ] {
        *effect = object.get(name).and_then(Value::as_bool).or(*effect);
    }
}

/// An origin as Counterfoil writes it, such as `{"kind": "mcp", "server": "…"}`.
fn origin(value: &Value) -> Option<Origin> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    match value.get("kind").and_then(Value::as_str).or(value.as_str())? {
        "builtin" => Some(Origin::Builtin),
        "external" => Some(Origin::External),
        "mcp" => Some(Origin::Mcp { server: text("server")? }),
        "skill" => Some(Origin::Skill { name: text("name")? }),
        _ => None,
    }
}

fn placed(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at `{place}`") }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Escapes a key for use in a JSON Pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
