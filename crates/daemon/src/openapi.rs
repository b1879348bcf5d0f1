//! The description of the native API, made from the table of routes.

use std::sync::Arc;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::router::{Route, Who};

/// The document for these routes.
#[must_use]
pub fn document(routes: &[Arc<Route>]) -> Value {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let operation = operation(&mut generator, route);
        let path = match route.mark {
            None => route.path.to_owned(),
            Some(mark) => format!("{}?{mark}", route.path),
        };
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(route.method.as_str().to_ascii_lowercase(), operation);
        }
    }
    let error = json!({
        "type": "object",
        "required": ["error"],
        "properties": { "error": generator.subschema_for::<portcullis_wire::errors::Error>() },
    });
    let mut schemas: Map<String, Value> = generator.take_definitions(true).into_iter().collect();
    schemas.insert("Fault".to_owned(), error);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Portcullis",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Decides whether an agent's tool call may run, and asks a person when it may not decide alone.",
            "license": { "name": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "key": { "type": "http", "scheme": "bearer" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": "portcullis" },
            },
        },
    })
}

fn operation(generator: &mut SchemaGenerator, route: &Route) -> Value {
    let ok = match route.gives {
        Some(gives) => json!({
            "description": route.about,
            "content": { "application/json": { "schema": gives(generator) } },
        }),
        None => json!({ "description": route.about }),
    };
    let fault = json!({
        "description": "why not",
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Fault" } } },
    });
    let mut operation = json!({
        "summary": route.about,
        "description": format!("For: {}.", who(route.who)),
        "parameters": parameters(route.path),
        "responses": { "2XX": ok, "4XX": fault, "503": fault },
    });
    let Some(members) = operation.as_object_mut() else { return operation };
    if let Some(takes) = route.takes {
        let content = json!({ "application/json": { "schema": takes(generator) } });
        members.insert("requestBody".to_owned(), json!({ "required": true, "content": content }));
    }
    if route.who != Who::Anyone {
        members.insert("security".to_owned(), json!([{ "key": [] }, { "cookie": [] }]));
    }
    operation
}

/// The names in braces of a path.
fn parameters(path: &str) -> Vec<Value> {
    path.split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
        .map(|name| {
            json!({
                "name": name, "in": "path", "required": true, "schema": { "type": "string" },
            })
        })
        .collect()
}

const fn who(who: Who) -> &'static str {
    match who {
        Who::Anyone => "anybody",
        Who::AnyKey => "any key",
        Who::Agent => "agents",
        Who::AgentOrApprover => "agents and approvers",
        Who::Approver => "approvers",
        Who::Admin => "admins",
    }
}
