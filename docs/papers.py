"""The papers' numbers beside those of today's GPUs, for docs/papers.md: `papers NAME ...` of docs/draw.py.

    papers table 000 "table I"     the cells of a paper's table or figure, each with what takes its place now
    papers bound                   what an SM loads at most, beside the paper's table III
    papers sums                    the ways of a sum in GB/s and in % of theory, beside the paper's table VI
    papers optima                  the tiles of paper 003's table 1, by mgsync's own search
    papers turned                  what was the other way round
    papers findings "table VIII"   the sentences of a paper, and what is so now

The papers' numbers are those of src/results/frame/papers.csv. Every other one is read from a table that mgsync shows of
the raw files, or from these: `{gpu}x?/launch.json.xz` is whatever file is there of a machine with such GPUs, so a new raw file
fills its column by itself. What has no figure says why in REASONS or in the entry itself; a cell of the papers that has
neither ends the drawing with an error.
"""
import csv
import functools
import json
import lzma
import pathlib
import re
import shlex

ROOT = pathlib.Path(__file__).resolve().parent.parent
RAW = ROOT / "docs/results"
GPUS = {"H100": "h100", "H200": "h200"}
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


class absent(Exception):
    """Why there is no figure."""


class figure:
    """A number and the words in which it is shown."""

    def __init__(self, number, words=None):
        self.number = number
        self.elsewhere = ""  # the machine, where its own file has no such figure
        self.words = words or (f"{number:.0f}" if number >= 1000 else f"{number:.4g}")


# --- what mgsync shows -----------------------------------------------------------------------------------------------

run = None  # set by draw(): the words of a command -> what it prints


@functools.lru_cache(None)
def tables(*words):
    """[(title, [titles of columns], [rows])] of the tables in Markdown that a command prints."""
    found, title = [], ""
    for line in run(words).splitlines():
        if line.startswith("|---"):
            continue
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if before.startswith("|"):
                found[-1][2].append(cells)
            else:
                found.append((title, cells, []))
        elif line.strip():
            title = line.strip()
        before = line
    return found


@functools.lru_cache(None)
def document(name):
    return json.loads(lzma.open(RAW / name, "rt").read())


def files(pattern, gpu):
    """Of the widest machine first."""
    return [str(path.relative_to(RAW)) for path in sorted(RAW.glob(pattern.replace("{gpu}", gpu)), reverse=True)]


def of_text(text):
    """A figure of a cell's text; nothing is '-', and what was voided or not shown has its word."""
    if text in ("", "-"):
        raise absent("-")
    found = NUMBER.match(text)
    if not found:
        raise absent(text)
    return figure(float(found.group()), text)


def first_of(pattern, gpu, look):
    """What `look` finds in the first file that has it; an H100 or H200 without such a file has '-'."""
    for name in files(pattern, gpu):
        value = look(name)
        if value is not None:
            return value
    raise absent("-")


def column_of(titles, wanted):
    """The place of a column: its title, or (title, the how many-th of this title); "NVIDIA" is the GPU's own."""
    title, nth = wanted if isinstance(wanted, tuple) else (wanted, 0)
    places = [i for i, each in enumerate(titles) if each == title or title == "NVIDIA" and each.startswith("NVIDIA")]
    if len(places) <= nth:
        raise SystemExit(f"docs/papers.py: no column {wanted}; there are {titles}")
    return places[nth]


def shown(pattern, table, column, **where):
    """A cell of a table: where names columns, with '_' for blanks."""
    def look(gpu):
        def in_file(name):
            for _, titles, rows in tables("mgsync", "show", name, "--tables", table):
                wanted = {column_of(titles, key.replace("_", " ")): value for key, value in where.items()}
                for row in rows:
                    if all(row[i] == value for i, value in wanted.items()):
                        return of_text(row[column_of(titles, column)])
            return None
        return first_of(pattern, gpu, in_file)
    return look


def barrier(subject, members, shape):
    """The median of a barrier in us; of one GPU that of a machine with one, where there is such a file."""
    def look(gpu):
        def in_file(name):
            for title, titles, rows in tables("mgsync", "show", name, "--by", "shapes"):
                if title.startswith(f"{members} GPU") and shape in titles:
                    for row in rows:
                        if row[0] == subject:
                            return of_text(row[titles.index(shape)])
            return None
        own = ["{gpu}x1/barriers.json.xz"] if members == 1 and files("{gpu}x1/barriers.json.xz", gpu) else []
        return first_of(*own or ["{gpu}x?/barriers.json.xz"], gpu, in_file)
    return look


def cells_of_map(gpu, subject, members):
    """{(blocks per SM, threads per block): us} of a map."""
    def in_file(name):
        found = {}
        for title, titles, rows in tables("mgsync", "show", name, "--by", "shape", "--where", f"subject={subject},members={members}"):
            for row in rows:
                for threads, text in zip(titles[1:], row[1:]):
                    if text != "-":
                        found[int(row[0]), int(threads)] = of_text(text)
        return found or None
    return first_of(f"{{gpu}}x?/map-{members}.json.xz", gpu, in_file)


def of_map(subject, members, which, inside):
    """The least or the largest of a map where inside(blocks, threads)."""
    def look(gpu):
        some = [value for (blocks, threads), value in cells_of_map(gpu, subject, members).items() if inside(blocks, threads)]
        return which(some, key=lambda each: each.number)
    return look


def computed(function, *of):
    """A figure made of others."""
    return lambda gpu: figure(function(*(each(gpu).number for each in of)))


def else_no(look, why):
    """What `look` finds; where no file has it, why."""
    def tried(gpu):
        try:
            return look(gpu)
        except absent as told:
            raise absent(why if str(told) == "-" else str(told)) from None
    return tried


def no(why):
    def look(gpu):
        raise absent(why)
    return look


# --- which of mgsync's figures takes the place of which of the papers' -------------------------------------------------

