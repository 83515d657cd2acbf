// Verifies a Counterfoil bundle with nothing but JavaScript: in Node 18 or newer, or in a browser.
//
//     node verify.mjs BUNDLE --key KEY [--receipts]
//
// KEY is the public key of the ledger, from somebody you trust and not from the bundle: a file in
// PEM form, or the key's fingerprint (SHA-256 of its DER form, 64 hex digits). Without it, only that
// the bundle agrees with itself is checked. --receipts prints the receipts, one JSON object a line.
//
// Exit codes: 0 nothing is broken, 1 something is, 2 usage or a file that is no bundle or cannot be read.

const MARKER = '<script type="application/json" id="bundle">';
const DER = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

// --- bytes ---

const utf8 = (text) => new TextEncoder().encode(text);
const PAIRS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));

function hex(bytes) {
  let text = "";
  for (const byte of bytes) text += PAIRS[byte];
  return text;
}

function fromHex(text) {
  const bytes = new Uint8Array(text.length / 2);
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = parseInt(text.slice(2 * at, 2 * at + 2), 16);
  return bytes;
}

function joined(...parts) {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The bytes; null when it is not the one form of base64 that these have. */
function fromBase64(text) {
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return null;
  const binary = atob(text);
  return btoa(binary) === text ? Uint8Array.from(binary, (char) => char.charCodeAt(0)) : null;
}

// --- SHA-2, as FIPS 180-4 has it ---

/** The first `count` primes' roots, as fractions of `bits` bits. */
function constants(count, root, bits) {
  const found = [];
  for (let candidate = 2n; found.length < count; candidate += 1n) {
    let prime = true;
    for (let by = 2n; by * by <= candidate && prime; by += 1n) prime = candidate % by !== 0n;
    if (!prime) continue;
    // The largest whole number of which this power is not above the prime, shifted.
    const target = candidate << (BigInt(bits) * root);
    let [low, high] = [0n, 1n << BigInt(bits + 16)];
    while (high - low > 1n) {
      const middle = (low + high) / 2n;
      if (middle ** root <= target) low = middle;
      else high = middle;
    }
    found.push(BigInt.asUintN(bits, low));
  }
  return found;
}

const K256 = Uint32Array.from(constants(64, 3n, 32), Number);
const H256 = Uint32Array.from(constants(8, 2n, 32), Number);
const K512 = constants(80, 3n, 64);
const H512 = constants(8, 2n, 64);

/** The message with the bit, the zeros and the length that end it. */
function padded(message, block, length) {
  const whole = Math.ceil((message.length + 1 + length) / block) * block;
  const bytes = new Uint8Array(whole);
  bytes.set(message);
  bytes[message.length] = 0x80;
  new DataView(bytes.buffer).setBigUint64(whole - 8, BigInt(message.length) * 8n);
  return new DataView(bytes.buffer);
}

function sha256(...parts) {
  const view = padded(parts.length === 1 ? parts[0] : joined(...parts), 64, 8);
  const state = H256.slice();
  const w = new Uint32Array(64);
  const turn = (word, by) => (word >>> by) | (word << (32 - by));
  for (let start = 0; start < view.byteLength; start += 64) {
    for (let i = 0; i < 16; i += 1) w[i] = view.getUint32(start + 4 * i);
    for (let i = 16; i < 64; i += 1) {
      const s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 64; i += 1) {
      const s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + K256[i] + w[i]) | 0;
      const s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] += word));
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => out.setUint32(4 * i, word));
  return new Uint8Array(out.buffer);
}

function sha512(message) {
  const view = padded(message, 128, 16);
  const state = H512.slice();
  const cut = (word) => BigInt.asUintN(64, word);
  const turn = (word, by) => (word >> by) | cut(word << (64n - by));
  for (let start = 0; start < view.byteLength; start += 128) {
    const w = [];
    for (let i = 0; i < 16; i += 1) w.push(view.getBigUint64(start + 8 * i));
    for (let i = 16; i < 80; i += 1) {
      const s0 = turn(w[i - 15], 1n) ^ turn(w[i - 15], 8n) ^ (w[i - 15] >> 7n);
      const s1 = turn(w[i - 2], 19n) ^ turn(w[i - 2], 61n) ^ (w[i - 2] >> 6n);
      w.push(cut(w[i - 16] + s0 + w[i - 7] + s1));
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let i = 0; i < 80; i += 1) {
      const s1 = turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n);
      const t1 = h + s1 + ((e & f) ^ (cut(~e) & g)) + K512[i] + w[i];
      const s0 = turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n);
      const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
      [h, g, f, e, d, c, b, a] = [g, f, e, cut(d + t1), c, b, a, cut(t1 + t2)];
    }
    [a, b, c, d, e, f, g, h].forEach((word, i) => (state[i] = cut(state[i] + word)));
  }
  return fromHex(state.map((word) => word.toString(16).padStart(16, "0")).join(""));
}

