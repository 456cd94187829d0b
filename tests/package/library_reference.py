#!/usr/bin/env python3
"""The reference has every public call of the library's headers, and no call that there is not. Usage: library_reference.py ROOT"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
headers = root / "barriers/library/include/mgsync"
page = (root / "docs/library-reference.md").read_text()
OF_THE_LANGUAGE = {"if", "for", "while", "return", "sizeof", "static_assert", "defined", "explicit", "operator", "decltype", "asm", "alignas", "own", "free_it"}


def public(text):
    """Without comments, private parts and function bodies' calls: what stands at the beginning of a declaration."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
    text = re.sub(r"\n private:.*?\n};", "\n};", text, flags=re.S)
    return re.sub(r"\n {4,}[^\n]*", "", text)


def declared(name):
    text = public((headers / name).read_text())
    names = set(re.findall(r"^(?:  )?(?!return\b|using\b|template\b|#)[A-Za-z_][\w:<>,&* ]*?[ *&](\w+)\([^\n]*[;{}),]\s*$", text, re.M))
    names |= set(re.findall(r"^(?:typedef )?(?:class|struct) (?:alignas\(\d+\) )?(\w+)", text, re.M))
    return {n for n in names if n not in OF_THE_LANGUAGE and not n.startswith("__")}


def missing(page, names):
    return sorted(n for n in names if not re.search(rf"\b{n}\b", page))


everything = set()
for header in ("multi_grid.cuh", "traced.cuh", "many_gpus.cuh", "multi_grid.hpp", "multi_grid_handle.hpp", "mpi_exchange.hpp", "multi_grid_nodes.hpp", "multi_grid_nodes.cuh", "node_proxy.hpp", "multi_grid.h"):
    names = declared(header)
    assert len(names) >= (1 if header in ("mpi_exchange.hpp", "traced.cuh", "many_gpus.cuh") else 3), f"{header}: only {names} found: this test reads it wrongly"
    everything |= names
assert {"sync", "barrier_arrive", "launch_each", "allocate", "part", "mpi_exchange", "mgsync_multi_grid_launch", "mgsync_launch"} <= everything, everything
lacking = missing(page.replace("launch_each", "launch"), everything)
assert "launch_each" in lacking, "a call that is left out is not noticed"
if left_out := missing(page, everything):
    sys.exit(f"docs/library-reference.md lacks {', '.join(left_out)}")
sources = "".join(p.read_text() for p in headers.iterdir()) + (root / "barriers/parts/recorder/event_recorder.hpp").read_text() + (
    root / "src/base/errors.hpp").read_text()
called = set(re.findall(r"\b(\w+)(?:<[\w, ]+>)?\(", " ".join(re.findall(r"`([^`]+)`", page)))) - {"what"}
if unknown := sorted(n for n in called if not re.search(rf"\b{n}\b", sources)):
    sys.exit(f"docs/library-reference.md has {', '.join(unknown)}, which no public header has")
print(f"{len(everything)} names, all in docs/library-reference.md")
