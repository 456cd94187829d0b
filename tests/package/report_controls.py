#!/usr/bin/env python3
"""The page of `mgsync report` as a reader has it: every control pressed, and the page looked at by facts, light, dark, on a phone
and on paper: nothing wider than the window, no letter too pale or too small, no word on another, no mark outside of its picture.

Usage: report_controls.py MGSYNC SOURCES. Exits with 77 where there is no chromium (Debian: chromium-headless-shell).
With MGSYNC_SCREENSHOTS=FOLDER the pictures are left there.
"""
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

import browser

HERE = pathlib.Path(__file__).parent
WINDOWS = {"light": (1280, "light", "screen"), "dark": (1280, "dark", "screen"), "phone": (390, "light", "screen"),
           "phone-dark": (390, "dark", "screen"), "paper": (718, "light", "print")}
TALLEST, LARGEST = 20_000, 3_000_000
# What a script finds in the page: a control by its name, what is seen.
TOOLS = """
var $one = css => document.querySelector(css), $all = css => [...document.querySelectorAll(css)];
var $seen = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== 'hidden';
var $shown = css => $all(css).filter($seen);
var $choose = (name, value) => { const s = $one(`select[aria-label="${name}"]`); s.value = value; s.dispatchEvent(new Event('change')); return s.value === value; };
var $named = words => $all('button').find(b => b.textContent === words && $seen(b));
var $charts = () => $shown('figure svg[data-scale]').filter(s => s.dataset.scale && s.querySelectorAll('circle').length > 3);
"""


def check(condition, sentence):
    if not condition:
        sys.exit(f"report_controls: {sentence}")


class Page:
    """The page in the browser, with what this test asks of it."""

    def __init__(self, driven, path):
        self.driven, self.path = driven, path

    def open(self, window="light", at=""):
        width, scheme, media = WINDOWS[window]
        self.driven.open(self.path, width, scheme=scheme, media=media, at=at)
        self.driven.ask(TOOLS)

    def ask(self, script):
        return self.driven.ask(script)

    def becomes(self, condition):
        """Whether the expression is true, or becomes so in a while: what a link leads to is opened by an event of its own."""
        until = time.monotonic() + 5
        while not (true := self.ask(condition)) and time.monotonic() < until:
            time.sleep(0.1)
        return true

    def choose(self, name, value):
        check(self.ask(f"$choose({name!r}, {value!r})"), f"'{name}' has no '{value}'")

    def press(self, element):
        self.driven.press(element)


def highlighted(page):
    """The chosen name alone is plain in figures and tables; a click on a name does the same, and takes it back."""
    name = "multigrid:library"
    page.choose("highlight", name)
    for words, lit in ((f"e.dataset.s === '{name}'", True), (f"e.dataset.s !== '{name}'", False)):
        opacities = page.ask(f"$shown('figure svg [data-s]').filter(e => {words}).map(e => +getComputedStyle(e).opacity)")
        check(opacities and all((o == 1) == lit for o in opacities), f"highlight {name}: names that are {'' if lit else 'not '}it have opacities {set(opacities)}")
    rows = page.ask("$all('main tbody tr.lit').map(r => r.textContent)")
    check(rows and all(name in row for row in rows), f"highlight {name}: {len(rows)} rows are marked, or other ones too")
    page.choose("highlight", "")
    check(page.ask("$all('.lit').length === 0 && $shown('figure svg [data-s]').every(e => getComputedStyle(e).opacity === '1')"), "highlight nothing: something still is")
    for kind in ("ranked", "members", "loads", "ladder"):
        names = page.ask(f"$shown('figure[data-figure^={kind}] .mg-name').map(e => e.closest('[data-s]').dataset.s)")
        if not names:
            continue
        last = f"$shown('figure[data-figure^={kind}] .mg-name').at(-1)"
        page.press(last)
        lit = page.ask("[...new Set($all('[data-s].lit').map(e => e.dataset.s))]")
        check(lit == [names[-1]], f"a click on {names[-1]} in {kind} highlights {lit}")
        page.press(last)
        check(page.ask("$all('[data-s].lit').length === 0"), f"a second click on {names[-1]} in {kind} takes nothing back")


# Of each chart the values that its marks tell, with where they stand: [[value, place, x], ...].
VALUES = """$charts().map(svg => [...svg.querySelectorAll('[data-s]')].filter(g => !g.querySelector('.mg-rest')).flatMap(g => [...g.querySelectorAll('circle')].map(c =>
  [parseFloat(c.textContent.slice(g.dataset.s.length + 2)), +c.getAttribute('cy'), +c.getAttribute('cx')])))"""
TICKS = "$charts().map(svg => [...svg.querySelectorAll('[data-ticks] text')].map(t => [parseFloat(t.textContent), +t.getAttribute('y') - 4]))"


