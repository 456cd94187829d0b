"""Tables of raw files that mgsync did not write, and of what its tables leave out: `rows NAME FILE ...` of docs/draw.py.

Each function takes the words after its name, reads files of docs/results and returns a table in Markdown.
"""
import json
import lzma
import math
import pathlib
import re
import statistics

RAW = pathlib.Path(__file__).resolve().parent / "results"


def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def lines(file):
    """Those of a text that are no remarks."""
    return [line for line in (RAW / file).read_text().splitlines() if not line.startswith("#")]


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


def document(file):
    return json.loads(lzma.open(RAW / file, "rt").read() if file.endswith(".xz") else (RAW / file).read_text())


def points(file, members, **where):
    """(method, shape, value of the axis load, median in us) of every measured point of so many members, where all other axes are as `where` says."""
    for one in document(file)["results"]:
        axes = {name: axis["value"] for name, axis in one["axes"].items()}
        shape = f"b{axes.pop('blocks'):g}" if axes.get("blocks") else f"{axes.get('blocks_per_sm', 0):g}"
        axes.pop("blocks_per_sm", None)
        shape += f"x{axes.pop('threads_per_block', 0):g}"
        load = axes.pop("load", "idle")
        if one["status"] == "measured" and one["metrics"] and str(one["members"]) == str(members) and axes == where:
            yield f"{one['subject']}:{one['variant']}", shape, load, one["metrics"]["latency"]["median"]


def rounded(value):
    return "-" if value is None else f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def load_hops(file, shape):
    """How many release/acquire hops beside the same load each barrier takes, by loads."""
    seen = {}
    for method, here, load, us in points(file, 2):
        if here == shape:
            seen.setdefault(load, {})[method] = us
    hop = "hop:release-acquire"
    methods = sorted({m for of in seen.values() for m in of if not m.startswith("hop:")}, key=lambda m: seen["idle"].get(m, 0))
    return markdown(["in hops \\ load", *seen], [[m, *(f"{of[m] / of[hop]:.2f}" if m in of and hop in of else "-" for of in seen.values())] for m in methods])


def widths(file):
    """Half the 95 % intervals in % of the medians, of what waits for fences and of what hardly does."""
    seen = {}
    for one in document(file)["results"]:
        if one["status"] == "measured" and one["metrics"]:
            m = one["metrics"]["latency"]
            kind = f"hop:{one['variant']}" if one["variant"] in ("relaxed", "fence-gpu") else "all others"
            loaded = "idle" if one["axes"].get("load", {"value": "idle"})["value"] == "idle" else "beside load"
            seen.setdefault((kind, loaded), []).append(50 * (m["ci95_high"] - m["ci95_low"]) / m["median"])
    return markdown(["", "", "rows", "median, %", "nine of ten within", "widest"],
                    [[*key, str(len(all_of)), f"{statistics.median(all_of):.1f}", f"{sorted(all_of)[math.ceil(0.9 * len(all_of)) - 1]:.1f}", f"{max(all_of):.1f}"] for key, all_of in sorted(seen.items(), reverse=True)])


def load_parts(file):
    """What each GPU's own part and then a hop take one after the other beside a load, and a barrier of all blocks beside it."""
    seen = {}
    for method, shape, load, us in points(file, 2):
        if shape == "1x32":
            seen.setdefault(load, {})[method] = us
    names = ["hop:grid", "hop:release-acquire"]
    barriers = ["multigrid:auto", "multigrid:library", "multigrid:crowd"]
    return markdown(["1x32, us", *names, "both", *barriers],
                    [[load, *(rounded(of.get(n)) for n in names), rounded(sum(of[n] for n in names) if set(names) <= set(of) else None), *(rounded(of.get(b)) for b in barriers)] for load, of in seen.items()])


def times_as_long(members, slow, fast, *methods):
    """How many times as long each method takes in the first file as in the second, by shapes."""
    here, there = ({(m, shape): us for m, shape, load, us in points(file, members) if load == "idle"} for file in (slow, fast))
    shapes = list(dict.fromkeys(shape for m, shape in here if m in methods and (m, shape) in there))
    return markdown(["times as long", *shapes], [[m, *(f"{here[m, s] / there[m, s]:.2f}" if (m, s) in here and (m, s) in there else "-" for s in shapes)] for m in methods])