// --- JSON in its canonical forms: 1 is RFC 8785, 2 keeps all digits of a number ---

/** A number that is not the number of JavaScript that is nearest to it: its text in form 2. */
class Long {
  constructor(text) {
    this.text = text;
  }
}

/** A number in form 2, as ECMAScript lays out the digits of a double. */
function exact(text) {
  const [, sign, whole, rest = "", exponent = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/.exec(text);
  if (!Number.isFinite(Number(text))) throw new RangeError("no number of JSON");
  if (/[1-9][0-9]{9}/.test(exponent)) throw new RangeError("an exponent of more than nine digits");
  const all = whole + rest;
  let [first, last] = [0, all.length];
  while (first < last && all[first] === "0") first += 1;
  while (first < last && all[last - 1] === "0") last -= 1;
  const [digits, point] = [all.slice(first, last), whole.length - first + Number(exponent)];
  if (digits === "") return "0";
  if (point > 0 && (point <= 21 || digits.length > 17)) {
    const after = digits.slice(point);
    return sign + digits.slice(0, point).padEnd(point, "0") + (after === "" ? "" : `.${after}`);
  }
  if (point > -6 && point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  const dot = digits.length > 1 ? "." : "";
  return `${sign}${digits[0]}${dot}${digits.slice(1)}e${point > 0 ? "+" : ""}${point - 1}`;
}

function numberOf(text) {
  const [number, written] = [Number(text), exact(text)];
  return JSON.stringify(number) === written ? number : new Long(written);
}

/** The value of a JSON text, without losing a digit of its numbers. */
export function parse(text) {
  JSON.parse(text); // Throws for what is no JSON: what follows need not look.
  let at = 0;
  const next = () => {
    while (" \t\r\n".includes(text[at])) at += 1;
    const start = at;
    if (text[at] === '"') {
      for (at += 1; text[at] !== '"'; at += 1) if (text[at] === "\\") at += 1;
      at += 1;
    } else if ("[]{},:".includes(text[at])) {
      at += 1;
    } else {
      while (at < text.length && !" \t\r\n[]{},:".includes(text[at])) at += 1;
    }
    return text.slice(start, at);
  };
  const value = (token) => {
    if (token === "[") {
      const items = [];
      for (let one = next(); one !== "]"; one = next()) if (one !== ",") items.push(value(one));
      return items;
    }
    if (token === "{") {
      const members = new Map();
      for (let name = next(); name !== "}"; name = next()) {
        if (name === ",") name = next();
        name = JSON.parse(name);
        if (members.has(name)) throw new RangeError("a member stands twice");
        next(); // The colon.
        members.set(name, value(next()));
      }
      return Object.fromEntries(members);
    }
    return /^[-0-9]/.test(token) ? numberOf(token) : JSON.parse(token);
  };
  return value(next());
}

export function canonical(value, form = 2) {
  if (value instanceof Long) return form === 1 ? JSON.stringify(Number(value.text)) : value.text;
  if (typeof value === "string" && /\p{Surrogate}/u.test(value)) throw new RangeError("no text");
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one, form)).join(",")}]`;
  const members = Object.keys(value).sort();
  return `{${members.map((name) => `${canonical(name)}:${canonical(value[name], form)}`).join(",")}}`;
}

/** The value, if the text is in the canonical form that its version names; undefined otherwise. */
function readJson(text, written = (canonicalText) => canonicalText) {
  try {
    const value = parse(text);
    return written(canonical(value, value?.version === 1 ? 1 : 2)) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

// --- Ed25519 as RFC 8032 has it; points of small order are refused ---

const P = 2n ** 255n - 19n;
const ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;
const modulo = (value, by = P) => ((value % by) + by) % by;

function power(value, exponent) {
  let total = 1n;
  for (let base = modulo(value); exponent > 0n; exponent >>= 1n) {
    if (exponent & 1n) total = (total * base) % P;
    base = (base * base) % P;
  }
  return total;
}

const D = modulo(-121665n * power(121666n, P - 2n));
const NEUTRAL = [0n, 1n, 1n, 0n];

function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = modulo((y1 - x1) * (y2 - x2));
  const b = modulo((y1 + x1) * (y2 + x2));
  const c = modulo(2n * t1 * t2 * D);
  const d = modulo(2n * z1 * z2);
  const [e, f, g, h] = [b - a, d - c, d + c, b + a];
  return [modulo(e * f), modulo(g * h), modulo(f * g), modulo(e * h)];
}

function times(scalar, point) {
  let total = NEUTRAL;
  for (; scalar > 0n; scalar >>= 1n) {
    if (scalar & 1n) total = add(total, point);
    point = add(point, point);
  }
  return total;
}

const littleEndian = (bytes) => BigInt(`0x${hex(Array.from(bytes).reverse())}`);

function encoded([x, y, z]) {
  const inverse = power(z, P - 2n);
  const value = modulo(y * inverse) | ((modulo(x * inverse) & 1n) << 255n);
  return fromHex(value.toString(16).padStart(64, "0")).reverse();
}

function decoded(bytes) {
  const value = littleEndian(bytes);
  const [sign, y] = [value >> 255n, BigInt.asUintN(255, value)];
  if (y >= P) return null;
  const square = modulo((y * y - 1n) * power(D * y * y + 1n, P - 2n));
  let x = power(square, (P + 3n) / 8n);
  if (modulo(x * x - square) !== 0n) x = modulo(x * power(2n, (P - 1n) / 4n));
  if (modulo(x * x - square) !== 0n || (x === 0n && sign === 1n)) return null;
  if ((x & 1n) !== sign) x = P - x;
  return [x, y, 1n, modulo(x * y)];
}

const BASE = decoded(encoded([0n, modulo(4n * power(5n, P - 2n)), 1n]));
const same = (a, b) => hex(a) === hex(b);

function signedBy(key, message, signature) {
  const [r, s] = [signature.slice(0, 32), littleEndian(signature.slice(32))];
  const points = [decoded(key), decoded(r)];
  const small = (point) => point === null || same(encoded(times(8n, point)), encoded(NEUTRAL));
  if (s >= ORDER || points.some(small)) return false;
  const k = littleEndian(sha512(joined(r, key, message))) % ORDER;
  return same(encoded(add(times(s, BASE), times(ORDER - k, points[0]))), r);
}

// --- signed notes and the tree ---

const fingerprint = (key) => hex(sha256(DER, key));

/** The lines of a note that has one signature, of this key; null otherwise. */
function note(text, key) {
  const end = text.lastIndexOf("\n\n");
  if (end < 0) return null;
  const [said, line] = [text.slice(0, end + 1), text.slice(end + 2)];
  const name = said.split("\n")[0];
  const start = `\u2014 ${name} `;
  if (!line.startsWith(start) || !line.endsWith("\n")) return null;
  const signature = fromBase64(line.slice(start.length, -1));
  if (signature?.length !== 68) return null;
  const short = sha256(utf8(name), utf8("\n\u0001"), key).slice(0, 4);
  const good =
    same(signature.slice(0, 4), short) && signedBy(key, utf8(said), signature.slice(4));
  return good ? said.split("\n").slice(0, -1) : null;
}

const plainNumber = (text) => (/^(0|[1-9][0-9]{0,14})$/.test(text) ? Number(text) : null);

function inTree(digest, seq, proof, size, root) {
  const half = (number) => Math.floor(number / 2);
  let [node, at, last] = [sha256([0], digest), seq, size - 1];
  if (at > last) return false;
  for (const beside of proof) {
    if (last === 0) return false;
    if (at % 2 === 1 || at === last) {
      node = sha256([1], beside, node);
      while (at % 2 === 0 && at !== 0) [at, last] = [half(at), half(last)];
    } else {
      node = sha256([1], node, beside);
    }
    [at, last] = [half(at), half(last)];
  }
  return last === 0 && same(node, root);
}

// --- what a bundle holds ---

function shaped(value, shape) {
  if (typeof shape === "function") return shape(value);
  if (Array.isArray(shape)) return Array.isArray(value) && value.every((one) => shaped(one, shape[0]));
  if (!isObject(value)) return false;
  const names = Object.keys(shape);
  return Object.keys(value).length === names.length
    && names.every((name) => Object.hasOwn(value, name) && shaped(value[name], shape[name]));
}

const isObject = (value) =>
  value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Long);
const isText = (value) => typeof value === "string";
const isVersion = (value) => value === 1 || value === 2;
const isDigest = (value) => isText(value) && /^[0-9a-f]{64}$/.test(value);
const isCount = (value) => Number.isInteger(value) && value >= 0 && value <= 2 ** 53;

const SHAPE = {
  checkpoint: isText,
  events: [{ body: isText, proof: [isDigest], seq: isCount }],
  form: (value) => value === "counterfoil bundle",
  keys: [isText],
  receipts: [isObject],
  results: [
    (value) => shaped(value, { digest: isDigest, text: isText })
      || shaped(value, { digest: isDigest, base64: isText }),
  ],
  sessions: [{ first: isCount, last: isCount, session: isText }],
  version: isVersion,
};

/** The line with the JSON: in a page, the one after the marker. */
function findBundle(text) {
  const lines = text.split("\n");
  // Where line ends were changed, that is what is to be told.
  const isMarker = (line) => line === MARKER || line === `${MARKER}\r`;
  const at = lines.findIndex(isMarker);
  if (at >= 0 && lines.findLastIndex(isMarker) === at) return lines[at + 1] ?? "";
  return text.endsWith("\n") ? text.slice(0, -1) : text;
}

/** Nothing can be said of a text: it is no bundle that this program reads. */
export class NoBundle extends Error {}

function wholeBundle(line) {
  const bundle = readJson(line, (written) => written.replaceAll("<", "\\u003c"));
  return bundle !== undefined && shaped(bundle, SHAPE) ? bundle : null;
}

/** The bundle; null when it is one that was changed. */
function readBundle(line) {
  const bundle = wholeBundle(line);
  if (bundle !== null) return bundle;
  // Editors and mail add a mark of the encoding, blanks and other line ends.
  const bare = line.replace(/^[\uFEFF \t\r\n]+|[\uFEFF \t\r\n]+$/g, "");
  if (bare !== line && wholeBundle(bare) !== null) {
    throw new NoBundle("the file was modified (line endings or text around the bundle)");
  }
  const named = line.includes('"counterfoil bundle"');
  if (!line.startsWith('{"checkpoint":') && !named) throw new NoBundle("it is not a bundle");
  // The members stand in the order of their names, and this is the last one.
  const version = /"version":(0|[1-9][0-9]{0,8})}$/.exec(line)?.[1];
  if (named && version !== undefined && !isVersion(Number(version))) {
    throw new NoBundle(
      `bundle version ${version} is not supported; supported versions are 1 and 2`,
    );
  }
  return null;
}

const shown = (name) =>
  `\`${name.replace(/[^ -~]/gu, (char) => `\\u{${char.codePointAt(0).toString(16)}}`)}\``;
