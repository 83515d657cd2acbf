// Drives headless Chromium over every page of a running dashboard.
// node dashboard.mjs MODULES CHROMIUM ADDRESS TOKEN PICTURES
import { createRequire } from "node:module";
import { mkdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

const [modules, chromiumPath, address, token, pictures] = process.argv.slice(2);
const require = createRequire(join(resolve(modules), "node_modules", "/"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const MOST_BYTES = 200_000;
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
let failed = 0;
const check = (holds, what) => {
  if (!holds) {
    failed += 1;
    console.log(`FAILED: ${what}`);
  }
};

mkdirSync(pictures, { recursive: true });
// A new and empty profile, which is removed at the end.
const own = await chromium.launch({ executablePath: chromiumPath, args: FLAGS });

async function get(path) {
  const reply = await fetch(address + path, { headers: { authorization: `Bearer ${token}` } });
  return reply.json();
}
const answers = (await get("/api/v1/answers?limit=100")).items;
const told = answers.find((answer) => answer.findings.length > 0) ?? answers[0];
const receipts = (await get("/api/v1/receipts?session=shop-003")).items;
const hostile = (await get("/api/v1/sessions?limit=1")).items[0].id;
const part = encodeURIComponent;
const PAGES = [
  ["overview", "/"],
  ["sessions", "/sessions"],
  ["session", "/sessions/shop-003"],
  ["long", "/sessions/long"],
  ["hostile", `/sessions/${part(hostile)}`],
  ["receipt", `/receipts/${part(receipts[0].execution_id)}`],
  ["answers", "/answers"],
  ["answer", `/answers/${part(told.session)}/${told.session_seq}`],
  ["rejections", "/rejections"],
  ["approvals", "/approvals"],
  ["policy", "/policy"],
  ["coverage", "/coverage"],
  ["accuracy", "/accuracy"],
  ["missing", "/sessions/nobody"],
];

async function signIn(context) {
  const page = await context.newPage();
  await page.goto(address + "/");
  check(page.url() === `${address}/login`, "whoever is not signed in is asked to");
  await page.waitForFunction(() => document.activeElement?.id === "token");
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${address}/`);
  return page;
}

for (const colorScheme of ["light", "dark"]) {
  for (const width of [390, 1440]) {
    const viewport = { width, height: 900 };
    const context = await own.newContext({ colorScheme, viewport });
    const page = await signIn(context);
    const wrong = [];
    page.on("console", (message) => message.type() === "error" && wrong.push(message.text()));
    page.on("pageerror", (error) => wrong.push(String(error)));
    for (const [name, path] of PAGES) {
      const where = `${name} at ${width} in ${colorScheme}`;
      wrong.length = 0;
      const reply = await page.goto(address + path);
      check(reply.status() === (name === "missing" ? 404 : 200), `${where}: ${reply.status()}`);
      const bytes = (await reply.body()).length;
      check(bytes <= MOST_BYTES, `${where}: ${bytes} bytes`);
      await page.waitForTimeout(150);
      const said = wrong.filter((text) => name !== "missing" || !text.includes("404"));
      check(said.length === 0, `${where}: ${said.join("; ")}`);
      const wide = await page.evaluate(
        () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
      );
      check(!wide, `${where}: the page is wider than the screen`);
      const found = await page.evaluate(`${axe}; axe.run()`);
      const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
      const list = serious.map(({ id, nodes }) => `${id}: ${nodes.map((n) => n.html).slice(0, 3).join(" ")}`);
      check(serious.length === 0, `${where}: axe: ${list.join("; ")}`);
      await page.screenshot({ path: join(pictures, `${name}-${width}-${colorScheme}.png`), fullPage: name !== "long" });
    }
    await context.close();
  }
}
console.log(`${PAGES.length} pages at 390 and 1440 px, in light and dark`);

// An approval, by keyboard alone.
{
  const context = await own.newContext();
  const page = await signIn(context);
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
  async function tabTo(text) {
    for (let steps = 0; steps < 200; steps += 1) {
      await page.keyboard.press("Tab");
      if ((await focused()).startsWith(text)) return true;
    }
    return false;
  }
  const before = (await get("/api/v1/stats")).waiting;
  check(before > 1, "there are approvals that wait");
  check(await tabTo("Approvals"), "the keyboard reaches the approvals");
  await page.keyboard.press("Enter");
  await page.waitForURL(`${address}/approvals`);
  check(await tabTo("Grant"), "the keyboard reaches `Grant`");
  const visible = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  check(visible !== "none", "what has the focus is seen to have it");
  await page.screenshot({ path: join(pictures, "focus.png") });
  await page.keyboard.press("Enter");
  await page.waitForURL(`${address}/approvals?done=granted`);
  check((await get("/api/v1/stats")).waiting === before - 1, "one fewer waits");
  console.log("an approval granted by keyboard alone");
  await context.close();
}

// Pages follow the ledger.
{
  const context = await own.newContext();
  const page = await signIn(context);
  await page.waitForFunction(() => document.getElementById("live").textContent.startsWith("Live"));
  const shown = () => page.evaluate(() => document.querySelector('[data-live="waiting"]')?.textContent);
  const before = await shown();
  const [call] = (await get("/api/v1/approvals?limit=1")).items;
  await fetch(`${address}/api/v1/approvals/${part(call.execution_id)}/refuse`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  await page.waitForFunction(
    (before) => document.querySelector('[data-live="waiting"]')?.textContent !== before, before,
  ).catch(() => check(false, "what waits is counted anew without a load"));
  console.log("the overview follows the ledger");
  await context.close();
}

// Without scripts.
{
  const context = await own.newContext({ javaScriptEnabled: false });
  const page = await signIn(context);
  await page.goto(`${address}/approvals`);
  await page.locator("form.decide button.danger").first().click();
  check(page.url().endsWith("?done=refused"), "a refusal works without scripts");
  await page.goto(`${address}/policy`);
  await page.fill("#policy", '[tools.permissions]\ndefault = "deny"\n');
  await page.click("form.replay button");
  check((await page.textContent("main")).includes("different"), "a replay works without scripts");
  await page.screenshot({ path: join(pictures, "replayed.png"), fullPage: false });
  console.log("everything works without scripts");
  await context.close();
}
await own.close();
console.log(failed === 0 ? "nothing is wrong" : `${failed} things are wrong`);
process.exit(failed === 0 ? 0 : 1);
