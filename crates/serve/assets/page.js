// Pages work without this: it keeps them up to date and draws the chart.
"use strict";
(() => {
  const EVERY = 700; // milliseconds between two looks at a page that changes
  const status = document.getElementById("live");
  const say = (text) => {
    if (status && status.textContent !== text) status.textContent = text;
  };

  // The chart of calls an hour.
  let plot = null;
  const numbers = (text) => (text ? text.split(",").map(Number) : []);
  const colour = (name) =>
    getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  function draw() {
    const place = document.querySelector(".chart");
    if (plot) plot.destroy();
    plot = null;
    if (!place || typeof uPlot !== "function") return;
    place.classList.add("drawn");
    const { times, calls, rejected, failed } = place.dataset;
    const table = [times, calls, rejected, failed].map(numbers);
    const line = (label, name, fill) => ({
      label,
      stroke: colour(name),
      width: 1,
      fill: fill ? colour(fill) : undefined,
      paths: uPlot.paths.bars({ size: [0.7, 40], radius: 0.15 }),
      points: { show: false },
    });
  const hours = (_, all) => all.map((at) => `${String(new Date(at * 1000).getUTCHours()).padStart(2, "0")}:00`);
    const axis = { stroke: colour("--faint"), grid: { stroke: colour("--line"), width: 1 }, ticks: { show: false } };
    const most = Math.max(1, ...table[1], ...table[3]);
    plot = new uPlot(
      {
        width: place.clientWidth,
        height: 208,
        tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "UTC"),
        scales: { y: { range: [0, most * 1.15] } },
        axes: [
          { ...axis, grid: { show: false }, values: hours },
          { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 50000, 100000] },
        ],
        series: [
          { label: "hour (UTC)", value: "{YYYY}-{MM}-{DD} {HH}:{mm}" },
          line("calls", "--accent", "--chart"),
          line("rejected", "--held", "--held"),
          line("failed", "--bad", "--bad"),
        ],
        cursor: { y: false },
      },
      table,
      place,
    );
  }
  addEventListener("resize", () => {
    const place = document.querySelector(".chart");
    if (plot && place) plot.setSize({ width: place.clientWidth, height: 208 });
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  draw();

  // On a narrow screen the list of pages is longer than the screen.
  document.querySelector(".bar [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });

  // Parts of a page that follow the ledger: `data-live` names each.
  let waiting = null;
  let asking = false;
  const is_busy = (part) =>
    part.contains(document.activeElement) ||
    part.querySelector("details[open]") !== null ||
    (getSelection().toString() !== "" && part.contains(getSelection().anchorNode));
  async function refresh() {
    waiting = null;
    if (asking || document.hidden) return later();
    const parts = [...document.querySelectorAll("[data-live]")];
    if (parts.length === 0) return;
    asking = true;
    try {
      const reply = await fetch(location.href, { headers: { accept: "text/html" } });
      if (reply.redirected) return say("Signed out: reload the page.");
      if (!reply.ok) return say(`The server answered with an error (${reply.status}).`);
      const page = new DOMParser().parseFromString(await reply.text(), "text/html");
      let left = 0;
      for (const part of parts) {
        const fresh = page.querySelector(`[data-live="${part.dataset.live}"]`);
        if (!fresh || fresh.innerHTML === part.dataset.seen) continue;
        if (is_busy(part)) {
          left += 1;
          continue;
        }
        part.dataset.seen = fresh.innerHTML;
        part.replaceChildren(...fresh.childNodes);
        if (part.dataset.live === "chart") draw();
      }
      say(left > 0 ? "There is more: reload the page to see it." : "Up to date. Times are in UTC.");
    } catch {
      say("The server does not answer.");
    } finally {
      asking = false;
    }
  }
  function later() {
    if (waiting === null) waiting = setTimeout(refresh, EVERY);
  }
  if (document.querySelector("[data-live]") && typeof EventSource === "function") {
    const events = new EventSource("/events");
    events.addEventListener("open", () => say("Live. Times are in UTC."));
    events.addEventListener("ledger", later);
    events.addEventListener("reset", later);
    events.addEventListener("error", () => say("Not connected: updates are not shown."));
    addEventListener("pagehide", () => events.close());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) later();
    });
  }
})();
