#!/usr/bin/env python3
"""The page of `mgsync report` in a real browser: what its content policy lets through, what it loads, how wide it is.

Usage: report_page.py MGSYNC SOURCES. Exits with 77 where there is no chromium (Debian: chromium-headless-shell).
With MGSYNC_SCREENSHOTS=FOLDER the pictures are left there.
"""
import html
import json
import lzma
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

import browser

# An event of the browser's network log: a line of its own. What the browser asks for itself (updates, the time, a dictionary) has
# no origin; what a page asks for has one, "null" where the page is a file.
INITIATOR = re.compile(r'"initiator":"([^"]*)"')
LOADED = re.compile(r'"url":"([a-z]+:[^"]*)"')


def asked_by_page(log):
    events = [(INITIATOR.search(line), LOADED.findall(line)) for line in log.splitlines()]
    urls = {url for who, asked in events if who and who[1] != "not an origin" for url in asked}
    return {url for url in urls if not url.startswith(("file:", "data:", "chrome", "about:"))}


class Browser:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder

    def run(self, page, *options):
        log = self.folder / "net.json"
        log.unlink(missing_ok=True)
        words = [self.program, "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars",
                 f"--user-data-dir={self.folder / 'profile'}", f"--log-net-log={log}", "--enable-logging=stderr", *options]
        if not self.program.endswith("headless-shell"):
            words.insert(1, "--headless")
        done = subprocess.run([*words, page.as_uri()], capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        console = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
        return done.stdout, console, asked_by_page(log.read_text(errors="replace"))

    def picture(self, page, name, width, height, *options):
        target = self.folder / f"{name}.png"
        self.run(page, f"--window-size={width},{height}", f"--screenshot={target}", *options)
        return target


def first_pixel(png):
    data = png.read_bytes()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    return tuple(zlib.decompressobj().decompress(packed, 5)[1:4])


def hostile_results(sources, folder):
    """A committed file in which names want to be markup."""
    document = json.loads(lzma.open(sources / "docs/results/h200x2/library.json.xz", "rt").read())
    document["machine"]["host"] = "<script>document.title='taken'</script>"
    for one in document["results"][:3]:
        one["reason"] = "\"><img src=http://127.0.0.1:9/a onerror=document.title='taken'>"
        one["status"] = "waived"
        one["metrics"], one["samples"] = {}, {"batch": []}
    path = folder / "hostile.json"
    path.write_text(json.dumps(document))
    return path


def report(mgsync, folder, name, *files):
    page = folder / name
    done = subprocess.run([mgsync, "report", *map(str, files), "--html", str(page)], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"mgsync report: {done.stderr}")
    return page


def measured_width(browser, page, width, addition=""):
    """How wide the page wants to be: asked by a script, in a copy without the policy that would refuse it. In a frame, since the
    windows of a whole browser have a least width."""
    text = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text())
    copy = browser.folder / "copy.html"
    copy.write_text(f'<body><iframe id="page" style="width:{width}px;height:900px;border:0" srcdoc="{html.escape(text.replace("</body>", addition + "</body>"))}"></iframe>'
                    "<script>onload = () => document.documentElement.dataset.wide = page.contentDocument.documentElement.scrollWidth</script></body>")
    dom, _, _ = browser.run(copy, "--dump-dom", f"--window-size={width + 200},900")
    return int(re.search(r'data-wide="(\d+)"', dom).group(1))


def wrong_marks(dom, data):
    """Marks that lead to a row which does not have the number that the mark says; with how many marks lead anywhere."""
    medians = {one["row"]: [m["median"] for m in one["metrics"].values()] for one in data["results"]}
    marks = re.findall(r'<a href="#([^"]+)" tabindex="-1"><(?:circle|rect)[^>]*><title>(.*?)</title>', dom)
    wrong = []
    for row, tip in marks:
        said = [float(word) for word in re.findall(r"(?<![\w.:-])\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w:])", tip)]
        if not any(abs(s - m) <= 2e-3 * abs(m) for m in medians.get(row, []) if m for s in said):
            wrong.append(f"the mark '{tip}' is not what row {row} has: {medians.get(row)}")
    return wrong, len(marks)


def lost_links(dom):
    """Links to places that the page does not have."""
    return set(re.findall(r'href="#([^"]+)"', dom)) - set(re.findall(r' id="([^"]+)"', dom))


def ran_a_name(dom):
    return "<title>taken" in dom


def check(condition, sentence):
    if not condition:
        sys.exit(f"report_page: {sentence}")


