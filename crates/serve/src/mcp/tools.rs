use std::sync::Arc;

use counterfoil_formats::read_tools;
use counterfoil_model::{Catalog, Origin, Tool};
use counterfoil_rules::{Admission, AdmissionSettings};
use serde_json::Value;

/// The tools that a server offers, as far as the client has asked for them.
#[derive(Debug, Default)]
pub(crate) struct Offered {
    /// The pages of a list that has not ended yet.
    pages: Vec<Tool>,
    /// The whole list; `None` while nobody has seen all of it.
    known: Option<Arc<Known>>,
}

/// A whole list.
#[derive(Debug)]
pub(crate) struct Known {
    catalog: Catalog,
    pub(crate) admission: Admission,
}

impl Known {
    pub(crate) fn tool(&self, name: &str) -> Option<&Tool> {
        self.catalog.get(name)
    }
}

impl Offered {
    pub(crate) fn known(&self) -> Option<Arc<Known>> {
        self.known.clone()
    }

    /// What was known is no longer true.
    pub(crate) fn forget(&mut self) {
        self.known = None;
        self.pages.clear();
    }

    /// Takes note of one page of `tools/list`. `first`: it was asked for without a cursor.
    pub(crate) fn page(
        &mut self,
        result: &Value,
        first: bool,
        server: &str,
        settings: &AdmissionSettings,
    ) {
        if first {
            self.forget();
        }
        match read_tools(result) {
            Ok(tools) => self.pages.extend(tools),
            Err(error) => {
                tracing::warn!(
                    "the tools of `{server}` cannot be read, so calls are not validated: {error}"
                );
                return self.forget();
            }
        }
        if result.get("nextCursor").is_some_and(Value::is_string) {
            return;
        }
        let origin = Origin::Mcp { server: server.to_owned() };
        let tools = std::mem::take(&mut self.pages).into_iter();
        let tools = tools.map(|tool| Tool { origin: origin.clone(), ..tool });
        let (catalog, _) = Catalog::known(tools);
        let (admission, issues) = Admission::compile(&catalog, settings.clone());
        for issue in issues {
            tracing::info!("tool `{}` of `{server}`: {}", issue.tool, issue.message);
        }
        self.known = Some(Arc::new(Known { catalog, admission }));
    }
}