const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

class Verification {
  rows = [];
  events = 0;
  receipts = [];
  wrong = new Set();

  holds(what) {
    this.rows.push(["holds ", what]);
  }

  broken(what) {
    this.rows.push(["BROKEN", what]);
  }

  open(what) {
    this.rows.push(["open  ", what]);
  }

  isSound() {
    return this.rows.every(([mark]) => mark !== "BROKEN");
  }
}

/** Keys vouch for the next one; one of them signed the checkpoint. */
function checkKeys(bundle, given, found) {
  const keys = [];
  const origin = bundle.checkpoint.split("\n")[0];
  for (const [at, text] of bundle.keys.entries()) {
    const key = fromBase64(text.split("\n")[4] ?? "");
    const by = keys.at(-1)?.key ?? key;
    const lines = key?.length === 32 ? note(text, by) : null;
    const since = lines?.length === 5 ? plainNumber(lines[3]) : null;
    const fits = lines?.[0] === origin && lines[1] === "key" && lines[2] === String(at);
    if (since === null || !fits || since < (keys.at(-1)?.since ?? 0)) {
      return found.broken(`key ${at} is not certified by the previous key`);
    }
    keys.push({ since, key, print: fingerprint(key) });
  }
  const lines = bundle.checkpoint.split("\n\n")[0].split("\n");
  const size = lines.length === 3 ? plainNumber(lines[1]) : null;
  const number = size === null ? -1 : keys.findLastIndex(({ since }) => since <= size);
  if (number < 0 || note(bundle.checkpoint, keys[number].key) === null) {
    return found.broken("the checkpoint is not signed by the key in use at that time");
  }
  const { print } = keys[number];
  found.holds(
    `the checkpoint of ${counted(size, "event")} is signed by key ${number} of ${shown(origin)}: sha256:${print}`,
  );
  if (given === null) {
    found.open(
      "no separately obtained public key was given: only the consistency of the bundle was "
        + "checked, which a forged bundle also passes",
    );
  } else if (given === print) {
    found.holds("that key is the separately obtained public key");
  } else if (keys.slice(0, number).some((key) => key.print === given)) {
    found.holds("the separately obtained public key certified that key");
  } else {
    found.broken("that key is neither the separately obtained public key nor one certified by it");
  }
}