def made(*files):
    """Which commit of mgsync measured each file, when and on what, with what care."""
    rows = []
    for file in files:
        if not file.endswith((".json", ".json.xz")):
            remark = " ".join(line for line in (RAW / file).read_text().splitlines() if line.startswith("#"))
            found = {name: re.search(pattern, remark) for name, pattern in
                     {"commit": r"(?:commit|mgsync says) ([0-9a-f]{7,})", "day": r"(20\d\d-\d\d-\d\d)", "NCCL": r"NCCL (\d[\d.]*\d)", "machine": r"(\d) H200"}.items()}
            told = {name: "-" if match is None else match.group(1) for name, match in found.items()}
            rows.append([file, told["commit"], told["day"], f"{told['machine']} x NVIDIA H200", "-", told["NCCL"], "-", "-"])
            continue
        one = document(file)
        gpus = one["machine"]["gpus"]
        names = sorted({gpu["name"] for gpu in gpus})
        settings = one["settings"]
        rows.append([file, re.search(r"\((.*)\)", one["machine"]["mgsync"]).group(1), one["started"][:10], f"{len(gpus)} x {names[0]}", settings.get("driver", "-"),
                     settings.get("NCCL", "-"), settings.get("check_rounds", "-"), f"{1000 * float(settings['max_time_s']):.0f}" if "max_time_s" in settings else "-"])
    return markdown(["file", "commit", "day", "machine", "driver", "NCCL", "rounds checked", "ms a point"], rows)


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
    return markdown(["barrier", *files], [[name, *(column.get(name, "-") for column in columns)] for name in columns[-1]])


def pairs(file):
    """The ratios of alternated pairs of processes, as jobs/against-others.sh ends with them."""
    line_of = re.compile(r"\w+,(\S+): ours / theirs ([\d.]+) \(([\d.]+)\.\.([\d.]+)\) over (\d+) pairs")
    found = [line_of.match(line).groups() for line in (RAW / file).read_text().splitlines() if line_of.match(line)]
    return markdown(["shape", "ours / theirs", "95 % interval", "pairs"], [[shape, ratio, f"{low} to {high}", n] for shape, ratio, low, high, n in found])


def hub(file):
    """us of NCCL's barrier between two of grid.sync, by kernels and shapes, with the least and the most of the turns where it stands at drawn places."""
    seen = {}
    for line in (RAW / file).read_text().splitlines():
        if not line.startswith("#"):
            build, shape, kernel, median, least, most = line.split(",")
            name = kernel.replace("launch bounds", "with launch bounds") if kernel.startswith("loop") else f"{kernel.replace('ours', 'mgsync')}, {build} launch bounds"
            wide = kernel.endswith("place")
            seen.setdefault(name, {}).setdefault(shape, f"{float(median):.3f}" + (f" ({float(least):.2f} to {float(most):.2f})" if wide else ""))
    shapes = ["1x32", "4x256", "8x256"]
    rows = [[name, *(of[shape] for shape in shapes)] for name, of in seen.items() if "again" not in name]
    return markdown(["kernel", *shapes], sorted(rows, key=lambda row: ("place" in row[0], "mgsync" in row[0])))