def straight(pairs, slack):
    """Whether the second values are a line over the first, within this many pixels."""
    low, high = min(pairs), max(pairs)
    if high[0] - low[0] < 1e-9 * abs(high[0]):
        return True
    slope = (high[1] - low[1]) / (high[0] - low[0])
    return all(abs(low[1] + slope * (x - low[0]) - y) <= slack for x, y in pairs)


def turned(mode, points):
    """What a chart on this scale should show of these values."""
    import math
    best = {}
    for value, _, x in points:
        best[x] = min(value, best.get(x, value))
    return {"logarithmic": lambda v, x: math.log(v), "linear": lambda v, x: v, "times the best": lambda v, x: v / best[x],
            "above the best": lambda v, x: v - best[x]}[mode], best


def scaled(page):
    """Marks stand where their values are, on each scale, and the ticks tell the truth; 'as drawn' brings the drawing back."""
    import math
    drawing = "$charts().map(s => s.innerHTML).join()"
    before = page.ask(drawing)
    check(page.ask("$charts().length") > 0, "no chart has a scale")
    for mode in ("logarithmic", "linear", "times the best", "above the best"):
        page.press(f"$named({mode!r})")
        check(page.ask(f"$named({mode!r}).getAttribute('aria-pressed')") == "true", f"the button '{mode}' does not look pressed")
        charts = 0
        for points, ticks in zip(page.ask(VALUES), page.ask(TICKS)):
            if page.ask("0") or len(points) < 4 or any(v is None for v, _, _ in points):
                continue
            of, _ = turned(mode, points)
            pairs = [(of(value, x), y) for value, y, x in points]
            logarithmic = mode == "times the best" and not straight(pairs, 3)
            if logarithmic:
                pairs = [(math.log(v), y) for v, y in pairs]
            check(straight(pairs, 3), f"'{mode}': marks do not stand where their values are")
            as_log = mode == "logarithmic" or logarithmic
            marked = [(math.log(t) if as_log else t, y) for t, y in ticks]
            check(len(marked) > 1 and straight(marked + [min(pairs), max(pairs)], 4), f"'{mode}': ticks {ticks} are not where the marks are")
            charts += 1
        check(charts > 0, f"'{mode}': no chart was read")
        faults = page.ask((HERE / "report_facts.js").read_text())
        check(not faults, f"'{mode}': {faults}")
    page.press("$named('as drawn')")
    check(page.ask(drawing) == before, "'as drawn' does not bring the drawing back")


def filtered(page):
    """Only the backend's rows and marks are seen, and the figures of the shape."""
    page.choose("only the backend", "nccl-device")
    for what, css in (("marks", "figure svg [data-s*=':']"), ):
        names = set(page.ask(f"$shown({css!r}).map(e => e.dataset.s)"))
        check(names and all(n.startswith("nccl-device:") for n in names), f"only nccl-device: {what} of {names}")
    page.choose("only the backend", "")
    page.choose("shape", "4x256")
    titles = page.ask("$shown('.set > figure .wide > svg').map(s => s.getAttribute('aria-label')).filter(t => /shape \\d/.test(t))")
    check(titles and all("4x256" in t for t in titles), f"shape 4x256: the figures are {titles}")
    page.ask("$all('details').forEach(d => { d.open = true; })")
    shapes = set(page.ask("""$all('main table').flatMap(t => { const at = [...t.tHead.rows[0].cells].findIndex(c => c.textContent.trim() === 'shape');
      return at < 0 ? [] : [...t.tBodies[0].rows].filter($seen).map(r => r.cells[at].textContent.trim()); })"""))
    check(shapes == {"4x256"}, f"shape 4x256: rows of {shapes}")
    page.choose("shape", "")
    check(page.ask("$all('.off').length") == 0, "all shapes: something is still hidden")


def beside(page):
    """Two barriers wherever both were measured alike; the numbers are those of the data."""
    page.choose("compare", "multigrid:library")
    page.choose("with", "multigrid:vendor")
    rows = page.ask("$all('#tools table tbody tr').map(r => [...r.cells].map(c => c.textContent))")
    data = page.ask("data.results.filter(r => r.metrics.latency && ['multigrid:library', 'multigrid:vendor'].includes(subject(r))).map(r => [subject(r), r.metrics.latency.median])")
    known = {name: {value for n, value in data if n == name} for name, _ in data}
    check(len(rows) > 3, f"multigrid:library beside multigrid:vendor: {len(rows)} rows")
    for row in rows:
        a, b = float(row[3].split()[0]), float(row[4].split()[0])
        check(a in known["multigrid:library"] and b in known["multigrid:vendor"], f"{row}: not what was measured")
        check(abs(float(row[5]) - b / a) < 0.006, f"{row}: not {b / a:.2f} times")
        check(row[6] in ("multigrid:library", "multigrid:vendor", "no difference shown") and (row[6] != "multigrid:vendor" or b < a), f"{row}: the other one is faster")
    page.choose("with", "")
    check(page.ask("$all('#tools table').length") == 0, "compare with nothing: the table stays")