const KINDS = [
  "approved", "began", "cleared", "closed", "declined", "ended", "judged", "opened", "rejected", "said",
  "shown",
];

/** The events that are in the signed tree, as they were written. */
function checkEvents(bundle, found) {
  const lines = bundle.checkpoint.split("\n");
  const size = lines.length > 2 ? plainNumber(lines[1]) : null;
  const root = fromBase64(lines[2] ?? "") ?? [];
  const events = [];
  let before = null;
  for (const { seq, body, proof } of bundle.events) {
    const digest = sha256(utf8(body));
    const event = readJson(body);
    if (before !== null && seq <= before.seq) {
      found.broken(`event ${seq} is out of order: it is listed after event ${before.seq}`);
    } else if (size === null || !inTree(digest, seq, proof.map(fromHex), size, root)) {
      found.broken(`event ${seq} is not in the signed tree`);
    } else if (!isObject(event) || event.seq !== seq || !isVersion(event.version) || !isText(event.draft?.event)) {
      found.broken(`event ${seq} is not a valid event of version 1 or 2`);
    } else {
      event.digest = hex(digest);
      if (before?.seq === seq - 1 && event.previous !== before.digest) {
        found.broken(`event ${seq} does not continue the previous event`);
      }
      const kind = event.draft.event;
      if (!KINDS.includes(kind)) {
        found.open(
          `event ${seq} has the unknown kind ${shown(kind)}: its content was not checked`,
        );
      }
      events.push(event);
      before = event;
    }
  }
  found.events = events.length;
  if (bundle.events.length === 0) {
    found.open("the bundle is empty: it has no events, and therefore no receipts");
  } else if (events.length === bundle.events.length) {
    found.holds(`${counted(events.length, "event")} in the signed tree, unmodified`);
  }
  return events;
}