def launch(kind, column, members=1, shape="1x32"):
    """Of one GPU the file of a machine with one is taken first; a figure that is void there comes from a wider machine, and says so."""
    def look(gpu):
        patterns = (["{gpu}x1/launch.json.xz"] if members == 1 else []) + ["{gpu}x?/launch.json.xz"]
        for pattern in patterns:
            try:
                found = shown(pattern, "launch-overhead", column, members=str(members), shape=shape, launch=kind)(gpu)
                if pattern != patterns[0]:
                    found.elsewhere = files(pattern, gpu)[0].split("/")[0]
                return found
            except absent as why:
                told = why
        raise told
    return look


def in_us(look):
    return computed(lambda ns: ns / 1e3, look)


def levels(table, nth, **where):
    return shown("{gpu}x1/levels.json.xz", table, ("NVIDIA", nth), **where)


def model(table, column, **where):
    return shown("{gpu}x1/model.json.xz", table, column, **where)


def loop(threads, column, how="as-compiled"):
    return model("table-iii", column, loop=how, threads=str(threads))


def region(name):
    return shown("{gpu}x1/timeline-instructions.json.xz", "region-parts", "cycles", region=name)


def clock(gpu):
    return shown("{gpu}x1/verify.json.xz", "gpu-chains", "MHz", operation="fp32_add", form="unrolled")(gpu)


def how_many(gpu):
    return first_of("{gpu}x?/barriers.json.xz", gpu, lambda name: figure(len(document(name)["machine"]["gpus"])))


def sms(gpu):
    def in_file(name):
        rows = [each["content"] for one in document(name)["results"] for each in one["attachments"] if each["name"] == "rows.csv"]
        return figure(int(re.search(r"# sms=(\d+)", rows[0]).group(1))) if rows else None
    return first_of("{gpu}x1/pipeline-wgmma.json.xz", gpu, in_file)


def sum_of(way, size=1 << 32, kind="fp64"):
    """(us, the loop that read, GB/s in theory) of a way of a sum on one GPU, from memory that is not in the cache."""
    def look(gpu):
        def in_file(name):
            for one in document(name)["results"]:
                axes = {key: axis["value"] for key, axis in one["axes"].items()}
                if one["subject"] == way and one["members"] == 1 and (axes["bytes"], axes["type"], axes["memory"]) == (size, kind, "cold") and one["metrics"]:
                    return one["metrics"]["latency"]["median"], one["environment"].get("reading", "its own"), one["quantities"]["memory"]["values"][0]
            return None
        return first_of("{gpu}x1/reduction.json.xz", gpu, in_file)
    return look


def rate(way):
    return lambda gpu: figure((1 << 32) / sum_of(way)(gpu)[0] / 1e3, f"{(1 << 32) / sum_of(way)(gpu)[0] / 1e3:.0f}")


def warps(blocks, threads):
    return blocks * threads / 32


OF_FULL = "of the H100 only full groups, whose code is another"
OF_WARPS = "of the H100 warps were counted, not groups"
LIBRARY = "library code; its chain is no straight line"
NO_FIGURE = "read off a figure that did not survive in the text; what takes its place is drawn below"
FIXED_LOOP = "by the loop of reading alone (below)"

ENVIRONMENT = {("default frequency", "clock"): (clock, "what the SMs run at, not an application frequency"), ("GPUs", "count"): (how_many, "")}
five_shuffles = computed(lambda shuffle: 5 * shuffle, levels("table-ii", 0, type="Shuffle (Tile) (*)"))
five_barriers = computed(lambda barrier: 5 * barrier, levels("table-5", 0, threads="1024"))
block_sync = {n: (levels("table-5", 0, threads=str(n)), levels("table-5", 1, threads=str(n))) for n in (32, 64, 128, 256, 512, 1024)}
wide_blocks = [computed(lambda rate, n=n: rate * n / 32 / 1e3, block_sync[n][1]) for n in (128, 256, 512, 1024)]


def over_64(gpu):
    found = sorted(each(gpu).number for each in wide_blocks)
    return figure(found[-1], f"{found[0]:.3f} to {found[-1]:.3f}")


def chain(table, column, **where):
    return shown("{gpu}x1/verify.json.xz", table, column, **where)


def errors(column):
    return lambda gpu: shown("{gpu}x1/pipeline-mma.json.xz", "pipeline-errors", column, kernel="mma, 1 producer", sizes="sizes to 1024")(gpu)