def median_interval(values):
    """The median, and the narrowest pair of order statistics equally far from both ends that encloses it with 95 % (binomial)."""
    v, n = sorted(values), len(values)
    cut = max((k for k in range(n // 2) if sum(math.comb(n, i) for i in range(k + 1)) / 2 ** n <= 0.025), default=0)
    return statistics.median(v), v[cut], v[n - 1 - cut]


def verdict(ratio, low, high, within):
    """docs/method.md, "What another program says": the median of the ratios within `within` of 1, its interval within 2 % of that median."""
    if max(high / ratio - 1, 1 - low / ratio) > 0.02:
        return "undecided"
    return "agrees" if abs(ratio - 1) <= within else "differs"


def quiet(what, file):
    """mgsync's host barrier beside another program's, by members: `mpi` lines are pairs of processes; of `openmp` a turn is a process of
    mgsync's, with a team of its own for each batch, and the processes of the other program around it, of one team each."""
    pairs, as_it_is = {}, {}
    for words in (line.split(",") for line in (RAW / file).read_text().splitlines()):
        if len(words) < 5 or not words[1].isdigit():
            continue
        members, turn = int(words[1]), int(words[2])
        if words[0] == what == "mpi" and words[3] and words[4]:
            pairs.setdefault(members, []).append(([float(words[3])], float(words[4])))
        elif words[0] == what == "openmp":
            theirs, ours = pairs.setdefault(members, {}).setdefault(turn, ([], []))
            if words[3] == "epcc" and len(words) == 7:
                theirs.append(float(words[6]))
            elif words[3] == "mgsync" and words[4]:
                ours.append(float(words[4]))
        elif words[0] == "as-it-is" and len(words) == 7:
            as_it_is.setdefault(members, []).append(float(words[6]))
    if what == "openmp":
        pairs = {n: [(theirs, ours[0]) for theirs, ours in turns.values() if ours and theirs] for n, turns in pairs.items()}
    rows = []
    for n, turns in sorted(pairs.items()):
        ratio, low, high = median_interval([ours / statistics.median(theirs) for theirs, ours in turns])
        of_theirs = sorted(value for theirs, _ in turns for value in theirs)
        nine = len(of_theirs) // 10
        was = [f"{statistics.median(as_it_is[n]):.3f}"] if what == "openmp" else []
        rows.append([str(n), *was, f"{statistics.median(of_theirs):.3f} ({of_theirs[nine]:.3f} to {of_theirs[-1 - nine]:.3f})", f"{statistics.median(ours for _, ours in turns):.3f}", f"{ratio:.3f} ({low:.3f} to {high:.3f})",
                     f"{len(of_theirs)} and {len(turns)}", verdict(ratio, low, high, 0.05 if what == "mpi" else 0.03)])
    names = ["ranks", "osu_barrier"] if what == "mpi" else ["threads", "syncbench as it is", "on equal terms"]
    names[-1] += " (central 80 %)"
    return markdown([*names, "mgsync", "ours / theirs", "processes", "by the rule"], rows)


def latencies(file):
    """{point: medians of the processes} of a document merged over processes."""
    found = {}
    for one in json.loads(lzma.open(RAW / file, "rt").read())["results"]:
        if one["status"] != "measured":
            continue
        axes = {name: axis["value"] for name, axis in one["axes"].items()}
        of = {}
        for process, us in zip(one["samples"]["batch"], one["samples"]["latency"]):
            of.setdefault(process, []).append(us)
        shape = f"{axes['blocks_per_sm']:g}x{axes['threads_per_block']:g}"
        found[f"{one['subject']}:{one['variant']}", one["members"], shape] = [statistics.median(v) for v in of.values()]
    return found


def chance(low, high):
    """How likely `high` lies as far above `low` as it does where both are of one kind (Mann and Whitney, one side, exact)."""
    ranked = sorted([*low, *high])
    seen = sum(ranked.index(v) for v in high)
    n, k = len(ranked), len(high)
    ways = {(0, 0): 1}  # (how many, sum of ranks): in how many ways
    for rank in range(n):
        for (many, total), count in list(ways.items()):
            if many < k:
                ways[many + 1, total + rank] = ways.get((many + 1, total + rank), 0) + count
    return sum(count for (many, total), count in ways.items() if many == k and total >= seen) / math.comb(n, k)


def before_after(before, after, slower="0.02"):
    """By method, how much longer `after` takes than `before`: the median of all quotients of two processes (Hodges and Lehmann), over the
    points; and whether any point is slower by more than `slower`, by Holm's correction for as many comparisons as there are points."""
    old, new, limit = latencies(before), latencies(after), 1 + float(slower)
    both = [point for point in old if point in new]
    ratio = {p: statistics.median(b / a for a in old[p] for b in new[p]) for p in both}
    p_value = {p: chance([v * limit for v in old[p]], new[p]) for p in both}
    holm, worst = {}, 0
    for i, p in enumerate(sorted(both, key=p_value.get)):
        holm[p] = worst = max(worst, min(1, p_value[p] * (len(both) - i)))
    rows = []
    for method in dict.fromkeys(p[0] for p in both):
        mine = [p for p in both if p[0] == method]
        above = [f"{gpus} GPU{'s' if gpus > 1 else ''} {shape} {ratio[p]:.3f}" for p in mine for _, gpus, shape in [p] if holm[p] < 0.05]
        rows.append([method, str(len(mine)), f"{statistics.geometric_mean(ratio[p] for p in mine):.3f}", f"{min(ratio[p] for p in mine):.3f} to {max(ratio[p] for p in mine):.3f}",
                     f"{min(holm[p] for p in mine):.2g}", ", ".join(above) or "none"])
    return markdown(["barrier", "points", "after / before, mean", "of its points", f"least p of \"over {100 * float(slower):g} % slower\", corrected", "points shown to be"], rows)


TABLES = {"made": made, "load-hops": load_hops, "load-parts": load_parts, "widths": widths, "times-as-long": times_as_long, "surcharge": surcharge, "loadlab": loadlab, "load-rates": load_rates, "pairs": pairs, "ranks": ranks,
          "hub": hub, "quiet": quiet, "before-after": before_after}