/** What is here of each session, and what is not. */
function checkSessions(bundle, events, found) {
  const [places, last] = [new Map(), new Map()];
  for (const event of events) {
    const { session, session_seq: place } = event;
    if (last.has(session) && place <= last.get(session).session_seq) {
      found.broken(`session ${shown(session)}: its events are not in order`);
    }
    if (!places.has(session)) places.set(session, []);
    places.get(session).push(place);
    last.set(session, event);
  }
  const whole = new Set(bundle.sessions.map((one) => one.session));
  if (whole.size !== bundle.sessions.length) found.broken("a session is listed twice");
  for (const { session, first, last: end } of bundle.sessions) {
    const here = [...new Set(places.get(session) ?? [])];
    const name = shown(session);
    const all = here.length === end - first + 1 && here.every((at) => first <= at && at <= end);
    if (end < first || !all) {
      found.broken(
        `session ${name}: the bundle does not have exactly its events ${first} to ${end}`,
      );
      continue;
    }
    found.holds(`session ${name}: its events ${first} to ${end} are all in the bundle`);
    if (first > 1) found.open(`session ${name}: its events before ${first} are not in the bundle`);
    if (last.get(session).draft.event !== "ended") {
      found.open(
        `session ${name}: its last event does not end the session, which may have continued`,
      );
    }
  }
  for (const [session, here] of places) {
    if (whole.has(session)) continue;
    const [first, end] = here.reduce(([a, b], at) => [Math.min(a, at), Math.max(b, at)], [here[0], here[0]]);
    found.open(
      `session ${shown(session)}: the bundle has ${new Set(here).size} of its events ${first} `
        + `to ${end}; there may be others`,
    );
  }
}

