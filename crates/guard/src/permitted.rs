use counterfoil_model::PermitBasis;

/// What permits a call.
#[derive(Debug)]
pub(crate) struct Permitted {
    pub(crate) basis: PermitBasis,
    /// The rules that decided, if the basis does not name them.
    pub(crate) rules: Vec<String>,
}