def saved(page, folder):
    """A figure as a file: a drawing with its style, and a picture that is not empty."""
    page.driven.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder), eventsEnabled=True)
    for what in ("SVG", "PNG"):
        page.driven.events = []
        page.press(f"$named('save {what}')")
        page.driven.wait_for("Browser.downloadProgress", state="completed")
        done = list(folder.glob("*." + what.lower()))
        check(len(done) == 1, f"save {what}: {[one.name for one in folder.iterdir()]}")
        content = done[0].read_bytes()
        if what == "SVG":
            root = ET.fromstring(content)
            style = "".join(one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}style"))
            check(".mg-f0" in style and len(list(root.iter("{http://www.w3.org/2000/svg}rect"))) > 5, "save SVG: no style, or no bars")
            box = [float(n) for n in root.get("viewBox").split()]
        else:
            width, height = struct.unpack(">II", content[16:24])
            check((width, height) == (2 * box[2], 2 * box[3]), f"save PNG: {width} x {height} of {box}")
            check(len(content) > 10_000, f"save PNG: only {len(content)} bytes")


def tables(page):
    """Heads sort, the search finds, a table is copied, and a mark leads to its row."""
    page.ask("$all('details').forEach(d => { d.open = true; })")
    page.ask("var rows = $one('.all-rows table'), cells = name => { const at = [...rows.tHead.rows[0].cells].findIndex(c => c.textContent.trim() === name); return [...rows.tBodies[0].rows].filter($seen).map(r => r.cells[at].textContent.trim()); }")
    head = "[...rows.tHead.rows[0].cells].find(c => c.textContent.trim() === 'median').querySelector('button')"
    for order in (1, -1):
        page.press(head)
        medians = [float(m) for m in page.ask("cells('median')") if re.fullmatch(r"[\d.e+-]+", m)]
        check(len(medians) > 10 and medians == sorted(medians, reverse=order < 0), "a press on 'median' does not sort the rows")
    page.press("$one('input[type=search]')")
    page.driven.call("Input.insertText", text="vendor 4x256")
    left = page.ask("[...rows.tBodies[0].rows].filter($seen).map(r => r.textContent)")
    check(left and all("vendor" in row and "4x256" in row for row in left), f"the search shows {len(left)} rows, or others")
    copies = "[...rows.closest('details').querySelectorAll('button')].find(b => /^copy|^copied/.test(b.textContent))"
    page.press(copies)
    check(page.ask(f"{copies}.textContent") == f"copied {len(left)} rows", f"the table was not copied: {page.ask(copies + '.textContent')}")
    page.open()
    page.press("$shown('figure svg a').find(a => a.querySelector('rect')).querySelector('rect')")
    leads = page.becomes("location.hash.length > 1 && !!$one(location.hash) && $seen($one(location.hash)) && $one(location.hash).getBoundingClientRect().top < innerHeight")
    check(leads, f"a bar leads to {page.ask('location.hash')}, which is not seen")


def sets(page):
    """Each button of a set shows its figure, and no other; the arrow keys do too."""
    for i in range(page.ask("$all('.set').length")):
        of = f"$all('.set')[{i}]"
        for k in range(page.ask(f"{of}.querySelectorAll(':scope > label').length")):
            page.press(f"{of}.querySelectorAll(':scope > label')[{k}]")
            is_shown = page.ask(f"[...{of}.querySelectorAll(':scope > figure')].map($seen)")
            check(is_shown.count(True) == 1 and is_shown[k], f"set {i}, button {k}: shown are {is_shown}")


def looked_at(page, keep):
    """Each window by facts, with each figure of each set."""
    for window in WINDOWS:
        page.open(window)
        faults = page.ask((HERE / "report_facts.js").read_text())
        several = page.ask("Math.max(1, ...$all('.set').map(s => s.querySelectorAll(':scope > input').length))")
        for k in range(1, several):
            page.ask(f"$all('.set').forEach(s => {{ const all = s.querySelectorAll(':scope > input'); all[Math.min({k}, all.length - 1)].checked = true; }})")
            for kind, where in page.ask((HERE / "report_facts.js").read_text()).items():
                faults.setdefault(kind, []).extend(where)
        if window == "paper":
            faults.pop("small", None)  # a map of many columns is made to fit the paper
            check(page.ask("$shown('nav,button,select,input,#tools').length") == 0, "controls are printed")
        check(not faults, f"{page.path.name}, {window}: { {kind: sorted(set(where))[:5] for kind, where in faults.items()} }")
        height = page.ask("document.documentElement.scrollHeight")
        check(height <= TALLEST, f"{page.path.name}, {window}: {height} pixels high")
        if keep:
            page.driven.picture(pathlib.Path(keep) / f"{page.path.stem}-{window}.png")
    check(page.path.stat().st_size <= LARGEST, f"{page.path.name} has {page.path.stat().st_size} bytes")