# (paper, place): {(row, quantity): (what takes its place, remark)}. A remark with "!" before it: no ratio, the two are not alike.
NOW = {
    ("000", "table I"): {
        (kind, quantity): (launch(kind, column, shape="1x1024"), remark)
        for kind in ("traditional", "cooperative", "multi-device")
        for quantity, column, remark in (("fused overhead", "fused overhead", "processes differ in it by some 8 % ([launch](studies/launch.md))"),
                                         ("null kernel total", "null kernel, total", ""))},
    ("000", "table II"): {
        ("Tile (*)", "latency"): (levels("table-ii", 0, type="Tile (*)"), "lanes that are together need no instruction; lanes that are apart: below"),
        ("Tile (*)", "throughput"): (levels("table-ii", 1, type="Tile (*)"), "!nothing is executed"),
        ("Shuffle (Tile) (*)", "latency"): (levels("table-ii", 0, type="Shuffle (Tile) (*)"), ""),
        ("Shuffle (Tile) (*)", "throughput"): (levels("table-ii", 1, type="Shuffle (Tile) (*)"), ""),
        ("Shuffle (Tile) (*)", "reference"): (no("the programming guide's, not measured"), ""),
        ("Coalesced (1-31)", "latency"): (levels("table-ii", 0, type="Coalesced (1-31)"), "of every size, of the first lanes and of lanes drawn at random"),
        ("Coalesced (1-31)", "throughput"): (else_no(levels("table-ii", 1, type="Coalesced (1-31)"), OF_FULL), "!of 31 lanes; nothing is executed"),
        ("Coalesced (32)", "latency"): (levels("table-ii", 0, type="Coalesced (32)"), ""),
        ("Coalesced (32)", "throughput"): (levels("table-ii", 1, type="Coalesced (32)"), "!nothing is executed"),
        ("Shuffle (COA) (*)", "latency"): (levels("table-ii", 0, type="Shuffle (COA) (*)"), "of 1 to 31 lanes; all 32 shuffle as a tile does"),
        ("Shuffle (COA) (*)", "throughput"): (else_no(levels("table-ii", 1, type="Shuffle (COA) (*)"), OF_FULL), "of 31 lanes"),
        ("Block (warp)", "latency"): (levels("table-ii", 0, type="Block (warp)"), ""),
        ("Block (warp)", "throughput"): (levels("table-ii", 1, type="Block (warp)"), "16 threads a cycle, as the guide says of V100"),
        ("Block (warp)", "reference"): (no("the programming guide's, not measured"), "")},
    ("000", "table III"): {
        ("1", "bandwidth"): (loop(1, ("here", 0)), ""), ("1", "latency"): (loop(1, "cycles a turn"), "cycles of a turn as compiled, as the paper has it"),
        ("1", "concurrency"): (computed(lambda a, b: a * b, loop(1, ("here", 0)), loop(1, "cycles a turn")), "Little's law: the product of the two"),
        ("32", "bandwidth"): (loop(32, ("here", 0)), ""), ("32", "latency"): (loop(32, "cycles a turn"), ""),
        ("32", "concurrency"): (computed(lambda a, b: a * b, loop(32, ("here", 0)), loop(32, "cycles a turn")), ""),
        ("1024", "bandwidth"): (loop(1024, ("here", 0)), "!V100's and P100's are above what an SM loads (below)"),
        ("1024", "latency"): (loop(1024, "latency"), "a warp's turn: the paper has one latency for all"), ("1024", "concurrency"): (loop(1024, ("here", 1)), "")},
    ("000", "table IV"): {
        ("1 -> 32", "synchronization"): (five_shuffles, "five shuffles"),
        ("1 -> 32", "switch point"): (computed(lambda thr, lat, sync: thr * (lat + sync), loop(1, ("here", 0)), loop(32, "cycles a turn"), five_shuffles), "equation 4"),
        ("1 -> 32", "switch point of equation 5"): (computed(lambda few, more, sync: sync * few * more / (more - few), loop(1, ("here", 0)), loop(32, ("here", 0)), five_shuffles), ""),
        ("1 -> 32", "switch point as measured"): (model("table-iv", "for good", loop="as-compiled", between="1 thread -> 1 warp"), "the paper measured none"),
        ("32 -> 1024", "synchronization"): (five_barriers, "five barriers of the block"),
        ("32 -> 1024", "switch point"): (computed(lambda few, more, sync: sync * few * more / (more - few), loop(32, ("here", 0)), loop(1024, ("here", 0)), five_barriers), "equation 5"),
        ("32 -> 1024", "switch point of equation 4"): (computed(lambda thr, lat, sync: thr * (lat + sync), loop(32, ("here", 0)), loop(32, "cycles a turn"), five_barriers), ""),
        ("32 -> 1024", "switch point as measured"): (model("table-iv", "for good", loop="as-compiled", between="1 warp -> 1024 threads"), "the paper measured none")},
    ("000", "table V"): {
        (way, "latency"): (model("table-v", "here", way=way), remark)
        for way, remark in (("serial", "!address arithmetic ahead of the first load is in it"), ("nosync", "!each step loads anew; and the sum is wrong"),
                            ("volatile", ""), ("tile", ""), ("coalesced", ""), ("tile-shuffle", "!the load ahead of the first shuffle is in it"),
                            ("coalesced-shuffle-remade", "groups made anew in every step"))},
    ("000", "table VI"): {
        ("implicit", "bandwidth"): (rate("implicit"), FIXED_LOOP), ("grid sync", "bandwidth"): (rate("grid-sync"), FIXED_LOOP),
        ("CUB", "bandwidth"): (rate("cub"), ""), ("CUDA sample", "bandwidth"): (no("not among the ways of the study: the paper's row alone"), ""),
        ("theory", "bandwidth"): (lambda gpu: figure(sum_of("read")(gpu)[2], f"{sum_of('read')(gpu)[2]:.0f}"), "bus width and memory clock, by the driver")},
    ("000", "table VII"): ENVIRONMENT,
    ("000", "text"): {("multi-grid barrier over CPU-side barrier", "at most"): (
        lambda gpu: max((figure(barrier("multigrid:vendor", members, shape)(gpu).number / barrier("openmp:runtime", members, shape)(gpu).number)
                         for members in (2, 4) for shape in ("1x32", "1x1024", "4x256")), key=lambda each: each.number),
        "of 2 and 4 GPUs and shapes up to 4x256; NVIDIA's barrier over OpenMP's; with more blocks: figure 9")},
    ("001", "text"): {("float add", "latency"): (chain("gpu-chains", "cycles", operation="fp32_add", form="unrolled"), "")},
    ("001", "table 1"): {
        (row, quantity): ((chain("instruction-cache", "cycles", difference=row), "chains that are all in the code, as the paper's") if quantity == "device" else
                          (chain("both-clocks", "host, cycles", operation="fp32_add", difference={"2056": "2048"}.get(row, row)),
                           "!by a loop, which does not leave the instruction cache" if int(row) > 7000 else "by a loop"))
        for row in ("2056", "5120", "7680", "10240", "20480", "25600", "40960", "51200") for quantity in ("host", "device")}
    | {("512", "device"): (no("a single length has no figure here: the slope over lengths is taken"), "")},
    ("001", "table 3"): ENVIRONMENT,
    ("001", "table 4"): {
        ("TILE *", "latency"): (levels("table-4", 0, type="TILE *"), LIBRARY),
        ("TILE *", "throughput of size 1"): (else_no(levels("table-7", 0, type="Tile (sync/cycle)", group_size="1"), OF_WARPS), "groups of one lane, 32 in a warp"),
        ("Coalesced 1-31", "latency"): (levels("table-4", 0, type="Coalesced 1-31"), ""), ("Coalesced 1-31", "throughput"): (else_no(levels("table-4", 1, type="Coalesced 1-31"), OF_FULL), "!of 31 lanes; nothing is executed"),
        ("Coalesced 32", "latency"): (levels("table-4", 0, type="Coalesced 32"), ""), ("Coalesced 32", "throughput"): (levels("table-4", 1, type="Coalesced 32"), "!nothing is executed")},
    ("001", "table 5"): {(str(n), quantity): (block_sync[n][i], "") for n in block_sync for i, quantity in enumerate(("latency", "throughput"))},
    ("001", "table 6"): {
        ("Tile 1-32", "latency"): (levels("table-4", 0, type="TILE *"), LIBRARY),
        ("Coalesced 1-31", "latency"): (levels("table-4", 0, type="Coalesced 1-31"), ""), ("Coalesced 32", "latency"): (levels("table-4", 0, type="Coalesced 32"), "")}
    | {(f"Block {n}", "latency"): (block_sync[n][0], "") for n in (32, 256, 1024)},
    ("001", "table 7"): {
        ("Tile (sync/cycle) 1", "throughput"): (else_no(levels("table-7", 0, type="Tile (sync/cycle)", group_size="1"), OF_WARPS), "groups of one lane, 32 in a warp"),
        ("Tile (sync/cycle) 32", "throughput"): (levels("table-7", 0, type="Tile (sync/cycle)", group_size="32"), LIBRARY),
        ("Coalesced (sync/cycle) 1", "throughput"): (else_no(levels("table-7", 0, type="Coalesced (sync/cycle)", group_size="1"), OF_FULL), "!nothing is executed; the paper's row contradicts its own table 4"),
        ("Coalesced (sync/cycle) 32", "throughput"): (levels("table-7", 0, type="Coalesced (sync/cycle)", group_size="32"), "!nothing is executed; the paper's row contradicts its own table 4"),
        ("Block (warp-sync/ns) 32", "throughput"): (computed(lambda rate: rate / 1e3, block_sync[32][1]), ""),
        ("Block (warp-sync/ns) 64", "throughput"): (computed(lambda rate: 2 * rate / 1e3, block_sync[64][1]), ""),
        ("Block (warp-sync/ns) > 64", "throughput"): (over_64, "128 to 1024 threads")},
    ("001", "table 8"): {
        (f"griddim {n}", quantity): (of_map("grid:cooperative-groups", 1, which, lambda blocks, threads, n=n: blocks == n), "")
        for n in (1, 2, 4, 8, 16, 32) for quantity, which in (("least", min), ("largest", max))},
    ("001", "table 9"): {
        (name, quantity): (of_map("multigrid:vendor", 2, which, inside), "")
        for name, inside in (("block/sm <= 4 and warp/sm <= 16", lambda b, t: b <= 4 and warps(b, t) <= 16),
                             ("block/sm >= 16 or warp/sm = 64", lambda b, t: b >= 16 or warps(b, t) == 64),
                             ("block/sm <= 2 and warp/sm <= 32", lambda b, t: b <= 2 and warps(b, t) <= 32),
                             ("block/sm > 8", lambda b, t: b > 8))
        for quantity, which in (("least", min), ("largest", max))},
    ("002", "text"): {
        ("as compiled", "latency"): (region("as compiled"), "the load from global memory is in it"), ("corrected", "latency"): (region("corrected"), ""),
        ("load alone", "latency"): (region("load alone"), "")}
    | {(f"{how}: warp {n}", "latency"): (no("one figure for all four warps, above; each warp's stamps: the picture"), "") for how in ("as compiled", "corrected") for n in range(4)},
    ("003", "text"): {
        ("2048 configurations", "mean error"): (errors("less launch, mean"), "mma, 1 producer, products that the model never saw; every kernel: below"),
        ("2048 configurations", "largest error"): (errors(("largest", 1)), "the same"),
        ("DMA throughput", "throughput"): (shown("{gpu}x1/pipeline-mma.json.xz", "pipeline-lines", "rate", kernel="mma, 1 producer", of="loads of a stage"), "!of one SM, all at work; the paper's cannot be in its unit"),
        ("ALU throughput", "throughput"): (shown("{gpu}x1/pipeline-mma.json.xz", "pipeline-lines", "rate", kernel="mma, 1 producer", of="multiplying, by bytes"), "!of one SM, all at work; the paper's cannot be in its unit"),
        ("machine", "SMs"): (sms, "")},
    ("004", "figure 4"): {
        (kind, quantity): (launch(kind, column), "") for kind in ("traditional", "cooperative", "multi-device")
        for quantity, column in (("call", "call"), ("null kernel additional", "null kernel, additional"))},
    ("004", "figure 5"): {
        (kind, quantity): (look(kind), "") for kind in ("traditional", "cooperative", "multi-device")
        for quantity, look in (("additional", lambda kind: no("shown as the fused overhead: what is left of it beside the units")),
                               ("call", lambda kind: no("as in figure 4: not measured again beside long kernels")),
                               ("unit", lambda kind: no("the picture of one more unit of waiting, below")),
                               ("fused overhead", lambda kind: launch(kind, "fused overhead")))},
    ("004", "figure 6"): {(kind, "other"): (launch(kind, "other"), "total less call and fused overhead") for kind in ("traditional", "cooperative", "multi-device")},
    ("004", "text"): {
        ("empty kernel", "total"): (in_us(launch("traditional", "null kernel, total")), ""),
        ("wait unit of large kernels", "length"): (computed(lambda us: us * 1e3, launch("traditional", "unit, us")), "the least from which on the overhead no longer changes")},
}
for _gpus in range(1, 9):
    _row = f"{_gpus} GPU{'s' if _gpus > 1 else ''}"
    _none = no("no machine with so many was at hand")
    NOW.setdefault(("004", "figure 4 right"), {})[_row, "null kernel additional"] = (
        in_us(launch("multi-device", "null kernel, additional", _gpus)) if _gpus in (1, 2, 4) else _none, "")
    NOW.setdefault(("004", "figure 5 right"), {})[_row, "fused overhead"] = (
        in_us(launch("multi-device", "fused overhead", 1)) if _gpus == 1 else
        no("grows with the unit of waiting: no plateau, no figure") if _gpus == 2 else
        no("void: no unit of waiting that was tried settled it") if _gpus == 4 else _none, "")