const OPTIONAL = ["emitted_arguments", "trace", "warnings"];
const OR_NULL = ["caller_id", "emitted_tool", "model"];
const COPIED = [
  "arguments", "arguments_digest", "call_id", "emitted_digest", "execution_id", "origin", "phase",
  "requested", "started_at", "tool", "trust",
];

/** The receipt that an event begins; null when it begins none. */
function begun({ draft, ...event }) {
  if (draft.event !== "opened" && draft.event !== "rejected") return null;
  const call = draft.event === "opened" ? draft : draft.call;
  const receipt = {
    version: event.version, session_id: event.session, seq: event.session_seq, previous: event.previous,
    digest: event.digest, links: call.links ?? {}, permit: call.permit, status: "open",
    category: null, codes: [], answer: null, ended_at: null, duration_us: null, exit_code: null,
    truncated: false, attempts: 0, raw_digest: null, recorded_digest: null, shown_digest: null,
    filters: [], side_effects: [], confinement: null,
  };
  for (const name of COPIED) receipt[name] = call[name];
  for (const name of OR_NULL) receipt[name] = call[name] ?? null;
  for (const name of OPTIONAL) if (Object.hasOwn(call, name)) receipt[name] = call[name];
  if (draft.event === "rejected") {
    for (const name of ["answer", "category", "codes", "status"]) receipt[name] = draft[name];
    Object.assign(receipt, { permit: null, ended_at: call.started_at, duration_us: 0 });
  }
  return receipt;
}

function addEvent(receipt, { digest, draft }) {
  receipt.digest = digest;
  if (draft.event === "shown") {
    [receipt.shown_digest, receipt.filters] = [draft.digest, draft.filters];
    return;
  }
  const always = ["attempts", "duration_us", "ended_at", "raw_digest", "recorded_digest", "status", "truncated"];
  for (const name of always) receipt[name] = draft[name];
  for (const name of ["category", "confinement", "exit_code"]) receipt[name] = draft[name] ?? null;
  receipt.side_effects = draft.side_effects ?? [];
  if (Object.hasOwn(draft, "background")) receipt.background = draft.background;
}

/** Each receipt is what its events add up to. */
function checkReceipts(bundle, events, found) {
  const sums = new Map();
  for (const event of events) {
    const [receipt, { draft }] = [begun(event), event];
    if (receipt !== null) {
      const id = receipt.execution_id;
      if (sums.has(id)) found.broken(`execution ${shown(id)} began twice`);
      else sums.set(id, receipt);
    } else if (draft.event === "closed" || draft.event === "shown") {
      const begunHere = sums.get(draft.execution_id);
      if (begunHere) {
        addEvent(begunHere, event);
      } else {
        const id = shown(draft.execution_id);
        found.open(`event ${event.seq}: the start of its execution ${id} is not in the bundle`);
      }
    }
  }
  found.receipts = [...sums.values()];
  const byName = new Map(bundle.receipts.map((one) => [shown(String(one.execution_id)), one]));
  for (const [id, receipt] of sums) {
    if (canonical(byName.get(shown(id)) ?? null) === canonical(receipt)) continue;
    found.wrong.add(id);
    found.broken(`receipt ${shown(id)} does not match its events`);
  }
  const others = bundle.receipts.length - sums.size;
  if (others > 0) {
    found.broken(`${counted(others, "other receipt")}: their events are not in the bundle`);
  } else if (found.wrong.size === 0 && sums.size > 0) {
    const inOrder = canonical(bundle.receipts) === canonical(found.receipts);
    if (inOrder) found.holds(`${counted(sums.size, "receipt")} consistent with the events`);
    else found.broken("the receipts are not in the same order as their events");
  }
  const unfinished = found.receipts.filter((receipt) => receipt.status === "open").length;
  if (unfinished > 0) {
    found.open(
      `${counted(unfinished, "receipt")} without an end event: it is not in the bundle, or the execution `
        + "had not ended yet",
    );
  }
}

const NAMED = { began: "tools", closed: "recorded_digest", judged: "answer", said: "text" };