def check_counts(mgsync, folder, measured):
    """Of points that two files have, the index and the rows count each once, and say what else is there."""
    again = folder / "again.json.xz"
    shutil.copy(measured, again)
    done = subprocess.run([mgsync, "report", str(measured), str(again), "--html", f"{folder}/counted/"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"mgsync report: {done.stderr}")
    points = sum(bool(one["metrics"]) for one in json.loads(lzma.open(measured, "rt").read())["results"])
    index = (folder / "counted/index.html").read_text()
    check(f"2 files, {points} points measured" in index, f"the index does not count {points} points")
    rows = re.findall(r"<summary>(all \d+ rows, [^<]*)", "".join(page.read_text() for page in (folder / "counted").glob("*.html")))
    check(len(rows) == 1 and f" {points} measured points, {points} earlier results of such points" in rows[0], f"the rows are {rows}, of {points} points")


def main():
    mgsync, sources = sys.argv[1], pathlib.Path(sys.argv[2])
    program = browser.found()
    if not program:
        print("report_page: skipped: no browser here (Debian: apt-get install chromium-headless-shell)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        asked = Browser(program, folder)
        results = sources / "docs/results"
        page = report(mgsync, folder, "page.html", results / "h200x4/library.json.xz", results / "h200x2/load.json.xz", results / "h200x2/launch.json.xz",
                      results / "h200x4/h200x4.machine", hostile_results(sources, folder))

        dom, console, loaded = asked.run(page, "--dump-dom")
        check('data-script="on"' in dom, "the policy did not let the page's own script run")
        check(not console, f"the console has {console}")
        check(not loaded, f"the page asked for {loaded}")
        check(not ran_a_name(dom), "a name from a file ran as a script")
        data = json.loads(re.search(r'id="mgsync-data">(.*?)</script>', dom, re.S).group(1))
        ids = set(re.findall(r'<tr id="([^"]+)"', dom))
        check({one["row"] for one in data["results"]} == ids, "the rows of the page are not those of its data")
        # Every mark that is a link leads to a row, and the row has the number that the mark says.
        wrong, marks = wrong_marks(dom, data)
        check(marks > 100, f"only {marks} marks lead to rows")
        check(not wrong, "; ".join(wrong))
        check(not lost_links(dom), f"links to nowhere: {lost_links(dom)}")

        check_counts(mgsync, folder, results / "h200x4/library.json.xz")

        light = asked.picture(page, "light", 1100, 1400, "--blink-settings=preferredColorScheme=1")
        dark = asked.picture(page, "dark", 1100, 1400, "--blink-settings=preferredColorScheme=0")
        check(first_pixel(light) == (255, 255, 255), f"the light page begins with {first_pixel(light)}")
        check(max(first_pixel(dark)) < 40, f"the dark page begins with {first_pixel(dark)}")
        for width in (380, 1100):
            check(measured_width(asked, page, width) <= width, f"the page is wider than a window of {width}")
        # Scripts add comfort only: every mark and row stands in the file, and a browser without them draws it.
        written = page.read_text()
        for what in ("mg-mark", "<tr", "<figure", "<td"):
            check(written.count(what) == dom.count(what), f"the script made {dom.count(what) - written.count(what)} of {what}")
        still = folder / "still.html"
        still.write_text(re.sub(r"<script>.*?</script>", "", written, flags=re.S))
        without = asked.picture(still, "without", 1100, 1400, "--blink-settings=preferredColorScheme=1")
        check(without.stat().st_size > light.stat().st_size / 2, "without scripts the page is empty")
        if keep := os.environ.get("MGSYNC_SCREENSHOTS"):
            narrow = asked.picture(page, "narrow", 380, 1400)
            pathlib.Path(keep).mkdir(parents=True, exist_ok=True)
            for one in (light, dark, narrow, without, page):
                shutil.copy(one, keep)

        # Twins: each check must be able to fail.
        events = '{"params":{"initiator":"%s","url":"http://127.0.0.1/%s"}}\n'
        check(asked_by_page(events % ("not an origin", "update") + events % ("null", "page") + events % ("https://example.org", "frame")) ==
              {"http://127.0.0.1/page", "http://127.0.0.1/frame"}, "the browser's own requests count, or the page's do not")
        text = page.read_text()
        other = folder / "other.html"
        for one in data["results"]:
            for metric in one["metrics"].values():
                metric["median"] *= 1.1
        check(len(wrong_marks(dom, data)[0]) > marks / 2, "numbers that differ by a tenth were not seen")
        some_row = next(iter(ids))
        check(lost_links(dom.replace(f' id="{some_row}"', "") + f'<a href="#{some_row}">') == {some_row}, "a link to nowhere was not seen")
        other.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</body>", "<script>document.title='taken'</script></body>"))
        check(ran_a_name(asked.run(other, "--dump-dom")[0]), "a name that runs as a script was not seen")
        other.write_text(re.sub(r"prefers-color-scheme:\s*dark", "prefers-color-scheme:light", text))
        check(max(first_pixel(asked.picture(other, "no-dark", 1100, 200, "--blink-settings=preferredColorScheme=0"))) > 40, "a page that is never dark was not seen")
        other.write_text(text.replace("dataset.script = 'on'", "dataset.script = 'off'"))
        dom, console, _ = asked.run(other, "--dump-dom")
        check('data-script="' not in dom and console, "a script that the policy does not name ran")
        other.write_text(re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text).replace("</body>", '<img src="http://127.0.0.1:9/x"></body>'))
        check(asked.run(other, "--dump-dom")[2], "a request was not seen")
        check(measured_width(asked, page, 380, '<div id="wide">' + "W" * 300 + "</div><script>wide.style.overflowWrap='normal'</script>") > 380, "a wide page was not seen")
    print("report_page: passed")


if __name__ == "__main__":
    main()
