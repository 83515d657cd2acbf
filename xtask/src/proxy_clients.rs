//! `cargo xtask proxy-clients`: unmodified real clients ask a scripted model through the proxy.
//! With `--dialogues`, one of them replays recorded dialogues, and what reaches it is counted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, ensure};
use counterfoil_formats::decompressed;
use serde_json::{Value, json};

use crate::corpus::rows;
use crate::process::{Running, built};

/// Flags of `cargo xtask proxy-clients`.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The binary, built with `--release`.
    #[arg(long, default_value = "target/release/counterfoil")]
    binary: PathBuf,
    /// A Python with `openai anthropic openai-agents langchain-openai langchain-anthropic`.
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// The folder with the npm packages `openai @anthropic-ai/sdk ai @ai-sdk/openai
    /// @ai-sdk/anthropic`; without it, no JavaScript clients are run.
    #[arg(long, value_name = "FOLDER")]
    npm: Option<PathBuf>,
    /// The proxy's mode, for answers that the record does not support.
    #[arg(long, default_value = "block")]
    mode: String,
    /// Minimum severity to act on: `error` or `warning`.
    #[arg(long, default_value = "error")]
    least: String,
    /// Replay the dialogues of these sets instead: `perturbed tau1`.
    #[arg(long, value_name = "SET")]
    dialogues: Vec<String>,
    /// The folder with the sets.
    #[arg(long, default_value = "../shared/data")]
    data: PathBuf,
    /// Maximum number of dialogues from each set.
    #[arg(long, default_value_t = 200)]
    most: usize,
    /// Print the answers that are handled wrongly.
    #[arg(long)]
    show: bool,
}

#[expect(clippy::print_stdout, reason = "a developer reads it")]
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let desk = Desk {
        options,
        binary: built(&options.binary)?,
        scripts: root.join("xtask/clients/proxy"),
    };
    if !options.dialogues.is_empty() {
        return options.dialogues.iter().try_for_each(|set| desk.dialogues(set));
    }
    let mut wrong = 0;
    let mut told: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut lines = desk.through(&["model.py"], &desk.python("clients.py"), &[])?;
    if let Some(npm) = &options.npm {
        let modules = npm.canonicalize()?.to_string_lossy().into_owned();
        let script = desk.scripts.join("clients.mjs").to_string_lossy().into_owned();
        let command = ["node".to_owned(), script];
        lines.extend(desk.through(&["model.py"], &command, &[("MODULES", &modules)])?);
    }
    for line in &lines {
        let verdict = verdict(line, &options.mode);
        wrong += usize::from(verdict.is_some());
        let client = text(line, "client").to_owned();
        let what = format!("{} {}", text(line, "question"), text(line, "how"));
        let bad = told.entry(client).or_default();
        bad.extend(verdict.map(|why| format!("{what}: {why}")));
    }
    for (client, bad) in &told {
        println!("{client:30} {}", if bad.is_empty() { "as expected" } else { "" });
        bad.iter().for_each(|why| println!("  {why}"));
    }
    ensure!(!lines.is_empty() && wrong == 0, "{wrong} of {} questions went wrong", lines.len());
    println!("{} questions of {} clients", lines.len(), told.len());
    Ok(())
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Returns what is wrong with a client's result, if anything.
fn verdict(line: &Value, mode: &str) -> Option<String> {
    let (said, blocks) = (text(line, "text"), matches!(mode, "block" | "correct"));
    if let Some(error) = line.get("error") {
        // One client itself refuses a call of an unknown tool if the call reaches it.
        let own = text(line, "question") == "unknown" && !blocks;
        return (!own).then(|| error.to_string());
    }
    let called: Vec<&str> =
        line.get("called")?.as_array()?.iter().filter_map(Value::as_str).collect();
    let lies = said.contains("have cancelled order 7");
    let ok = match text(line, "question") {
        "honest" => said == "Order 7 is shipped. It has not been cancelled." && called.is_empty(),
        "lie" if blocks => said.ends_with("Order 7 was not cancelled.") && !lies,
        "stubborn" if mode == "block" => said.contains("Counterfoil held back") && !lies,
        "lie" | "stubborn" => lies && said.contains("Counterfoil") == (mode != "observe"),
        "tool" => said.ends_with("as the look-up shows.") && called == ["get_order"],
        // If the call reaches the client, the client itself reports the unknown tool.
        "unknown" if blocks => called == ["get_order"],
        _ => true,
    };
    (!ok).then(|| format!("{said:?}, called {called:?}"))
}

