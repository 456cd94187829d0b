"""Documents and stores of mgsync as plain dictionaries: JSON (mgsync-results/2), packed or not, and JSON Lines (mgsync-store/2)."""
import json
import lzma
import warnings
import zlib

RESULTS = "mgsync-results/2"
STORE = "mgsync-store/2"


class NotResults(ValueError):
    """The file is none that mgsync wrote, or of a version that this reader does not know."""


class Damaged(UserWarning):
    """Lines of a store whose checksum is wrong: they are passed over, and what they said is missing."""


class Unknown(UserWarning):
    """A file of an older mgsync, which does not say what its barriers order: `orders_less` is False of all of them."""


def document_in(path):
    """The document of a file, whatever its form: keys as docs/results.md has them, each result with `raw` and `samples`.

    Raises NotResults, naming the file and what is accepted, and OSError where it cannot be read. Warns with Damaged.
    """
    name = str(path)
    try:
        with (lzma.open(path, "rt", encoding="utf-8") if name.endswith(".xz") else open(path, encoding="utf-8")) as file:
            text = file.read()
    except (lzma.LZMAError, UnicodeDecodeError, EOFError) as wrong:
        raise NotResults(f"{name}: no results of mgsync: {wrong}") from wrong
    first = text.split("\n", 1)[0]
    document = _from_store(text, name) if '"mgsync-store/' in first else _from_json(text, name)
    if any(one["study"] == "barriers" and one["metrics"] and not one.get("facts") for one in document["results"]):
        warnings.warn(f"{name}: it does not say what its barriers order, so that orders_less is False; 'mgsync merge {name} --json NEW' adds it",
                      Unknown, stacklevel=3)
    return document


def _known_schema(value, wanted, name):
    found = value.get("schema") if isinstance(value, dict) else None
    if found != wanted:
        raise NotResults(f"{name}: its schema is {found!r}; accepted: '{RESULTS}' and '{STORE}'")


def _from_json(text, name):
    try:
        document = json.loads(text)
    except ValueError as wrong:
        raise NotResults(f"{name}: no results of mgsync: {wrong}; accepted: '{RESULTS}' and '{STORE}'") from wrong
    _known_schema(document, RESULTS, name)
    return document


def _intact(line):
    """The object of a store's line, or None where its checksum, which is its last member, does not fit."""
    tail = ',"crc":"'
    at = line.rfind(tail)
    if at < 0 or not line.endswith('"}'):
        return None
    body = line[:at] + "}"
    return json.loads(body) if f"{zlib.crc32(body.encode()):08x}" == line[at + len(tail):-2] else None


def _from_store(text, name):
    lines = [line for line in text.split("\n") if line]
    records = [_intact(line) for line in lines]
    damaged = [number for number, record in enumerate(records, 1) if record is None]
    if damaged:
        warnings.warn(f"{name}: {len(damaged)} of {len(lines)} lines are damaged and passed over, the first is line {damaged[0]}",
                      Damaged, stacklevel=4)
    if records[0] is None:
        raise NotResults(f"{name}: its first line, which says what the store is of, is damaged")
    header = records[0]
    _known_schema(header, STORE, name)
    document = {key: header[key] for key in ("command", "seed", "started", "machine", "settings")}
    points, ended = {}, "cut short"
    for record in records[1:]:
        if record is None:
            continue
        if record["t"] == "end":
            ended = record["why"]
            continue
        ended = "cut short"
        if record["t"] == "point":
            points.setdefault(record["key"], {"point": record, "samples": [], "result": None})
        elif record["t"] in ("sample", "result"):
            point = points.setdefault(record["key"], {"point": None, "samples": [], "result": None})
            if record["t"] == "sample":
                point["samples"].append(record)
            else:
                point["result"] = record["result"]
                if record["result"]["status"] in ("failed", "error"):
                    point["samples"] = []  # what a failed attempt measured does not count for the next
    document["schema"], document["ended"] = STORE, ended
    document["results"] = [_finished(one) for one in points.values() if one["result"] or one["point"]]
    return document


def _finished(point):
    """A result as a document has it: of a point without one, what was measured before the command ended."""
    result = point["result"]
    if result is None:
        declared = point["point"]
        result = dict(declared["point"], status="interrupted", reason="the store ends before its result", verdict={"kind": "unchecked"},
                      metrics={}, method=declared.get("method", ""), notes=[])
    samples = point["samples"]
    columns = {"batch": [one["batch"] for one in samples]}
    for name in sorted({name for one in samples for name in one["values"]}):
        columns[name] = [one["values"].get(name) for one in samples]
    return dict(result, samples=columns)
