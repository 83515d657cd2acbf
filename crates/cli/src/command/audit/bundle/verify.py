#!/usr/bin/env python3
"""Verifies a Counterfoil bundle with nothing but Python's standard library (3.8 or newer).

    python3 verify.py BUNDLE --key KEY [--receipts]

KEY is the public key of the ledger, from somebody you trust and not from the bundle: a file in PEM
form, or the key's fingerprint (SHA-256 of its DER form, 64 hex digits). Without it, only that the
bundle agrees with itself is checked. --receipts prints the receipts, one JSON object a line.

Exit codes: 0 nothing is broken, 1 something is, 2 usage or a file that is no bundle or cannot be read.
"""
import base64
import hashlib
import json
import re
import sys

MARKER = '<script type="application/json" id="bundle">'
DER = bytes.fromhex("302a300506032b6570032100")


# --- JSON in the one form of RFC 8785 ---

def number(value):
    """A number as ECMAScript prints it; integers beyond 2^53 are doubles there."""
    if isinstance(value, int) and abs(value) <= 2**53:
        return str(value)
    value = float(value)
    if value in (float("inf"), float("-inf")) or value != value:
        raise ValueError("no number of JSON")
    if value == 0:
        return "0"
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, rest = mantissa.partition(".")
    rest = "" if rest == "0" else rest
    digits = (whole + rest).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + rest) - len(digits))
    digits = digits.rstrip("0")
    sign = "-" if value < 0 else ""
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    dot = "." if len(digits) > 1 else ""
    return "%s%s%s%se%+d" % (sign, digits[0], dot, digits[1:], point - 1)


def canonical(value):
    if value is None or value is True or value is False:
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return number(value)
    if isinstance(value, str):
        value.encode()  # A half of a surrogate pair is no text.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
    return "{" + ",".join(canonical(k) + ":" + canonical(v) for k, v in members) + "}"


def read_json(text, written=lambda text: text):
    """The value, if the text is its canonical form; None otherwise."""
    try:
        value = json.loads(text)
        return value if written(canonical(value)) == text else None
    except (ValueError, OverflowError, RecursionError):
        return None


# --- Ed25519 as RFC 8032 has it; points of small order are refused ---

P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
NEUTRAL = (0, 1, 1, 0)


def add(a, b):
    e = (a[1] - a[0]) * (b[1] - b[0]) % P
    f = (a[1] + a[0]) * (b[1] + b[0]) % P
    g, h = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = f - e, h - g, h + g, f + e
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def times(scalar, point):
    total = NEUTRAL
    while scalar:
        if scalar & 1:
            total = add(total, point)
        point, scalar = add(point, point), scalar >> 1
    return total


def encoded(point):
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def decoded(data):
    value = int.from_bytes(data, "little")
    sign, y = value >> 255, value & (2**255 - 1)
    if y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    if x & 1 != sign:
        x = P - x
    return (x, y, 1, x * y % P)


