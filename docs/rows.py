"""Tables of raw files that mgsync did not write, and of what its tables leave out: `rows NAME FILE ...` of docs/draw.py.

Each function takes the words after its name, reads files of docs/results and returns a table in Markdown.
"""
import json
import lzma
import pathlib
import re

RAW = pathlib.Path(__file__).resolve().parent / "results"


def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def stencil(file, gpus=None):
    """us per step of stencil_comparison, cells by methods; the methods' names have commas."""
    medians, methods = {}, []
    for line in (RAW / file).read_text().splitlines()[1:]:
        here, size, _, rest = line.split(",", 3)
        method, median, *_ = rest.rsplit(",", 4)
        if gpus in (None, here):
            medians[size, method] = f"{float(median):.4g}"
            methods += [method] if method not in methods else []
    sizes = list(dict.fromkeys(size for size, _ in medians))
    return markdown(["cells", *methods], [[f"{size} x {size}", *(medians.get((size, m), "-") for m in methods)] for size in sizes])


# What the laboratory program calls its traffic, and what that is.
LAB = {"idle": "idle", "peer stores": "131 blocks x 512 store to the peer", "peer stores 128 thr": "131 x 128", "peer stores 16 blk": "16 x 512",
       "peer stores 4 blk": "4 x 512", "128 thr, probe SM too": "132 x 128, one on the SM of the hop", "peer loads": "131 x 512 load from the peer",
       "local stores": "131 x 512 store to their own GPU", "local loads": "131 x 512 load from it",
       "host polls only": "one thread of each of 131 blocks reads a word of host memory"}
HOPS = {"relaxed hop": "relaxed hop", "rel/acq hop": "release/acquire hop", "fence.sys+peer store": "fence.sys", "fence.gpu+peer store": "fence.gpu"}


def loadlab(file):
    """What the laboratory program printed: hops beside traffic, in us, the least and the most where they differ twofold."""
    line_of = re.compile(r"(.+?)\s{2,}(" + "|".join(map(re.escape, HOPS)) + r")\s+([\d.]+) us \(([\d.]+)\.\.([\d.]+)\).*traffic (\d+) GB/s")
    seen = {}
    for line in (RAW / file).read_text().splitlines():
        if found := line_of.match(line):
            load, hop, median, least, most, rate = found.groups()
            wide = float(most) >= 2 * float(least)
            seen.setdefault(load, {"rate": rate})[hop] = f"{float(median):.3g}" + (f" ({float(least):.2g} to {float(most):.2g})" if wide else "")
    missing = [name for name in LAB if name not in seen]
    if missing:
        raise SystemExit(f"docs/rows.py: {file} has no {missing}; it has {list(seen)}")
    return markdown(["load", "GB/s per GPU", *HOPS.values()], [[what, seen[name]["rate"], *(seen[name][hop] for hop in HOPS)] for name, what in LAB.items()])


def load_rates(file, blocks):
    """GB/s that each load reached on a GPU while the barriers ran, by the notes of the results; `blocks`: of the barrier, in all or per SM."""
    text = lzma.open(RAW / file, "rt").read() if file.endswith(".xz") else (RAW / file).read_text()
    rates = {}
    for one in json.loads(text)["results"]:
        axes = {name: axis["value"] for name, axis in one["axes"].items()}
        per = f"b{axes['blocks']:g}" if axes.get("blocks") else f"{axes['blocks_per_sm']:g}"
        for note in one["notes"] if blocks == f"{per}x{axes['threads_per_block']:g}" else []:
            if found := re.match(r"([\d.e+]+) (k|M|G)?B/s of load", note):
                rates.setdefault(axes["load"], []).append(float(found.group(1)) * {"k": 1e-6, "M": 1e-3, "G": 1, None: 1e-9}[found.group(2)])
    return markdown(["load", "GB/s per GPU"], [[load, " to ".join(f"{rate:.0f}" if rate >= 1 else f"{rate:.2g}" for rate in (min(all_of), max(all_of)))] for load, all_of in rates.items()])


def surcharge(members, *files):
    """How much longer multigrid:library takes than multigrid:auto, by shape, in each of the files."""
    def medians(file):
        found = {}
        for one in json.loads((RAW / file).read_text())["results"]:
            axes = {name: axis["value"] for name, axis in one.get("axes", {}).items()} or one
            shape = f"b{axes['blocks']:g}x{axes['threads_per_block']:g}" if axes.get("blocks") else f"{axes['blocks_per_sm']:g}x{axes['threads_per_block']:g}"
            if str(one["members"]) == members and one["status"] == "measured":
                latency = one["metrics"]["latency"] if "metrics" in one else one["latency_us"]
                found[one["variant"], shape] = latency["median"]
        return {shape: 100 * (us / found["auto", shape] - 1) for (variant, shape), us in found.items() if variant == "library"}
    columns = {file: medians(file) for file in files}
    shapes = list(dict.fromkeys(shape for column in columns.values() for shape in column))
    return markdown(["the group over the algorithm alone", *shapes], [[file, *(f"{column[s]:.1f} %" if s in column else "-" for s in shapes)] for file, column in columns.items()])


def sync_cost(file, gpus):
    """ns per barrier of sync_cost, its forms by shapes, and how much each takes over the algorithm alone."""
    seen = {}
    for line in (RAW / file).read_text().splitlines():
        here, shape, _, _, form, ns, *_ = line.split(",")
        if here == gpus:
            seen.setdefault(form, {})[shape] = float(ns)
    alone = seen["algorithm"]
    shapes = list(alone)

    def cell(form, ns, shape):
        return f"{ns:.0f}" if form == "algorithm" else f"{ns:.0f} ({100 * (ns / alone[shape] - 1):+.1f} %)"
    return markdown([f"ns on {gpus} GPU" + ("s" if gpus != "1" else ""), *shapes],
                    [[form, *(cell(form, by[s], s) if s in by else "-" for s in shapes)] for form, by in seen.items()])


def ranks(shape, members, *files):
    """Medians and intervals of `members` GPUs at a shape of one size ("1x32"), the methods of the last file by the files."""
    def of(file):
        found = {}
        for one in json.loads((RAW / file).read_text())["results"]:
            axes = {name: axis["value"] for name, axis in one["axes"].items()}
            if one["status"] == "measured" and f"{axes.get('blocks_per_sm', 0):g}x{axes['threads_per_block']:g}" == shape and str(one["members"]) == members:
                m = one["metrics"]["latency"]
                found[f"{one['subject']}:{one['variant']}"] = f"{m['median']:.3f} ({m['ci95_low']:.3f}..{m['ci95_high']:.3f})"
        return found
    columns = [of(file) for file in files]
    return markdown(["method", *files], [[name, *(column.get(name, "-") for column in columns)] for name in columns[-1]])


def pairs(file):
    """The ratios of alternated pairs of processes, as jobs/against-others.sh ends with them."""
    line_of = re.compile(r"\w+,(\S+): ours / theirs ([\d.]+) \(([\d.]+)\.\.([\d.]+)\) over (\d+) pairs")
    found = [line_of.match(line).groups() for line in (RAW / file).read_text().splitlines() if line_of.match(line)]
    return markdown(["shape", "ours / theirs", "95 % interval", "pairs"], [[shape, ratio, f"{low} to {high}", n] for shape, ratio, low, high, n in found])


TABLES = {"surcharge": surcharge, "stencil": stencil, "loadlab": loadlab, "load-rates": load_rates, "sync-cost": sync_cost, "pairs": pairs, "ranks": ranks}