/** Texts and results are those whose digests were recorded. */
function checkResults(bundle, events, found) {
  const naming = events.filter(({ draft }) => Object.hasOwn(NAMED, draft.event));
  const named = new Set(naming.map(({ draft }) => draft[NAMED[draft.event]]));
  let [good, before] = [0, ""];
  for (const { digest, text, base64 } of bundle.results) {
    const bytes = text === undefined ? fromBase64(base64) : utf8(text);
    if (bytes === null || hex(sha256(bytes)) !== digest || digest <= before) {
      found.broken(`result ${digest} differs from what was recorded`);
    } else if (!named.has(digest)) {
      found.broken(`no event refers to result ${digest}`);
    } else {
      good += 1;
    }
    before = digest;
  }
  if (good > 0) found.holds(`${counted(good, "result")} with a matching digest`);
  if (named.size > good) {
    const missing = counted(named.size - good, "result");
    found.open(`${missing} not in the bundle; the events record only a digest`);
  }
}

/** Holds the text of a bundle against the fingerprint of a key from elsewhere, or null. */
export function verify(text, given = null) {
  const found = new Verification();
  const bundle = readBundle(findBundle(text));
  if (bundle === null) {
    found.broken("the bundle was modified after it was written");
    return found;
  }
  try {
    checkKeys(bundle, given, found);
    const events = checkEvents(bundle, found);
    checkSessions(bundle, events, found);
    checkReceipts(bundle, events, found);
    checkResults(bundle, events, found);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    found.broken("an event does not say what events say");
  }
  return found;
}

export function verdict(found, given) {
  if (!found.isSound()) return "BROKEN: the content does not match what the ledger signed";
  if (found.events === 0) return "NOT VERIFIED: the bundle is empty";
  if (given === null) {
    return "CONSISTENT, NOT VERIFIED: compare its key with a public key obtained separately";
  }
  return "VERIFIED: the ledger with this key signed the events";
}

/** The fingerprint of what somebody gave as a key; null when it is none. */
export function readKey(text) {
  const plain = text.replace(/^\s*sha256:/i, "").replace(/[\s:]/g, "").toLowerCase();
  if (isDigest(plain)) return plain;
  const pem = /^\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]*)-----END PUBLIC KEY-----\s*$/.exec(text);
  const bytes = pem && fromBase64(pem[1].replace(/\s/g, ""));
  const ours = bytes?.length === 44 && same(bytes.slice(0, 12), DER);
  return ours ? fingerprint(bytes.slice(12)) : null;
}

// --- the command line ---

async function main(argv) {
  const { readFileSync } = await import("node:fs");
  const say = (text) => process.stderr.write(`${text}\n`);
  let [files, given, receipts, text] = [[], null, false, ""];
  const read = (name) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(readFileSync(name));
  try {
    for (let at = 0; at < argv.length; at += 1) {
      if (argv[at] === "--key") {
        at += 1;
        given = readKey(argv[at] ?? "") ?? readKey(read(argv[at] ?? ""));
        if (given === null) throw new Error("not an Ed25519 public key in PEM format");
      } else if (argv[at] === "--receipts") {
        receipts = true;
      } else if (argv[at].startsWith("-")) {
        throw new Error(`there is no option ${argv[at]}`);
      } else {
        files.push(argv[at]);
      }
    }
    if (files.length !== 1) {
      say("usage: node verify.mjs BUNDLE --key KEY [--receipts]");
      return 2;
    }
    text = read(files[0]);
  } catch (error) {
    say(`error: ${error.message}`);
    return 2;
  }
  let found;
  try {
    found = verify(text, given);
  } catch (error) {
    if (!(error instanceof NoBundle)) throw error;
    say(`error: ${files[0]}: ${error.message}`);
    return 2;
  }
  const rows = [...found.rows.map((row) => row.join("  ")), verdict(found, given)];
  if (receipts && found.isSound()) {
    found.receipts.forEach((receipt) => process.stdout.write(`${canonical(receipt)}\n`));
    rows.forEach(say);
  } else {
    process.stdout.write(`${rows.join("\n")}\n`);
  }
  return found.isSound() ? 0 : 1;
}

if (typeof document !== "undefined") {
  globalThis.counterfoil = { canonical, readKey, verdict, verify };
} else if (typeof process !== "undefined" && /verify\.mjs$/.test(process.argv[1] ?? "")) {
  process.exitCode = await main(process.argv.slice(2));
}