BASE = decoded((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def signed_by(key, message, signature):
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    points = [decoded(key), decoded(r)]
    if s >= ORDER or any(p is None or encoded(times(8, p)) == encoded(NEUTRAL) for p in points):
        return False
    k = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % ORDER
    return encoded(add(times(s, BASE), times(ORDER - k, points[0]))) == r


# --- signed notes and the tree ---

def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def from_base64(text):
    data = base64.b64decode(text, validate=True)
    if base64.b64encode(data).decode() != text:
        raise ValueError("another form of base64")
    return data


def fingerprint(key):
    return sha256(DER, key).hex()


def note(text, key):
    """The lines of a note that has one signature, of this key; None otherwise."""
    said, _, line = text.rpartition("\n\n")
    said += "\n"
    name = said.split("\n")[0]
    start = "\u2014 " + name + " "
    try:
        signature = from_base64(line[len(start):-1])
    except ValueError:
        return None
    short = sha256(name.encode(), b"\n\x01", key)[:4]
    good = (line.startswith(start) and line.endswith("\n") and len(signature) == 68
            and signature[:4] == short and signed_by(key, said.encode(), signature[4:]))
    return said.split("\n")[:-1] if good else None


def plain_number(text):
    return int(text) if re.fullmatch("0|[1-9][0-9]{0,14}", text) else None


def in_tree(digest, seq, proof, size, root):
    node, at, last = sha256(b"\0", digest), seq, size - 1
    if at > last:
        return False
    for beside in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            node = sha256(b"\1", beside, node)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            node = sha256(b"\1", node, beside)
        at, last = at >> 1, last >> 1
    return last == 0 and node == root


# --- what a bundle holds ---

def shaped(value, shape):
    if isinstance(shape, dict):
        return (isinstance(value, dict) and value.keys() == shape.keys()
                and all(shaped(value[name], inner) for name, inner in shape.items()))
    if isinstance(shape, list):
        return isinstance(value, list) and all(shaped(item, shape[0]) for item in value)
    if isinstance(shape, tuple):
        return any(shaped(value, one) for one in shape)
    return shape(value)


def is_text(value):
    return isinstance(value, str)


def is_digest(value):
    return is_text(value) and re.fullmatch("[0-9a-f]{64}", value) is not None


def is_count(value):
    return type(value) is int and 0 <= value <= 2**53


SHAPE = {
    "checkpoint": is_text,
    "events": [{"body": is_text, "proof": [is_digest], "seq": is_count}],
    "form": lambda value: value == "counterfoil bundle",
    "keys": [is_text],
    "receipts": [lambda value: isinstance(value, dict)],
    "results": [({"digest": is_digest, "text": is_text}, {"digest": is_digest, "base64": is_text})],
    "sessions": [{"first": is_count, "last": is_count, "session": is_text}],
    "version": lambda value: type(value) is int and value == 1,
}


def find_bundle(text):
    """The line with the JSON: in a page, the one after the marker."""
    lines = text.split("\n")
    # Where line ends were changed, that is what is to be told.
    marked = [at for at, line in enumerate(lines) if line in (MARKER, MARKER + "\r")]
    if len(marked) == 1:
        return (lines[marked[0] + 1:] or [""])[0]
    return text[:-1] if text.endswith("\n") else text


class NoBundle(ValueError):
    """Nothing can be said of a text: it is no bundle that this program reads."""


def whole_bundle(line):
    bundle = read_json(line, lambda text: text.replace("<", "\\u003c"))
    return bundle if bundle is not None and shaped(bundle, SHAPE) else None


def read_bundle(line):
    """The bundle; None when it is one that was changed."""
    bundle = whole_bundle(line)
    if bundle is not None:
        return bundle
    if line.endswith("\r") and whole_bundle(line[:-1]) is not None:
        raise NoBundle("it is not as it was written: its line ends were changed")
    named = '"counterfoil bundle"' in line
    if not line.startswith('{"checkpoint":') and not named:
        raise NoBundle("it is not a bundle")
    # The members stand in the order of their names, and this is the last one.
    version = re.search('"version":(0|[1-9][0-9]{0,8})}\\Z', line)
    if named and version and version.group(1) != "1":
        raise NoBundle("it is a bundle of version %s, and only version 1 is known here" % version.group(1))
    return None


def shown(name):
    return "`" + re.sub("[^ -~]", lambda found: "\\u{%x}" % ord(found.group()), name) + "`"


def counted(count, noun):
    return "%d %s%s" % (count, noun, "" if count == 1 else "s")


class Verification:
    def __init__(self):
        self.rows = []
        self.events = 0
        self.receipts = []

    def holds(self, what):
        self.rows.append(("holds ", what))

    def broken(self, what):
        self.rows.append(("BROKEN", what))

    def open(self, what):
        self.rows.append(("open  ", what))

    def is_sound(self):
        return all(mark != "BROKEN" for mark, _ in self.rows)


def check_keys(bundle, given, found):
    """Keys vouch for the next one; one of them signed the checkpoint."""
    keys, by = [], None
    origin = bundle["checkpoint"].split("\n")[0]
    for at, text in enumerate(bundle["keys"]):
        try:
            public = from_base64((text.split("\n") + [""] * 5)[4])
        except ValueError:
            public = b""
        lines = note(text, by or public) if len(public) == 32 else None
        since = plain_number(lines[3]) if lines and len(lines) == 5 else None
        if (since is None or lines[:3] != [origin, "key", str(at)]
                or keys and since < keys[-1][0]):
            return found.broken("key %d is not vouched for by the one before" % at)
        keys.append((since, public))
        by = public
    lines = (bundle["checkpoint"].split("\n\n")[0] + "\n").split("\n")[:-1]
    size = plain_number(lines[1]) if len(lines) == 3 else None
    number = max([at for at, (since, _) in enumerate(keys) if size is not None and since <= size],
                 default=None)
    if number is None or note(bundle["checkpoint"], keys[number][1]) is None:
        return found.broken("the checkpoint is not signed by the ledger's key of its time")
    prints = [fingerprint(key) for _, key in keys]
    found.holds("the checkpoint of %s is signed by key %d of %s: sha256:%s" % (
        counted(size, "event"), number, shown(origin), prints[number]))
    if given is None:
        found.open("no public key from elsewhere was given: only that the bundle agrees with itself "
                   "was checked, and a forger's bundle does, too")
    elif given == prints[number]:
        found.holds("that key is the public key from elsewhere")
    elif given in prints[:number]:
        found.holds("the public key from elsewhere vouched for that key")
    else:
        found.broken("that key is not the public key from elsewhere, nor one that it vouched for")


KINDS = ("approved", "began", "cleared", "closed", "declined", "ended", "judged", "opened", "rejected",
         "said", "shown")


def check_events(bundle, found):
    """The events that are in the signed tree, as they were written."""
    lines = bundle["checkpoint"].split("\n")
    size = plain_number(lines[1]) if len(lines) > 2 else None
    try:
        root = from_base64(lines[2])
    except (ValueError, IndexError):
        root = b""
    events, before = [], None
    for one in bundle["events"]:
        seq, body = one["seq"], one["body"].encode()
        digest, event = sha256(body), read_json(one["body"])
        if before is not None and seq <= before["seq"]:
            found.broken("event %d does not come after event %d" % (seq, before["seq"]))
            continue
        proof = [bytes.fromhex(beside) for beside in one["proof"]]
        if size is None or not in_tree(digest, seq, proof, size, root):
            found.broken("event %d is not in the signed tree" % seq)
            continue
        if (not isinstance(event, dict) or event.get("seq") != seq or event.get("version") != 1
                or not isinstance(event.get("draft"), dict)
                or not is_text(event["draft"].get("event"))):
            found.broken("event %d is not an event of version 1" % seq)
            continue
        event["digest"] = digest.hex()
        if before is not None and before["seq"] == seq - 1 and event["previous"] != before["digest"]:
            found.broken("event %d does not continue the one before" % seq)
        if event["draft"]["event"] not in KINDS:
            found.open("event %d is of a kind that is not known here, %s: what it says was not looked at"
                       % (seq, shown(event["draft"]["event"])))
        events.append(event)
        before = event
    found.events = len(events)
    if not bundle["events"]:
        found.open("there is nothing in it: no event, and so no receipt")
    elif len(events) == len(bundle["events"]):
        found.holds("%s in the signed tree, each as it was written" % counted(len(events), "event"))
    return events


def check_sessions(bundle, events, found):
    """What is here of each session, and what is not."""
    places, last = {}, {}
    for event in events:
        session = event["session"]
        if last.get(session) is not None and event["session_seq"] <= last[session]["session_seq"]:
            found.broken("session %s: its events are not in order" % shown(session))
        places.setdefault(session, []).append(event["session_seq"])
        last[session] = event
    whole = {one["session"] for one in bundle["sessions"]}
    if len(whole) != len(bundle["sessions"]):
        found.broken("a session is named twice")
    for one in bundle["sessions"]:
        session = one["session"]
        here, name = set(places.get(session, [])), shown(session)
        first, end = one["first"], one["last"]
        if end < first or len(here) != end - first + 1 or not all(first <= at <= end for at in here):
            found.broken("session %s: not all of its events %d to %d are here, and no others" % (
                name, first, end))
            continue
        found.holds("session %s: its events %d to %d are all here" % (name, first, end))
        if first > 1:
            found.open("session %s: its events before %d are not here" % (name, first))
        if last[session]["draft"].get("event") != "ended":
            found.open("session %s: the last of them is not its end: it may have gone on" % name)
    for session, here in places.items():
        if session not in whole:
            found.open("session %s: here are %d of its events %d to %d, and it may have others" % (
                shown(session), len(set(here)), min(here), max(here)))


OPTIONAL = ["emitted_arguments", "trace", "warnings"]
OR_NULL = ["caller_id", "emitted_tool", "model"]
COPIED = ["arguments", "arguments_digest", "call_id", "emitted_digest", "execution_id", "origin",
          "phase", "requested", "started_at", "tool", "trust"]


def begun(event):
    """The receipt that an event begins; None when it begins none."""
    draft = event["draft"]
    kind = draft.get("event")
    if kind not in ("opened", "rejected"):
        return None
    call = draft if kind == "opened" else draft["call"]
    receipt = {
        "version": 1, "session_id": event["session"], "seq": event["session_seq"],
        "previous": event["previous"], "digest": event["digest"], "links": call.get("links", {}),
        "permit": call["permit"], "status": "open", "category": None, "codes": [], "answer": None,
        "ended_at": None, "duration_us": None, "exit_code": None, "truncated": False, "attempts": 0,
        "raw_digest": None, "recorded_digest": None, "shown_digest": None, "filters": [],
        "side_effects": [], "confinement": None,
    }
    receipt.update((name, call[name]) for name in COPIED)
    receipt.update((name, call.get(name)) for name in OR_NULL)
    receipt.update((name, call[name]) for name in OPTIONAL if name in call)
    if kind == "rejected":
        receipt.update((name, draft[name]) for name in ("answer", "category", "codes", "status"))
        receipt.update(permit=None, ended_at=call["started_at"], duration_us=0)
    return receipt


def add_event(receipt, event):
    draft = event["draft"]
    receipt["digest"] = event["digest"]
    if draft["event"] == "closed":
        for name in ("attempts", "duration_us", "ended_at", "raw_digest", "recorded_digest", "status",
                     "truncated"):
            receipt[name] = draft[name]
        for name in ("category", "confinement", "exit_code"):
            receipt[name] = draft.get(name)
        receipt["side_effects"] = draft.get("side_effects", [])
    else:
        receipt["shown_digest"], receipt["filters"] = draft["digest"], draft["filters"]


def check_receipts(bundle, events, found):
    """Each receipt is what its events add up to."""
    sums = {}
    for event in events:
        receipt, draft = begun(event), event["draft"]
        if receipt is not None:
            if receipt["execution_id"] in sums:
                found.broken("execution %s began twice" % shown(receipt["execution_id"]))
            sums.setdefault(receipt["execution_id"], receipt)
        elif draft.get("event") in ("closed", "shown"):
            if draft["execution_id"] in sums:
                add_event(sums[draft["execution_id"]], event)
            else:
                found.open("event %d: the beginning of its execution %s is not here" % (
                    event["seq"], shown(draft["execution_id"])))
    by_name = {shown(str(one.get("execution_id"))): one for one in bundle["receipts"]}
    wrong = [name for name, receipt in sums.items()
             if canonical(by_name.get(shown(name))) != canonical(receipt)]
    for name in wrong:
        found.broken("receipt %s is not what its events add up to" % shown(name))
    others = len(bundle["receipts"]) - len(sums)
    if others > 0:
        found.broken("%s: their events are not here" % counted(others, "other receipt"))
    elif not wrong and canonical(bundle["receipts"]) != canonical(list(sums.values())):
        found.broken("the receipts are not in the order of their events")
    elif not wrong and sums:
        found.holds("%s: what their events add up to" % counted(len(sums), "receipt"))
    unfinished = sum(receipt["status"] == "open" for receipt in sums.values())
    if unfinished:
        found.open("%s without an end: it is not here, or there was none yet" % counted(
            unfinished, "receipt"))
    found.receipts = list(sums.values())


NAMED = {"began": "tools", "closed": "recorded_digest", "judged": "answer", "said": "text"}


def check_results(bundle, events, found):
    """Texts and results are those whose digests were recorded."""
    named = {event["draft"][NAMED[event["draft"]["event"]]] for event in events
             if event["draft"].get("event") in NAMED}
    good, before = 0, ""
    for one in bundle["results"]:
        try:
            data = one["text"].encode() if "text" in one else from_base64(one["base64"])
        except ValueError:
            data = None
        if data is None or sha256(data).hex() != one["digest"] or one["digest"] <= before:
            found.broken("result %s is not what was recorded" % one["digest"])
        elif one["digest"] not in named:
            found.broken("result %s is named by no event" % one["digest"])
        else:
            good += 1
        before = one["digest"]
    if good:
        found.holds("%s with the digest that was recorded" % counted(good, "result"))
    if len(named) > good:
        found.open("%s not here, whose digests were recorded" % counted(len(named) - good, "result"))


def verify(text, given=None):
    """Holds the text of a bundle against the fingerprint of a key from elsewhere."""
    found = Verification()
    bundle = read_bundle(find_bundle(text))
    if bundle is None:
        found.broken("it is not a bundle of version 1 as it was written")
        return found
    try:
        check_keys(bundle, given, found)
        events = check_events(bundle, found)
        check_sessions(bundle, events, found)
        check_receipts(bundle, events, found)
        check_results(bundle, events, found)
    except (AttributeError, KeyError, TypeError):
        found.broken("an event does not say what events say")
    return found


def verdict(found, given):
    if not found.is_sound():
        return "BROKEN: it is not what the ledger signed"
    if found.events == 0:
        return "NOT VERIFIED: there is nothing in it"
    if given is None:
        return "CONSISTENT, NOT VERIFIED: hold it against a public key from elsewhere"
    return "VERIFIED: the ledger of this key signed the receipts in it"


# --- the command line ---

def read_key(text):
    """The fingerprint of what somebody gave as a key; None when it is none."""
    plain = re.sub("[\\s:]", "", re.sub("(?i)^\\s*sha256:", "", text)).lower()
    if is_digest(plain):
        return plain
    pem = re.fullmatch("\\s*-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\\s]*)-----END PUBLIC KEY-----\\s*",
                       text)
    try:
        data = from_base64("".join(pem.group(1).split())) if pem else b""
    except ValueError:
        return None
    return fingerprint(data[12:]) if len(data) == 44 and data[:12] == DER else None


def main(arguments):
    files, given, receipts, asked = [], None, False, iter(arguments)
    try:
        for argument in asked:
            if argument == "--key":
                name = next(asked, "")
                given = read_key(name)
                if given is None:
                    with open(name, encoding="utf-8") as file:
                        given = read_key(file.read(65536))
                if given is None:
                    raise ValueError("it is no Ed25519 public key in PEM form")
            elif argument == "--receipts":
                receipts = True
            elif argument.startswith("-"):
                raise ValueError("there is no option " + argument)
            else:
                files.append(argument)
        if len(files) != 1:
            print(__doc__.strip(), file=sys.stderr)
            return 2
        with open(files[0], "rb") as file:
            text = file.read().decode()
    except (OSError, ValueError) as error:
        print("error: %s" % error, file=sys.stderr)
        return 2
    try:
        found = verify(text, given)
    except NoBundle as error:
        print("error: %s: %s" % (files[0], error), file=sys.stderr)
        return 2
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    if receipts and found.is_sound():
        for receipt in found.receipts:
            print(canonical(receipt), file=out)
        out = sys.stderr
    for mark, what in found.rows:
        print("%s  %s" % (mark, what), file=out)
    print(verdict(found, given), file=out)
    out.flush()
    return 0 if found.is_sound() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
