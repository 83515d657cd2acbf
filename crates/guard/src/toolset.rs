use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use counterfoil_admission::{Admission, AdmissionSettings, CatalogIssue};
use counterfoil_model::{Catalog, Digest};

use crate::executor::{CompositeExecutor, ToolExecutor};
use crate::export::tool_list;
use crate::timeline::catalog_of;

/// A guard's tools at one time: the catalog, and what calls are checked against.
pub(crate) struct Toolset {
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) issues: Vec<CatalogIssue>,
    pub(crate) admission: Admission,
    /// The names of all available tools.
    pub(crate) names: Arc<BTreeSet<String>>,
    /// The list of tools in the form that sessions record.
    pub(crate) list: Vec<u8>,
    pub(crate) digest: Digest,
    /// What `list` says, read when the first session begins.
    recorded: OnceLock<Catalog>,
}

impl Toolset {
    pub(crate) fn new(executor: &CompositeExecutor, settings: &AdmissionSettings) -> Self {
        let (catalog, _) = Catalog::known(ToolExecutor::tool_definitions(executor));
        let (admission, issues) = Admission::compile(&catalog, settings.clone());
        let available = catalog.iter().filter(|tool| tool.available);
        let names = Arc::new(available.map(|tool| tool.name.clone()).collect());
        let list = tool_list(&catalog).to_string().into_bytes();
        let digest = Digest::of_bytes(&list);
        let catalog = Arc::new(catalog);
        Self { catalog, issues, admission, names, list, digest, recorded: OnceLock::new() }
    }

    /// The catalog as the record of a session has it.
    pub(crate) fn recorded(&self) -> &Catalog {
        self.recorded.get_or_init(|| catalog_of(&self.list))
    }
}