def wrong_page(page, folder, was, becomes, what):
    """A page that is broken on purpose must be refused: otherwise this test tests nothing."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.path.read_text())
    check(was in text, f"the twin for {what.__name__} is out of date: {was}")
    broken = folder / "broken.html"
    broken.write_text(text.replace(was, becomes))
    other = Page(page.driven, broken)
    other.open()
    try:
        what(other)
    except (SystemExit, RuntimeError):
        return
    sys.exit(f"report_controls: {what.__name__} does not notice a page with '{becomes}' in place of '{was}'")


def report(mgsync, folder, name, files):
    path = folder / name
    done = subprocess.run([mgsync, "report", *map(str, files), "--html", str(path)], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"mgsync report: {done.stderr}")
    return path


def bounded(page):
    """A page of all results of one machine is no larger and no higher than it may be; a folded section opens by its link."""
    check(page.path.stat().st_size <= LARGEST, f"{page.path.name} has {page.path.stat().st_size} bytes")
    for window in ("light", "phone"):
        page.open(window)
        height, wide = page.ask("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
        check(height <= TALLEST and wide <= WINDOWS[window][0], f"{page.path.name}, {window}: {wide} x {height} pixels")
    page.open()
    folded = page.ask("$all('section:has(> .fold)').map(s => s.id)")
    if folded:
        page.press(f"$one('nav a[href=\"#{folded[-1]}\"]')")
        check(page.becomes(f"$seen($one('#{folded[-1]} figure, #{folded[-1]} table, #{folded[-1]} p'))"), f"the link to the folded section {folded[-1]} does not open it")
    return len(folded)


def twins(page, folder):
    wrong_page(page, folder, "[data-lit] [data-s]:not(.lit){opacity:.13}", "", highlighted)
    wrong_page(page, folder, "if (name) lit(name.dataset.s);", "", highlighted)
    wrong_page(page, folder, "mode === 'above' ? Math.abs(v - nearest(x)) : v", "v", scaled)
    wrong_page(page, folder, "d.ticks.innerHTML = d.inside;", "", scaled)
    wrong_page(page, folder, "shown.backend = n; filter();", "", filtered)
    wrong_page(page, folder, "label.previousElementSibling.checked = true", "{}", filtered)
    wrong_page(page, folder, "(y.median / x.median)", "(x.median / y.median)", beside)
    wrong_page(page, folder, "copy.prepend(style);", "", lambda other: saved(other, fresh(folder)))
    wrong_page(page, folder, "up ? order(a.key, b.key) : order(b.key, a.key)", "0", tables)
    wrong_page(page, folder, "words.every(", "words.some(", tables)
    wrong_page(page, folder, "{display:block}\n", "{}\n", sets)
    for was, becomes in (("--soft:#57606a", "--soft:#97a06a"), ("overflow-x:auto;max-width:100%", ""), (".mg-text{font-size:12px}", ".mg-text{font-size:19px}")):
        wrong_page(page, folder, was, becomes, lambda other: looked_at(other, ""))


def fresh(folder):
    return pathlib.Path(tempfile.mkdtemp(dir=folder))


def main():
    mgsync, sources = sys.argv[1], pathlib.Path(sys.argv[2])
    program = browser.found()
    if not program:
        print("report_controls: skipped: no browser here (Debian: apt-get install chromium-headless-shell)")
        sys.exit(77)
    keep = os.environ.get("MGSYNC_SCREENSHOTS", "")
    with tempfile.TemporaryDirectory() as name, browser.Browser(program, name) as driven:
        folder, results = pathlib.Path(name), sources / "docs/results"
        files = [results / "h200x4" / one for one in ("library.json.xz", "all-backends.json.xz", "load.json.xz", "timeline-multigrid.json.xz")]
        page = Page(driven, report(mgsync, folder, "page.html", [*files, results / "h200x4/h200x4.machine"]))
        looked_at(page, keep)
        for pressed in (highlighted, scaled, filtered, beside, lambda of: saved(of, fresh(folder)), tables, sets):
            page.open()
            pressed(page)
        folded = [bounded(Page(driven, report(mgsync, folder, f"all-{len(kind)}.html", sorted(results.glob(f"{kind}/*.json.xz"))))) for kind in ("h200x1", "*")]
        check(any(folded), "no page has a folded section")
        check(not driven.complaints(), f"the page's script threw {driven.complaints()}")
        twins(page, folder)
    print("report_controls: passed")


if __name__ == "__main__":
    main()
