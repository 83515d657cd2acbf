use super::call::{Call, Found, scoped, whole};
use super::kind::ActivityKind::{Build, Format, Lint, Publish, Run, Test};
use super::kind::Scope;

pub(super) fn read(call: &Call<'_>) -> Option<Vec<Found>> {
    match call.program {
        "gradle" | "gradlew" | "gradlew.bat" => Some(gradle(call)),
        "mvn" | "mvnw" | "mvnd" => Some(maven(call)),
        "sbt" | "mill" => Some(sbt(call)),
        "lein" if call.arg(0) == "test" => {
            let scope = call.args.get(1).map(|word| Scope::Subset(word.text.clone()));
            Some(scoped(Test, "lein test", scope.unwrap_or(Scope::Whole)))
        }
        _ => None,
    }
}

fn gradle(call: &Call<'_>) -> Vec<Found> {
    if call.has(&["--dry-run", "-m"]) {
        return Vec::new();
    }
    let valued = &["-x", "--exclude-task", "--tests", "-p", "--project-dir", "-b", "-c", "-I"];
    let excluded: Vec<&str> = call
        .args
        .windows(2)
        .filter_map(|pair| match pair {
            [option, task] if matches!(option.text.as_str(), "-x" | "--exclude-task") => {
                Some(task.text.as_str())
            }
            _ => None,
        })
        .collect();
    let filter = call.texts().skip_while(|text| *text != "--tests").nth(1);
    let mut found = Vec::new();
    for task in call.operands(valued) {
        let name = task.rsplit(':').next().unwrap_or(task);
        let scope = match (filter, task.trim_start_matches(':').contains(':')) {
            (Some(filter), _) => Scope::Subset(format!("--tests {filter}")),
            (None, true) => Scope::Subset(task.to_owned()),
            (None, false) if name == "test" || name == "check" || name == "build" => Scope::Whole,
            (None, false) => Scope::Subset(name.to_owned()),
        };
        found.extend(gradle_task(name, scope, &excluded));
    }
    found
}

/// The activities of a Gradle task; `check` and `build` also run the tests unless these are
/// excluded.
fn gradle_task(name: &str, scope: Scope, excluded: &[&str]) -> Vec<Found> {
    let with_tests = |mut found: Vec<Found>, runner, scope| {
        if !excluded.iter().any(|task| task.ends_with("test")) {
            found.extend(scoped(Test, runner, scope));
        }
        found
    };
    match name {
        "test" | "allTests" | "jvmTest" => scoped(Test, "gradle test", scope),
        "check" => with_tests(whole(Lint, "gradle check"), "gradle check", scope),
        "build" => with_tests(whole(Build, "gradle build"), "gradle build", scope),
        "ktlintCheck" | "detekt" | "spotlessCheck" | "lint" | "checkstyleMain" | "lintDebug" => {
            whole(Lint, "gradle lint")
        }
        "spotlessApply" | "ktlintFormat" => whole(Format, "gradle format"),
        "run" | "bootRun" => whole(Run, "gradle run"),
        "clean" | "dependencies" | "tasks" | "wrapper" | "help" => Vec::new(),
        name if name.starts_with("publish") => whole(Publish, "gradle publish"),
        name if name.starts_with("assemble")
            || name.starts_with("compile")
            || name.ends_with("ar") && name.to_ascii_lowercase().ends_with("jar")
            || name.starts_with("bundle") =>
        {
            whole(Build, "gradle assemble")
        }
        name if name.starts_with("test") || name.ends_with("Test") || name.ends_with("Tests") => {
            scoped(Test, "gradle test", scope)
        }
        _ => Vec::new(),
    }
}

fn maven(call: &Call<'_>) -> Vec<Found> {
    let skips = call.texts().any(|text| {
        matches!(
            text,
            "-DskipTests" | "-DskipTests=true" | "-Dmaven.test.skip" | "-Dmaven.test.skip=true"
        )
    });
    let mut reasons: Vec<String> = call
        .texts()
        .filter(|text| text.starts_with("-Dtest=") || text.starts_with("-Dit.test="))
        .map(str::to_owned)
        .collect();
    if let Some(module) =
        call.texts().skip_while(|text| !matches!(*text, "-pl" | "--projects")).nth(1)
    {
        reasons.push(format!("-pl {module}"));
    }
    let scope = if reasons.is_empty() { Scope::Whole } else { Scope::Subset(reasons.join(" ")) };
    let mut found = Vec::new();
    for goal in call.operands(&["-pl", "--projects", "-f", "--file", "-s", "-P", "-T", "-rf"]) {
        match goal {
            "test" | "surefire:test" if !skips => {
                found.extend(scoped(Test, "mvn test", scope.clone()));
            }
            "verify" | "install" | "package" | "integration-test" => {
                found.extend(scoped(Build, "mvn package", scope.clone()));
                if !skips {
                    found.extend(scoped(Test, "mvn verify", scope.clone()));
                }
            }
            "compile" | "test-compile" => found.extend(whole(Build, "mvn compile")),
            "deploy" => found.extend(whole(Publish, "mvn deploy")),
            "spring-boot:run" | "exec:java" | "quarkus:dev" => found.extend(whole(Run, "mvn run")),
            goal if goal.ends_with(":apply") || goal.ends_with(":format") => {
                found.extend(whole(Format, "mvn format"));
            }
            goal if goal.ends_with(":check") || goal.ends_with(":lint") => {
                found.extend(whole(Lint, "mvn check"));
            }
            _ => {}
        }
    }
    found
}

fn sbt(call: &Call<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for word in call.operands(&[]) {
        let mut parts = word.split_ascii_whitespace();
        let task = parts.next().unwrap_or_default();
        let task = task.rsplit(['/', '.']).next().unwrap_or(task);
        match task {
            "test" if word == "test" => found.extend(whole(Test, "sbt test")),
            "test" | "testOnly" | "testQuick" => {
                found.extend(scoped(Test, "sbt test", Scope::Subset(word.to_owned())));
            }
            "compile" | "package" | "assembly" => found.extend(whole(Build, "sbt compile")),
            "run" => found.extend(whole(Run, "sbt run")),
            "scalafmtCheck" | "scalafmtCheckAll" => found.extend(whole(Lint, "scalafmt check")),
            "publish" => found.extend(whole(Publish, "sbt publish")),
            _ => {}
        }
    }
    found
}
