// Shows the bundle of this page, and what verifying it says.
const { canonical, readKey, verdict, verify } = globalThis.counterfoil;
const at = (id) => document.getElementById(id);
const line = at("bundle").textContent.trim();

function element(name, text, className) {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
}

/** What does not print is shown as what it is: text from elsewhere must not rearrange the page. */
const visible = (text) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    char === "\n" ? char : `\\u{${char.codePointAt(0).toString(16)}}`);

const time = (millis) => {
  const date = new Date(millis);
  return Number.isNaN(date.valueOf()) ? "?" : date.toISOString().replace("T", " ").replace("Z", "");
};

function permitted({ permit }) {
  if (permit === null) return "nobody";
  if (permit.by === "approval") return `${permit.who}${permit.reason ? `: ${permit.reason}` : ""}`;
  return permit.by === "policy" ? ["policy", ...(permit.rules ?? [])].join(" ") : permit.by;
}

function ended(receipt) {
  const exit = receipt.exit_code === null ? "" : `, exit code ${receipt.exit_code}`;
  const why = receipt.category === null ? "" : `: ${receipt.category}`;
  const codes = receipt.codes.length === 0 ? "" : ` (${receipt.codes.join(", ")})`;
  return `${receipt.status}${why}${codes}${exit}`;
}

/** A text that is shown when somebody asks for it. */
function folded(name, text) {
  const details = document.createElement("details");
  details.append(element("summary", name), element("pre", visible(text)));
  return details;
}

/** What is to be seen of one receipt: how the whole stands, and whether this one is what is wrong. */
function row(receipt, results, [mark, says]) {
  const tr = element("tr", "", mark);
  const id = element("td", "");
  id.append(element("code", visible(receipt.execution_id)), " ", element("span", says, "mark"));
  const outcome = element("td", visible(ended(receipt)));
  const result = results.get(receipt.recorded_digest);
  if (result !== undefined) outcome.append(folded("result", result));
  if (receipt.answer !== null) outcome.append(folded("what the model was told", receipt.answer));
  const call = element("td", "");
  call.append(element("code", visible(canonical(receipt.arguments))));
  tr.append(
    element("td", time(receipt.started_at)), element("td", visible(receipt.tool)), call,
    element("td", visible(permitted(receipt))), outcome, id,
  );
  return tr;
}

let held;

function show(given) {
  // Verifying a large bundle takes seconds: not for every letter that is typed.
  if (given === held) return;
  held = given;
  const says = at("verdict");
  let found;
  try {
    found = verify(line, given);
  } catch (error) {
    says.textContent = `NOT VERIFIED: this page holds no bundle: ${error.message}`;
    says.className = "broken";
    at("checks").replaceChildren();
    at("receipts").replaceChildren();
    return;
  }
  const sound = found.isSound();
  says.textContent = verdict(found, given);
  says.className = sound ? (given === null || found.events === 0 ? "open" : "holds") : "broken";
  at("checks").replaceChildren(...found.rows.map(([mark, what]) => {
    const item = element("li", "", mark.trim().toLowerCase());
    item.append(element("strong", mark.trim()), ` ${visible(what)}`);
    return item;
  }));
  const results = new Map();
  // Of a bundle that is broken, no result is shown beside a receipt.
  if (sound) {
    for (const { digest, text, base64 } of JSON.parse(line).results) {
      results.set(digest, text ?? `(base64) ${base64}`);
    }
  }
  const standing = (receipt) => {
    if (found.wrong.has(receipt.execution_id)) return ["broken", "does not match its events"];
    if (!sound) return ["broken", "not proved: something else is broken"];
    return given === null ? ["open", "agrees with itself"] : ["holds", "proved"];
  };
  const rows = found.receipts.map((receipt) => row(receipt, results, standing(receipt)));
  at("receipts").replaceChildren(...rows);
}

function give(text) {
  const given = text.trim() === "" ? null : readKey(text);
  const wrong = text.trim() !== "" && given === null;
  at("key-says").textContent = wrong
    ? "This is neither a fingerprint nor an Ed25519 public key in PEM format."
    : "";
  at("key-says").className = wrong ? "broken" : "";
  show(given);
}

const taken = async (file) => {
  if (!file) return;
  at("key").value = await file.slice(0, 65536).text();
  give(at("key").value);
};

at("key").addEventListener("input", () => give(at("key").value));
at("key-file").addEventListener("change", () => taken(at("key-file").files[0]));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  taken(event.dataTransfer.files[0]);
});

for (const [name, source] of [
  ["bundle.json", `${line}\n`],
  ["verify.py", at("verify.py").textContent.slice(1)],
  ["verify.mjs", at("verify.mjs").textContent.slice(1)],
]) {
  const link = element("a", `Save ${name}`);
  link.href = URL.createObjectURL(new Blob([source], { type: "application/octet-stream" }));
  link.download = name;
  at("saves").append(link, " ");
}
show(null);
