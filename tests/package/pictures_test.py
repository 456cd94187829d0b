#!/usr/bin/env python3
"""Every picture that mgsync draws of the committed results and machines: words do not lie on one another or beyond the edge,
axes have units, and a name has one colour in all pictures of a page.

Usage: pictures_test.py MGSYNC SOURCES
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
SIZE = {"mg-text": 12, "mg-title": 15, "mg-soft": 11, "mg-on-dark": 11, "mg-on-light": 11, "mg-inside": 11}
# Axes that count, and quotients: they have no unit.
COUNTS = {"GPUs", "members", "blocks per SM", "products", "launch", "warps per SM", "predicted / measured", "units of waiting n",
          "barriers of warps per cycle and SM", "ways", "warps", "barrier", "threads per block"}
COLOUR = re.compile(r"\bmg-[a-z](\d)\b")


def boxes(picture):
    """(words, left, top, right, bottom) of its texts, with a letter of this font half as wide as it is high."""
    for text in picture.iter(SVG + "text"):
        size, words = float(text.get("font-size") or SIZE[text.get("class").split()[0]]), text.text or ""
        bold = text.get("class") == "mg-title" or text.get("font-weight") == "bold"
        width, x, y = len(words) * size * (.55 if bold else .5), float(text.get("x")), float(text.get("y"))
        turned = re.match(r"rotate\((\S+)", text.get("transform") or "")
        if turned and turned[1] == "-90":
            yield words, x - .8 * size, y - width / 2, x + .2 * size, y + width / 2
        elif not turned:
            left = x - {"middle": width / 2, "end": width}.get(text.get("text-anchor"), 0)
            yield words, left, y - .75 * size, left + width, y + .2 * size


def faults(svg):
    picture = ET.fromstring(svg)
    _, _, width, height = map(float, picture.get("viewBox").split())
    seen = []
    for box in boxes(picture):
        words, left, top, right, bottom = box
        if left < 0 or top < 0 or right > width or bottom > height:
            yield f"'{words}' is beyond the edge"
        yield from (f"'{words}' lies on '{other[0]}'" for other in seen
                    if left < other[3] and other[1] < right and top < other[4] and other[2] < bottom)
        seen.append(box)
    for text in picture.iter(SVG + "text"):
        if text.get("class") == "mg-text" and text.get("text-anchor") == "middle" and text.text not in COUNTS and "(" not in text.text:
            yield f"the axis '{text.text}' has no unit"


def colours_of(pictures):
    """What has several colours in charts with lines; the parts of a picture that belong to one name are a group."""
    found = collections.defaultdict(set)
    for picture in (one for one in pictures if "mg-line" in one):
        for group in ET.fromstring(picture).iter(SVG + "g"):
            for part in group.iter() if group.get("data-s") else ():
                found[group.get("data-s")].update(COLOUR.findall(part.get("class") or ""))
    return [f"{name} has the colours {', '.join(sorted(colours))}" for name, colours in found.items() if len(colours) > 1]


def self_test():
    text = '<text x="{}" y="20" class="mg-soft">some words</text>'
    svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 40">{}</svg>'
    assert not list(faults(svg.format(text.format(5) + text.format(65))))
    assert any("lies on" in f for f in faults(svg.format(text.format(5) + text.format(50))))
    assert any("beyond" in f for f in faults(svg.format(text.format(180))))
    assert any("no unit" in f for f in faults(svg.format('<text x="50" y="20" class="mg-text" text-anchor="middle">time</text>')))
    mark = svg.format('<g data-s="a"><path class="mg-line mg-l{}"/></g>')
    assert colours_of([mark.format(1), mark.format(2)]) and not colours_of([mark.format(1), mark.format(1)])


def main():
    self_test()
    mgsync, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    wrong, count = [], 0
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.html"
        for file in sorted((source / "docs/results").glob("*/*.json.xz")):
            drawn = subprocess.run([mgsync, "report", file, "--html", page], capture_output=True, text=True, check=False)
            if drawn.returncode != 0:  # a file of another kind
                continue
            text = page.read_text()
            pictures = re.findall(r"<svg xmlns=.*?</svg>", text, re.S)
            wrong += [f"{file.name}: {fault}" for fault in colours_of(pictures)]
            for svg in pictures:
                count += 1
                wrong += [f"{file.name}: {ET.fromstring(svg).get('aria-label')}: {fault}" for fault in faults(svg)]
    for file in sorted((source / "tests/machines").glob("*.machine")):
        svg = subprocess.run([mgsync, "topology", "--topology", file, "--format", "svg"], capture_output=True, text=True, check=True).stdout
        count += 1
        wrong += [f"{file.name}: {fault}" for fault in faults(svg)]
    assert count > 200, count
    if wrong:
        sys.exit("\n".join(["FAILED:", *sorted(set(wrong))]))
    print(f"{count} pictures: no words collide, every axis has a unit, every name one colour in a page")


if __name__ == "__main__":
    main()
