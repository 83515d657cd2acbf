//! The built-in filters: one file per command family, and one line each here. The first filter that
//! matches a command is used.

use std::sync::{Arc, LazyLock};

use super::{Filter, FilterDeclaration};

/// The files with their names, specific ones before general ones.
const DECLARED: &[(&str, &str)] = &[
    ("cargo", include_str!("cargo.toml")),
    ("pytest", include_str!("pytest.toml")),
    ("unittest", include_str!("unittest.toml")),
    ("packages-js", include_str!("packages-js.toml")),
    ("tests-js", include_str!("tests-js.toml")),
    ("go", include_str!("go.toml")),
    ("logs", include_str!("logs.toml")),
    ("git", include_str!("git.toml")),
    ("list", include_str!("list.toml")),
    ("docker", include_str!("docker.toml")),
    ("kubectl", include_str!("kubectl.toml")),
    ("make", include_str!("make.toml")),
    ("pip", include_str!("pip.toml")),
    ("apt", include_str!("apt.toml")),
    ("jvm", include_str!("jvm.toml")),
];

static BUILT_IN: LazyLock<Vec<Arc<dyn Filter>>> = LazyLock::new(|| {
    // The test below checks them fully; here it would cost every process time at startup.
    let all = DECLARED.iter().filter_map(|(_, text)| read(text).ok()?.unproven().ok());
    all.map(|filter| Arc::new(filter) as Arc<dyn Filter>).collect()
});

/// Every built-in filter.
pub(super) fn built_in() -> &'static [Arc<dyn Filter>] {
    &BUILT_IN
}

fn read(text: &str) -> Result<FilterDeclaration, String> {
    toml::from_str(text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_filter_of_its_name() {
        let declared = |text| read(text)?.resolve().map_err(|error| error.to_string());
        let names: Vec<Result<String, String>> =
            DECLARED.iter().map(|(_, text)| declared(text).map(|filter| filter.id().0)).collect();
        let expected: Vec<Result<String, String>> =
            DECLARED.iter().map(|(name, _)| Ok((*name).to_owned())).collect();
        assert_eq!(names, expected);
        assert_eq!(built_in().len(), DECLARED.len());
    }
}