# --- tables ------------------------------------------------------------------------------------------------------------

def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


@functools.lru_cache(None)
def papers():
    with open(ROOT / "src/results/frame/papers.csv", encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


def printed(cell):
    """A number of a paper as it is printed there."""
    return cell["quoted"] if NUMBER.fullmatch(cell["quoted"]) or re.fullmatch(r"[\d.]+-[\d.]+", cell["quoted"]) else cell["value"]


def ratio(now, then):
    if not then:
        return "-"
    return f"{now / then:.2f}" if 0.1 <= abs(now / then) < 10 else f"{now / then:.2g}"


def table(paper, place):
    """The cells of a paper's table or figure, a line for each quantity of a row."""
    cells = [each for each in papers() if (each["paper"], each["place"]) == (paper, place)]
    if not cells:
        raise SystemExit(f"docs/papers.py: papers.csv has no {place} of paper {paper}")
    entries = NOW[paper, place]
    machines = list(dict.fromkeys(each["machine"] for each in cells))
    lines = {}
    for each in cells:
        lines.setdefault((each["row"], each["quantity"]), {})[each["machine"]] = each
    unknown = [key for key in lines if key not in entries]
    if unknown:
        raise SystemExit(f"docs/papers.py: NOW says nothing of {unknown} in {place} of paper {paper}")
    order = list(entries) if all(key in entries for key in lines) else list(lines)
    rows = []
    for key in order:
        there, (look, remark) = lines.get(key, {}), entries[key]
        here, reasons = {}, []
        for gpu, stem in GPUS.items():
            try:
                here[gpu] = look(stem)
            except absent as why:
                reasons.append(str(why))
        reason = next((each for each in reasons if each != "-"), "")
        if not here and not reason:
            raise SystemExit(f"docs/papers.py: {key} in {place} of paper {paper} has neither a figure nor a reason")
        against = next((name for name in machines if name in there), machines[0])
        then = float(there[against]["value"]) if there else None
        last = here.get("H200") or here.get("H100")
        alike = not remark.startswith("!")
        unit = next((each["unit"] for each in there.values()), "")
        rows.append([key[0], f"{key[1]}, {unit}" if unit else key[1], *(printed(there[name]) if name in there else "-" for name in machines),
                     *(here[gpu].words if gpu in here else "-" for gpu in GPUS),
                     ratio(last.number, then) + ("" if "H200" in here else " (H100)") if last and then is not None and alike else "-",
                     "; ".join(filter(None, [reason, remark.lstrip("!"), f"over {against}'s" if against != machines[0] else "",
                                             *(f"{gpu}'s of another machine, {each.elsewhere}" for gpu, each in here.items() if each.elsewhere)]))])
    return markdown(["row", "quantity", *machines, *GPUS, f"now / {machines[0]}" , "remark"], rows)


def bound():
    """Shared memory has 32 banks, each of 4 bytes a cycle (the programming guide)."""
    most, rows = 32 * 4, []
    cells = {(each["row"], each["machine"]): each for each in papers() if (each["paper"], each["place"], each["quantity"]) == ("000", "table III", "bandwidth")}
    for threads in ("1", "32", "1024"):
        try:
            here = loop(threads, ("here", 0))("h200")
            text = f"{here.words} ({100 * here.number / most:.1f} %)"
        except absent as why:
            text = str(why)
        rows.append([threads, *(f"{printed(cells[threads, name])} ({100 * float(cells[threads, name]['value']) / most:.1f} %)" for name in ("V100", "P100")), text])
    return markdown(["threads", "V100", "P100", "H200", ], rows)


def sums():
    """Every way of a sum with the loop by which it read."""
    rows = []
    of = {(each["row"], each["machine"]): float(each["value"]) for each in papers() if (each["paper"], each["place"]) == ("000", "table VI")}
    ways = list(dict.fromkeys(one["subject"] for name in files("{gpu}x1/reduction.json.xz", "h200") for one in document(name)["results"]))
    paper_of = {"implicit": "implicit", "grid-sync": "grid sync", "cub": "CUB"}
    for way in [*ways, None]:
        there = paper_of.get(way) if way else "CUDA sample"
        shares = [f"{of[there, name]:.2f} ({100 * of[there, name] / of['theory', name]:.1f} %)" if there else "-" for name in ("V100", "P100")]
        if way is None:
            rows.append([there, *shares, "-", "-", "-"])
            continue
        try:
            us, how, theory = sum_of(way)("h200")
        except absent:
            continue
        rows.append([way, *shares, how, f"{(1 << 32) / us / 1e3:.0f}", f"{(1 << 32) / us / 1e3 / theory:.1%}".replace("%", " %")])
    return markdown(["way", "V100", "P100", "H200: loop", "GB/s", "of theory"], sorted(rows, key=lambda row: -float(row[4]) if row[4] != "-" else 0))


def answer(size, *words):
    """(tile, buffers, time) of mgsync's search for a product."""
    text = run(("mgsync", "study", "pipeline", "--gemm", size, *words))
    tile, buffers = re.search(r"best +.*?tile (\S+),.*? (\d+) buffer", text).groups()
    return tile, buffers, re.search(r"time +([\d.]+) us", text).group(1)


def optima():
    rows = []
    for size in dict.fromkeys(each["row"] for each in papers() if (each["paper"], each["place"]) == ("003", "table 1")):
        of = {each["quantity"]: each["value"] for each in papers() if (each["paper"], each["place"], each["row"]) == ("003", "table 1", size)}
        there = "x".join(of[f"optimal tile {letter}"] for letter in "MNK")
        found, here = answer(size, "--machine", "paper"), answer(size, "--machine", "h200")
        rows.append([size, there, of["solving time"], found[0], "the same" if found[0] == there else "another", here[0], here[1], here[2]])
    return markdown(["product", "the paper's tile", "solved in, s", "here, on the paper's machine", "", "on an H200, of its measured kernels", "buffers", "foretold, us"], rows)



# --- sentences ---------------------------------------------------------------------------------------------------------

def then(paper, place, row, quantity, machine="V100", factor=1.0):
    """A paper's number, for a comparison."""
    def look(_):
        for each in papers():
            if (each["paper"], each["place"], each["row"], each["quantity"], each["machine"]) == (paper, place, row, quantity, machine):
                return figure(float(each["value"]) * factor)
        raise SystemExit(f"docs/papers.py: papers.csv has no {quantity} of {row} in {place} of paper {paper}")
    return look


def sign(left, right):
    """Two figures within 1 % are equal."""
    return "=" if abs(left - right) <= 0.01 * max(left, right) else "<" if left < right else ">"


fused = in_us(launch("traditional", "fused overhead"))
fused_wide, total_wide = (in_us(launch("traditional", column, shape="1x1024")) for column in ("fused overhead", "null kernel, total"))  # as in table I
fused_v100 = then("000", "table I", "traditional", "fused overhead", factor=1e-3)
total_v100 = then("000", "table I", "traditional", "null kernel total", factor=1e-3)
apart = shown("{gpu}x1/levels.json.xz", "levels", "cycles", probe="syncwarp_diverged")


def grid_with(blocks):
    return of_map("grid:cooperative-groups", 1, min, lambda b, t: b == blocks)


def grid_sync(gpu):
    """Of one block on each SM; where there is no map, of 32 threads."""
    try:
        return grid_with(1)(gpu)
    except absent:
        return barrier("grid:cooperative-groups", 1, "1x32")(gpu)


# (what, unit, left and right of then, left and right of now): which of the two is the longer or the larger one.
PAIRS = [
    ("`grid.sync` of one block on each SM, beside what one more launch adds to long kernels", "us", then("001", "table 8", "griddim 1", "least"), fused_v100, grid_sync, fused),
    ("the same of 4 blocks on each SM", "us", then("001", "table 8", "griddim 4", "least"), fused_v100, grid_with(4), fused),
    ("the same of 8 blocks on each SM", "us", then("001", "table 8", "griddim 8", "least"), fused_v100, grid_with(8), fused),
    ("what one more launch adds to long kernels: V100, beside today's", "us", fused_v100, fused_v100, fused_wide, fused_v100),
    ("a null kernel from launch to end: V100, beside today's", "us", total_v100, total_v100, total_wide, total_v100),
    ("a warp's barrier (001: a tile's), beside a block barrier of one warp; lanes together", "cycles", then("001", "table 4", "TILE *", "latency"), then("001", "table 5", "32", "latency"),
     levels("table-ii", 0, type="Tile (*)"), block_sync[32][0]),
    ("the same by 000's figures", "cycles", then("000", "table II", "Tile (*)", "latency"), then("000", "table II", "Block (warp)", "latency"), levels("table-ii", 0, type="Tile (*)"), block_sync[32][0]),
    ("001's again, of lanes that come from two branches", "cycles", then("001", "table 4", "TILE *", "latency"), then("001", "table 5", "32", "latency"), apart, block_sync[32][0]),
    ("NVIDIA's multi-grid barrier over the CPU's (OpenMP), at most, up to four blocks on each SM, beside 1", "times", then("000", "text", "multi-grid barrier over CPU-side barrier", "at most"), lambda gpu: figure(1),
     NOW["000", "text"]["multi-grid barrier over CPU-side barrier", "at most"][0], lambda gpu: figure(1)),
    ("launching on 2 GPUs by one call, beside a multi-grid barrier", "us", then("004", "figure 4 right", "2 GPUs", "null kernel additional"), then("001", "table 9", "block/sm <= 4 and warp/sm <= 16", "least"),
     in_us(launch("multi-device", "null kernel, additional", 2)), barrier("multigrid:vendor", 2, "1x32")),
    ("a CPU-side barrier (000: about a null kernel's total), beside launching on 4 GPUs by one call", "us", total_v100, then("004", "figure 4 right", "4 GPUs", "null kernel additional"),
     barrier("openmp:runtime", 4, "1x32"), in_us(launch("multi-device", "null kernel, additional", 4))),
    ("sums: two kernels, beside one with `grid.sync`, by the same loop", "GB/s", then("000", "table VI", "implicit", "bandwidth"), then("000", "table VI", "grid sync", "bandwidth"), rate("implicit"), rate("grid-sync")),
]


def turned():
    rows = []
    for what, unit, *looks in PAIRS:
        before = [look("") for look in looks[:2]]
        was = sign(before[0].number, before[1].number)
        cells, signs = [], []
        for stem in GPUS.values():
            try:
                left, right = (look(stem) for look in looks[2:])
            except absent:
                cells.append("-")
                continue
            signs.append(sign(left.number, right.number))
            left, right = (each.words.split(" (")[0] for each in (left, right))
            cells.append(f"{left} {signs[-1]} {right}")
        said = {"<": "shorter" if unit != "times" else "below", ">": "longer" if unit != "times" else "above", "=": "equal"}
        verdict = (f"{ {'<': 'fell', '>': 'rose', '=': 'the same'}[signs[-1]]}" if was == "=" else
                   "still so" if signs[-1] == was else "no difference any more" if signs[-1] == "=" else "**turned round**")
        rows.append([what, unit, f"{before[0].words} {was} {before[1].words}" if was != "=" else before[0].words, *cells, verdict])
    return markdown(["what, beside what", "unit", "V100", *GPUS, ""], rows)


def semaphores(name, what):
    return shown("{gpu}x1/pipeline-synthetic.json.xz", "pipeline-semaphores", what, semaphore=name)


def blocked(level, which):
    """What became of the others where some ended before, as the study says it."""
    def look(gpu):
        text = cell_text("{gpu}x2/blocking.json.xz", "paper", "here", level=level, barrier=which)(gpu)
        return figure(1.0 if text == "hung" else 0.0, text)
    return look


def cell_text(pattern, name, column, **where):
    def look(gpu):
        def in_file(file):
            for _, titles, rows in tables("mgsync", "show", file, "--tables", name):
                for row in rows:
                    if all(row[column_of(titles, key)] == value for key, value in where.items()):
                        return row[column_of(titles, column)]
            return None
        return first_of(pattern, gpu, in_file)
    return look


def holds(which):
    def look(gpu):
        text = cell_text("{gpu}x2/blocking.json.xz", "holds", "verdict", level="lane", barrier=which)(gpu)
        return figure(1.0 if text == "holds" else 0.0, text)
    return look


def of_grid(blocks, threads):
    return lambda gpu: cells_of_map(gpu, "grid:cooperative-groups", 1)[blocks, threads]


def of_grids(blocks, threads):
    return lambda gpu: cells_of_map(gpu, "multigrid:vendor", 2)[blocks, threads]


recommended = of_map("multigrid:vendor", 2, max, lambda b, t: b < 8 and warps(b, t) < 32)
fastest, slowest = (of_map("multigrid:vendor", 2, which, lambda b, t: True) for which in (min, max))


def beyond_reading(way):
    """us that a sum of 1 GiB on each of 2 GPUs takes longer than reading it."""
    return shown("{gpu}x4/reduction.json.xz", "barrier-costs-2", way, type="fp64", memory="cold", size="1 GiB")


BLOCK = ("{a} cycles of 1 warp, {b} of 8, {c} of 32: a line over warps", {"a": block_sync[32][0], "b": block_sync[256][0], "c": block_sync[1024][0]}, lambda a, b, c: a < b < c, "mgsync study levels --level block")
GRID = ("1 to 32 blocks on each SM, of 32 threads: {a} to {b} us; 32 to 1024 threads, in one block: {a} to {c}, in two: {d} to {e}",
        {"a": of_grid(1, 32), "b": of_grid(32, 32), "c": of_grid(1, 1024), "d": of_grid(2, 32), "e": of_grid(2, 1024)}, lambda a, b, c, d, e: b / a > 3 and c / a < 1.2 and e / d < 1.2, "jobs/measure-maps.sh")
GRIDS = ("2 GPUs, NVIDIA's: 1 to 32 blocks on each SM, of 32 threads: {a} to {b} us; 32 to 1024 threads, in one block: {a} to {c}, in two: {d} to {e}",
         {"a": of_grids(1, 32), "b": of_grids(32, 32), "c": of_grids(1, 1024), "d": of_grids(2, 32), "e": of_grids(2, 1024)}, lambda a, b, c, d, e: b > 1.1 * a and c > 1.1 * a, "jobs/measure-maps.sh")
NO_BARRIER = ("{a}, as P100 and V100 did", {"a": blocked("grid", "grid-sync (branch)")}, lambda a: a == 1, "mgsync study blocking --question absent --gpu-is-mine yes")
NO_BARRIERS = ("blocks: {a}; GPUs: {b}", {"a": blocked("multigrid-blocks", "vendor (branch)"), "b": blocked("multigrid-gpus", "vendor (branch)")}, lambda a, b: a == b == 1, "mgsync study blocking --question absent --gpu-is-mine yes")
IMPLICIT = ("one more launch {a} us, `grid.sync` {b} at one block on each SM, {c} at 32 blocks; 2 GPUs: OpenMP's barrier {d}, NVIDIA's multi-grid {e}",
            {"a": fused, "b": grid_sync, "c": grid_with(32), "d": barrier("openmp:runtime", 2, "1x32"), "e": barrier("multigrid:vendor", 2, "1x32")}, lambda a, b, c, d, e: a < b and d < e, "mgsync --backend grid,multigrid,openmp,kernel-boundary")

# {name: [(what the paper says, what is so now, its figures, whether it still holds, the command)]}
FINDINGS = {
    "000 table VIII": [
        ("Warp: does not work on Pascal", "lanes in branches of their own: a tile's barrier {a}, a shuffle {b}, `__syncwarp` {c}", {"a": holds("tile"), "b": holds("shuffle"), "c": holds("syncwarp")}, None, "mgsync study blocking --question holds --level lane --gpu-is-mine yes"),
        ("Warp: shuffle performs better in real code", "a warp's sum by shuffles {a} cycles, with barriers of a tile {b}, though the shuffles' first load is in it", {"a": model("table-v", "here", way="tile-shuffle"), "b": model("table-v", "here", way="tile")}, lambda a, b: a < b, "mgsync study model"),
        ("Block: the number of active warps per SM affects performance", *BLOCK),
        ("Grid: the number of blocks per SM mainly affects performance", *GRID),
        ("Grid: acceptable with few blocks on each SM (the text: two)", "{b} us with 2, {a} with 1, {c} with 8", {"a": of_grid(1, 32), "b": of_grid(2, 32), "c": of_grid(8, 32)}, lambda a, b, c: b < 1.2 * a, "jobs/measure-maps.sh"),
        ("Grid: only part of the blocks calling it would deadlock", *NO_BARRIER),
        ("Multi-grid: both blocks and active warps per SM affect performance", *GRIDS),
        ("Multi-grid: below 8 blocks and 32 warps on each SM acceptable (001: at most twice the fastest)", "{a} us at most there, {b} the fastest shape, {c} the slowest", {"a": recommended, "b": fastest, "c": slowest}, lambda a, b, c: a <= 2 * b, "jobs/measure-maps.sh"),
        ("Multi-grid: only part of the grids calling it would deadlock", *NO_BARRIERS),
        ("Implicit and CPU-side: generally slightly better than explicit barriers", *IMPLICIT),
        ("CPU-side: the issue is programmability", "no figure; the library makes the barrier a call in the kernel ([library](library.md))", {}, None, ""),
    ],
    "000 section X": [
        ("Block synchronization: related to the number of warps", *BLOCK),
        ("Grid synchronization: mainly affected by the number of blocks", *GRID),
        ("Multi-grid synchronization: depends on the network between the GPUs, active blocks and warps", "behind NVSwitch, at 1x32: {a} us on 1 GPU, {b} on 2, {c} on 4",
         {"a": barrier("multigrid:vendor", 1, "1x32"), "b": barrier("multigrid:vendor", 2, "1x32"), "c": barrier("multigrid:vendor", 4, "1x32")}, lambda a, b, c: b > 1.1 * a, "mgsync --backend multigrid:vendor"),
        ("CPU-side implicit barriers generally perform better than grid and multi-grid synchronization", *IMPLICIT),
        ("If the program is large enough, the difference is not so severe", "sums of 4 GiB by the same loop: two kernels {a} GB/s, one with `grid.sync` {b}", {"a": rate("implicit"), "b": rate("grid-sync")}, lambda a, b: abs(a / b - 1) < 0.02, "mgsync study reduction"),
        ("A model foretells from where on fewer threads pay", "1 thread or a warp: foretold {a} B by the paper's form, measured {b}, by the refined form {c}", {"a": NOW["000", "table IV"]["1 -> 32", "switch point"][0], "c": model("table-iv", "refined", loop="as-compiled", between="1 thread -> 1 warp"), "b": model("table-iv", "for good", loop="as-compiled", between="1 thread -> 1 warp")},
         lambda a, b, c: 1 / 1.3 <= a / b <= 1.3, "mgsync study model"),
        ("Multi-GPU programming by multi-grid barriers without much degradation", "sums of 1 GiB on each of 2 GPUs, beyond reading: {a} us with a barrier in the kernel, {b} with one on the host; NVIDIA's, which reads by another loop: to be measured anew",
         {"a": beyond_reading("single-kernel"), "b": beyond_reading("host-barrier")}, lambda a, b: a < b, "mgsync study reduction --members 2"),
        ("With more multi-grid barriers in a kernel the launch becomes insignificant", "2 GPUs: a launch by one call {a} us from launch to end, a barrier {b}", {"a": in_us(launch("multi-device", "null kernel, total", 2)), "b": barrier("multigrid:vendor", 2, "1x32")}, lambda a, b: a > b, "mgsync study launch"),
    ],
    "001 table 10": [("Block: controlling warps per SM controls performance", *BLOCK), ("Grid: controlling blocks per SM controls performance", *GRID), ("Multi-grid: both influence performance", *GRIDS)],
    "001 section 4.4": [
        ("1024 threads always mean a large degradation", "a block's barrier {a} cycles, of 32 threads {b}; `grid.sync` {c} us, of 32 threads {d}", {"a": block_sync[1024][0], "b": block_sync[32][0], "c": of_grid(1, 1024), "d": of_grid(1, 32)}, lambda a, b, c, d: a > 2 * b and c > 1.5 * d, "mgsync study levels"),
        ("Block synchronization seems faster than a warp's on V100", "a block of one warp {a} cycles; lanes together {b}, lanes apart {c}", {"a": block_sync[32][0], "b": levels("table-ii", 0, type="Tile (*)"), "c": apart}, lambda a, b, c: a < b, "mgsync study levels"),
        ("Coalesced groups seem not to work on P100", "a group made inside a branch holds its own lanes alone: of 32 branches it {a}", {"a": holds("coalesced")}, None, "mgsync study blocking --question holds --gpu-is-mine yes"),
    ],
    "002 text": [
        ("As compiled, the region times a load from global memory too", "as compiled {a} cycles, corrected {b}", {"a": region("as compiled"), "b": region("corrected")}, lambda a, b: a > 2 * b, "mgsync study timeline --what region"),
        ("Shared memory is roughly 22 to 23 cycles", "{a} cycles", {"a": region("load alone")}, lambda a: 22 <= a <= 23, "mgsync study timeline --what region"),
    ],
    "003 text": [
        ("Asking a semaphore costs a constant", "between two stages, in cycles: `cuda::pipeline` {b}, mbarrier {c}, named barrier {d}, and of `__syncthreads` it does not show; the hand-over {e} to {f}",
         {"b": semaphores("cuda-pipeline", "query"), "c": semaphores("mbarrier", "query"), "d": semaphores("named-barrier", "query"),
          "e": semaphores("mbarrier", "handover"), "f": semaphores("named-barrier", "handover")}, lambda b, c, d, e, f: max(b, c, d) < 1.2 * min(b, c, d), "mgsync study pipeline --kernel synthetic"),
        ("The model is off by 4.5 % in the mean, 21.5 % at worst", "mma {a} and {b}, wgmma {c} and {d}, on sizes that it never saw, less the launch",
         {"a": errors("less launch, mean"), "b": errors(("largest", 1)), "c": shown("{gpu}x1/pipeline-wgmma.json.xz", "pipeline-errors", "less launch, mean", kernel="wgmma", sizes="sizes to 1024"),
          "d": shown("{gpu}x1/pipeline-wgmma.json.xz", "pipeline-errors", ("largest", 1), kernel="wgmma", sizes="sizes to 1024")}, lambda a, b, c, d: max(a, c) <= 4.5 and max(b, d) <= 21.5, "mgsync study pipeline"),
    ],
    "004 section 7": [
        ("Small kernels: the launch call on the CPU is the main cost", "a null kernel adds {a} ns, its call takes {b}", {"a": launch("traditional", "null kernel, additional"), "b": launch("traditional", "call")}, lambda a, b: abs(a / b - 1) < 0.05, "mgsync study launch"),
        ("Large kernels: the overhead on the GPU is", "what one more launch adds to long kernels: {a} ns", {"a": launch("traditional", "fused overhead")}, lambda a: a > 0, "mgsync study launch"),
        ("A single kernel: other overhead, larger than both", "{a} ns, beside {b} and {c}", {"a": launch("traditional", "other"), "b": launch("traditional", "call"), "c": launch("traditional", "fused overhead")}, lambda a, b, c: a > max(b, c), "mgsync study launch"),
        ("Multi-device > cooperative > traditional", "a null kernel adds {a}, {b} and {c} ns on one H200, {d}, {e} and {f} on one of another machine: it is the host's time",
         {name: shown(f"{{gpu}}x{gpus}/launch.json.xz", "launch-overhead", "null kernel, additional", members="1", shape="1x32", launch=kind)
          for name, gpus, kind in zip("abcdef", (1, 1, 1, 4, 4, 4), 2 * ("multi-device", "cooperative", "traditional"))},
         lambda a, b, c, d, e, f: a > b > c and d > e > f, "mgsync study launch"),
    ],
}


def findings(name):
    rows = []
    for says, template, looks, so, command in FINDINGS[name]:
        try:
            of = {key: look("h200") for key, look in looks.items()}
            text = template.format(**{key: re.sub(r" \([\d. -]+\)$", "", each.words) for key, each in of.items()})
            verdict = "see" if so is None else "yes" if so(**{key: each.number for key, each in of.items()}) else "**no**"
        except absent as why:
            text, verdict = f"no figure: {why}", "-"
        rows.append([says, verdict, text, f"`{command}`" if command else "-"])
    return markdown(["what the paper says", "still so", "on H200s", "by"], rows)


TABLES = {"table": table, "bound": bound, "sums": sums, "optima": optima, "turned": turned, "findings": findings}
