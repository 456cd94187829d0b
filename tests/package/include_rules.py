#!/usr/bin/env python3
"""Includes go one way: src/app -> src/report, src/studies -> src/harness -> src/results -> topology -> src/base.

src/probes is what several studies are made of: the frame, the launch and the code of device-clock probes; like models
it knows src/base alone. The reader of machine code (src/probes/machine_code) includes nothing but the standard library,
so that src/audit and tests of the library may use it by itself. In src/results, comparison -> files -> frame -> values. The harness knows no barrier. Studies know barriers by
barriers/backend.hpp and by what options say of them (barriers/words.hpp); backends and studies include no other backend
or study, only barriers/parts, topology, base and their vendor.

Usage: include_rules.py ROOT. Prints every include that goes another way, and exits with 1 when there is one.
"""
import pathlib
import re
import sys

BASE = ("src/base/",)
VALUES = BASE + ("topology/",)
PARTS = VALUES + ("barriers/backend.hpp", "barriers/load.hpp", "barriers/parts/")
MEASURING = VALUES + ("src/results/", "src/harness/")
BARRIERS = ("barriers/backend.hpp", "barriers/load.hpp", "barriers/words.hpp")

# Folder, and what its files may include besides their own folder. The first that fits counts.
RULES = [
    ("src/base/", ()),
    ("topology/", BASE),
    ("barriers/parts/algorithm/", ()),
    ("barriers/parts/recorder/", BASE + ("barriers/parts/algorithm/integers.hpp",)),
    ("barriers/parts/symmetric_memory/", VALUES + ("barriers/parts/algorithm/",)),
    ("barriers/parts/gpu_team/", VALUES + ("barriers/backend.hpp", "barriers/load.hpp", "barriers/parts/algorithm/", "barriers/parts/symmetric_memory/")),
    ("barriers/parts/round_loop/", PARTS),
    ("barriers/backend.hpp", ("barriers/load.hpp", "topology/", "src/base/awake_clock.hpp", "src/results/values/facts.hpp")),
    ("barriers/load.hpp", ()),
    ("barriers/words.", VALUES + BARRIERS),
    ("barriers/backend_words.", VALUES + BARRIERS + ("barriers/user/",)),
    ("barriers/library/include/mgsync/check.", PARTS + ("barriers/library/include/mgsync/check.hpp",)),
    ("barriers/library/", BASE + ("barriers/parts/algorithm/", "barriers/parts/recorder/", "barriers/parts/symmetric_memory/")),
    ("barriers/multigrid/", PARTS + ("barriers/library/",)),
    ("barriers/", PARTS),
    ("src/results/values/", VALUES),
    ("src/results/frame/", VALUES + ("src/results/values/",)),
    ("src/results/files/", VALUES + ("src/results/values/", "src/results/frame/")),
    ("src/results/comparison/", VALUES + ("src/results/",)),
    ("src/models/", BASE),
    ("src/probes/machine_code/", ()),
    ("src/audit/", BASE + ("src/models/", "src/probes/machine_code/", "src/probes/fat_binary/")),
    ("src/harness/", MEASURING),
    ("src/probes/", BASE),
    ("src/studies/", MEASURING + BARRIERS + ("barriers/parts/", "barriers/library/include/mgsync/timeline.cuh", "src/models/", "src/probes/")),
    ("src/report/", VALUES + ("src/results/",)),
    ("src/app/", MEASURING + BARRIERS + ("src/studies/", "src/report/", "src/audit/", "barriers/user/tried_file.hpp", "barriers/parts/recorder/late_blocks.hpp", "mgsync/version.hpp", "mgsync/commit.hpp", "mgsync/source_digest.hpp")),
]
VENDORS = re.compile(r"^(mpi|omp|hwloc|nvml|nccl|nccl_device|cuda|cuda_runtime|cuda_runtime_api|cooperative_groups)\b.*")
MAY_CALL_VENDORS = ("src/base/", "topology/sources/", "barriers/", "src/probes/", "src/studies/")
NO_VENDORS = ("barriers/backend.hpp", "barriers/load.hpp")
INCLUDE = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)')


def home(path):
    """The folder that a file may include freely: that of its rule, and of backends and studies its own alone."""
    parts = path.split("/")
    if path.startswith(("barriers/parts/", "src/studies/")):
        return "/".join(parts[:3]) + "/"
    if path.startswith("barriers/") and len(parts) > 2:
        return "/".join(parts[:2]) + "/"
    return next((folder for folder, _ in RULES if path.startswith(folder)), "")


def wrong_includes(path, text):
    allowed = next((may for folder, may in RULES if path.startswith(folder)), None)
    for number, line in enumerate(text.splitlines(), 1):
        found = INCLUDE.match(line)
        if not found:
            continue
        own, other = found.groups()
        if own and "/" in own:
            if allowed is not None and not own.startswith(tuple(allowed) + (home(path),)):
                yield f"{path}:{number}: includes {own}; it may include {home(path)} {' '.join(allowed)}"
        elif other and VENDORS.match(other):
            if path.startswith(NO_VENDORS) or not path.startswith(MAY_CALL_VENDORS):
                yield f"{path}:{number}: includes the vendor's <{other}>; only {' '.join(MAY_CALL_VENDORS)} may"
            elif path.startswith("barriers/parts/algorithm/") and other != "cuda/atomic":
                yield f"{path}:{number}: an algorithm includes <{other}>; it may use the standard library"


def self_test():
    """The rules must be able to fail."""
    bad = {
        "src/harness/x.cpp": '#include "src/app/options.hpp"\n',
        "src/harness/b.cpp": '#include "barriers/backend.hpp"\n',
        "src/app/y.cpp": "#include <mpi.h>\n",
        "barriers/nccl/z.cpp": '#include "barriers/mpi/mpi.hpp"\n',
        "topology/t.cpp": '#include "barriers/backend.hpp"\n',
        "src/results/values/v.cpp": '#include "src/results/frame/table.hpp"\n',
        "src/results/files/r.cpp": '#include "src/harness/runner.hpp"\n',
        "src/probes/machine_code/m.cpp": '#include "src/harness/runner.hpp"\n',
        "src/probes/p.cpp": '#include "src/studies/levels/levels.hpp"\n',
        "src/probes/h.cpp": '#include "src/harness/subject.hpp"\n',
        "src/models/m.cpp": '#include "src/results/values/statistics.hpp"\n',
        "src/models/pipeline/h.cpp": '#include "src/harness/study.hpp"\n',
        "src/models/pipeline/s.cpp": '#include "src/studies/pipeline/pipeline.hpp"\n',
        "src/audit/a.cpp": '#include "src/harness/runner.hpp"\n',
        "src/studies/launch/l.cpp": '#include "src/studies/levels/levels.hpp"\n',
        "barriers/grid/g.cu": '#include "barriers/library/choice.hpp"\n',
    }
    assert all(list(wrong_includes(path, text)) for path, text in bad.items())
    assert not list(wrong_includes("barriers/nccl/z.cpp", '#include "barriers/nccl/z.hpp"\n#include <nccl.h>\n'))


def main():
    self_test()
    root = pathlib.Path(sys.argv[1])
    files = [f for top in ("src", "topology", "barriers") for f in sorted((root / top).rglob("*"))
             if f.suffix in (".hpp", ".cpp", ".cu", ".cuh", ".inc")]
    errors = [e for f in files for e in wrong_includes(f.relative_to(root).as_posix(), f.read_text())]
    print("\n".join(errors) if errors else f"{len(files)} files, every include goes the right way")
    return 1 if errors or not files else 0


if __name__ == "__main__":
    sys.exit(main())