struct Desk<'o> {
    options: &'o Options,
    binary: PathBuf,
    scripts: PathBuf,
}

impl Desk<'_> {
    fn python(&self, script: &str) -> [String; 2] {
        let script = self.scripts.join(script).to_string_lossy().into_owned();
        [self.options.python.to_string_lossy().into_owned(), script]
    }

    /// Runs a client through the proxy in front of a model; returns the lines it prints.
    fn through(
        &self,
        model: &[&str],
        client: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Vec<Value>> {
        let [python, _] = self.python("");
        let mut command = Command::new(python);
        command.current_dir(&self.scripts).args(model).arg("--model");
        // The model ends when its input does.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut model = Running(command.spawn().with_context(|| format!("{command:?}"))?);
        let mut port = String::new();
        BufReader::new(model.0.stdout.take().context("no output")?).read_line(&mut port)?;
        let state = tempfile::tempdir()?;
        let mut proxy = Command::new(&self.binary);
        let config = state.path().join("config.toml");
        std::fs::write(&config, format!("[proxy]\nleast = \"{}\"\n", self.options.least))?;
        proxy.arg("--config").arg(&config).arg("--state").arg(state.path());
        proxy.args(["proxy", "run", "--mode"]);
        proxy.arg(&self.options.mode);
        proxy.args(["--upstream", &format!("http://127.0.0.1:{}", port.trim()), "--"]);
        proxy.args(client).envs(environment.iter().copied()).stderr(Stdio::null());
        let output = proxy.output().with_context(|| format!("{proxy:?}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        Ok(said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    #[expect(clippy::print_stdout, reason = "a developer reads it")]
    fn dialogues(&self, set: &str) -> Result<()> {
        let path = self.options.data.join(format!("{set}.jsonl.gz"));
        let rows = rows::read(&path)?;
        let rows: Vec<_> = rows.iter().take(self.options.most).collect();
        let mut file = tempfile::NamedTempFile::new()?;
        let lines = decompressed(BufReader::new(File::open(&path)?))?.lines();
        for line in lines.take(rows.len()) {
            writeln!(file, "{}", as_openai(&serde_json::from_str(&line?)?))?;
        }
        let name = file.path().to_string_lossy().into_owned();
        let mut client = self.python("dialogues.py").to_vec();
        client.push(name.clone());
        let lines = self.through(&["dialogues.py", &name], &client, &[])?;
        let mut lies: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        let (mut honest, mut touched) = (0, 0);
        for line in &lines {
            let number = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or_default();
            let at = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
            let Some(row) = rows.get(at(number("row"))) else { continue };
            let same = text(line, "text").trim() == text(line, "recorded").trim()
                && number("calls") == number("recorded_calls");
            let lie = row.turn.filter(|_| row.lies == Some(true));
            if lie == Some(at(number("at"))) {
                let counts = lies.entry(row.class.clone()).or_default();
                if let Some(count) = counts.get_mut(usize::from(same)) {
                    *count += 1;
                }
            } else if lie.is_none_or(|lie| at(number("at")) < lie) {
                honest += 1;
                touched += usize::from(!same);
            }
            if self.options.show && !same && lie != Some(at(number("at"))) {
                println!("touched: {} {}: {}", row.id, number("at"), text(line, "text"));
            }
        }
        println!(
            "{} dialogues of `{set}`, {} answers, mode {}",
            rows.len(),
            lines.len(),
            self.options.mode
        );
        for (class, [held, shown]) in &lies {
            println!("  {class:22} held {held:3}, shown {shown:3}");
        }
        println!("  honest: {honest}, touched {touched}");
        Ok(())
    }
}

/// Converts a row to messages as an OpenAI client has them.
fn as_openai(row: &Value) -> Value {
    const MEMBERS: [&str; 4] = ["role", "content", "tool_calls", "tool_call_id"];
    let list = |name: &str| row.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    let tools: Vec<Value> = list("tools")
        .into_iter()
        .map(|tool| match tool.get("type") {
            Some(_) => tool,
            None => json!({ "type": "function", "function": tool }),
        })
        .collect();
    let mut messages = list("messages");
    for message in messages.iter_mut().filter_map(Value::as_object_mut) {
        message.retain(|name, value| MEMBERS.contains(&name.as_str()) && !value.is_null());
    }
    json!({ "tools": tools, "messages": messages })
}
