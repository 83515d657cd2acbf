"use strict";
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const rule = document.getElementById("rule");
const search = document.getElementById("search");
const kinds = all(".filters input[type=checkbox]");
for (const code of [...new Set(all(".card").map((card) => card.dataset.rule))].sort()) {
  rule.add(new Option(code, code));
}
// The worst sessions come first.
const weight = (session) => 10000 * session.dataset.errors + 1 * session.dataset.warnings;
const sessions = all(".session");
const after = sessions.length > 0 ? sessions[sessions.length - 1].nextSibling : null;
for (const session of sessions.sort((a, b) => weight(b) - weight(a))) {
  session.parentNode.insertBefore(session, after);
}
function show() {
  const wanted = new Set(kinds.filter((box) => box.checked).map((box) => box.value));
  const words = search.value.toLowerCase();
  for (const session of all(".session")) {
    let any = false;
    for (const turn of all(".turn", session)) {
      const said = words === "" || turn.textContent.toLowerCase().includes(words);
      let here = false;
      for (const card of all(".card", turn)) {
        card.hidden = !(said && wanted.has(card.dataset.kind) && (rule.value === "" || card.dataset.rule === rule.value));
        here ||= !card.hidden;
      }
      turn.hidden = !here;
      any ||= here;
    }
    const clean = all(".turn", session).length === 0;
    const named = session.querySelector("summary").textContent.toLowerCase().includes(words);
    session.hidden = clean ? !(wanted.has("supported") && rule.value === "" && named) : !any;
  }
}
[rule, search, ...kinds].forEach((control) => control.addEventListener("input", show));
for (const part of all("[data-claim]")) {
  const same = () => all("[data-claim]").filter((other) => other.dataset.claim === part.dataset.claim);
  part.addEventListener("mouseenter", () => same().forEach((other) => other.classList.add("lit")));
  part.addEventListener("mouseleave", () => same().forEach((other) => other.classList.remove("lit")));
}
show();
// A link to a claim opens what it is in.
const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
if (target) {
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView();
}
