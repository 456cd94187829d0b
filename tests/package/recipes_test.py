#!/usr/bin/env python3
"""Follows docs/extending.md literally in a copy of the tree: writes its files, adds its lines, compiles what is new, links
it with the libraries of the build at hand, and measures with the program that comes of it.

Usage: recipes_test.py SOURCE_DIR BUILD_DIR CMAKE [NVCC]
With an nvcc the GPU form is compiled too, for one architecture.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(?:^`(?P<file>[\w./-]+)`\n\n|in `(?P<into>[\w./-]+)` \((?P<how>after|in place of) `(?P<line>[^`]+)`\):\n\n)"
                   r"```\w+\n(?P<text>.*?)```\n", re.M | re.S)


def follow(page, root):
    """Writes the page's files and adds its lines; what it did, as paths."""
    done = []
    for step in BLOCK.finditer(page):
        path = root / (step["file"] or step["into"])
        if step["file"]:
            assert not path.exists(), f"{path} exists already: the recipe is of something new"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(step["text"])
        else:
            lines = path.read_text().splitlines(keepends=True)
            line = step["line"] + "\n"
            assert lines.count(line) == 1, f"{path} holds {lines.count(line)} lines {step['line']}"
            lines[lines.index(line)] = (line if step["how"] == "after" else "") + step["text"]
            path.write_text("".join(lines))
        done.append(step["file"] or step["into"])
    return done


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=400, **more)
    if done.returncode != 0:
        sys.exit(f"FAILED: {' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout + done.stderr


def unit_of(command, source, build, copy, folder):
    """Of a source that the build at hand compiles together with others (CMAKE_UNITY_BUILD): the command for all of them, as
    they are in the copy, so that what stands before the libraries has all that their object has. Else the command itself."""
    file = source / pathlib.Path(command["file"]).relative_to(copy) if command["file"].startswith(f"{copy}/") else None
    for unit in json.loads((build / "compile_commands.json").read_text()):
        if file is None or "/Unity/" not in unit["file"] or f'#include "{file}"' not in pathlib.Path(unit["file"]).read_text():
            continue
        text = re.sub(rf'#include "{re.escape(str(source))}/(?!{re.escape(os.path.relpath(build, source))}/)', f'#include "{copy}/',
                      pathlib.Path(unit["file"]).read_text())
        together = folder / str(pathlib.Path(unit["file"]).relative_to(build)).replace("/", "_")
        together.write_text(text)
        words = unit["command"].replace(unit["file"], str(together)).replace(f"-I{source} ", f"-I{copy} ")
        return {**unit, "file": command["file"], "command": words}
    return command


def linked(build, objects, out):
    """The program of the build at hand, with these objects before its libraries."""
    last = run(["ninja", "-C", build, "-t", "commands", "mgsync"]).strip().splitlines()[-1]
    last = last.removeprefix("ninja: Entering directory").strip()
    shell = re.sub(r" -o \S+", f" -o {out} " + " ".join(map(str, objects)), last, count=1)
    assert str(out) in shell, f"no link command: {last[:300]}"
    run(["bash", "-c", shell], cwd=build)


def without_it_does_not_compile(command, source):
    """A record that leaves out a fact, or that nobody makes, is refused: nothing stands in for it."""
    text = source.read_text()
    for member in ("origin", "driver", "scope", "extent", "order", "make"):
        short = re.sub(rf"\.{member} = (fact::\w+::\w+|makers::\w+\(.*?\)),?", "", text, count=1)
        assert short != text, f"{source} says nothing of {member}"
        source.write_text(short)
        words = re.sub(r" -o \S+", " -fsyntax-only", command["command"])
        done = subprocess.run(["bash", "-c", words], cwd=command["directory"], capture_output=True, text=True)
        assert done.returncode != 0, f"a variant without .{member} compiles"
    source.write_text(text)


def refusal(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=100)
    assert done.returncode == 2 and done.stdout == "", done
    return done.stderr


def try_study(program, folder):
    """The study, its axis, its metric, the statistic, and the output form."""
    study = [program, "study", "yielding"]
    told = run(study)
    assert "A thread that yields pays" in told, told
    assert "--call is 'sleep'; accepted: all, yield" in refusal(*study, "--call", "sleep")
    assert "--threads is '0'; accepted: 1 to 256" in refusal(*study, "--threads", "0")
    assert "how many threads call at the same time (default 1; accepted: 1 to 256" in " ".join(run(study + ["--help"]).split())
    document, rows, medians = (folder / name for name in ("j", "c", "p"))
    table = run(study + ["--threads", "1-2", "--max-time", "4s", "--json", document, "--csv", rows, "--prometheus", medians])
    assert re.search(r"threads +latency_[nu]s .* processor_[nu]s", table), table
    results = json.loads(document.read_text())["results"]
    assert [r["axes"]["threads"]["value"] for r in results] == [1, 2], results
    assert all(r["metrics"]["processor"]["unit"] == "us" and r["metrics"]["processor"]["median"] > 0 for r in results), results
    assert all(r["metrics"]["latency"]["deviation"] >= 0 for r in results), results
    run([program, "merge", document, "--json", folder / "again"])
    again = json.loads((folder / "again").read_text())["results"]
    assert [r["metrics"] for r in again] == [r["metrics"] for r in results], again
    columns = next(csv.reader(rows.open()))
    assert {"latency_us_deviation", "processor_us_deviation", "latency_us_p95"} <= set(columns), columns
    assert {"threads", "processor_us", "processor_us_ci95_low"} <= set(columns), columns
    assert re.search(r"threads +a call, us +ci95 +processor, us\n +1 +[0-9.]+ ", table), table
    assert re.search(r"a call beside a warp's addition on a V100 .* above 0\.0015 us .* holds", table), table
    picture = run([program, "show", document, "--figure", "yields-over-threads"])
    assert picture.startswith("<svg") and ">latency (us)</text>" in picture and picture.count("<title>yield") == 2, picture[-900:]
    by = run([program, "show", document, "--by", "threads"])
    assert re.search(r"^\| [^|]*threads \| 1 \| 2 \|$", by, re.M), by
    assert len(re.findall(r'^mgsync_median\{study="yielding",point="[^"]+",metric="processor_us"\} \d', medians.read_text(), re.M)) == 2
    assert "cannot both be stdout" in refusal(*study, "--json", "-", "--prometheus", "-")
    assert "the same file" in refusal(*study, "--csv", medians, "--prometheus", medians)


def try_probe(program, build, copy, catalogue, nvcc, folder):
    """The study knows the probe; and where there is an nvcc, its machine code is what its entry says, and of no other."""
    assert "bit_reversal" in refusal(program, "study", "levels", "--probe", "nobody")
    if nvcc is None:
        return
    run([nvcc, "-cubin", "-std=c++20", "-arch=sm_90", "--expt-relaxed-constexpr", "-I", copy, "-o", "warp.cubin",
         copy / "src/probes/catalogue/warp.cu"], cwd=folder)
    (folder / "reads.cpp").write_text(r"""
#include <cstdio>
#include <fstream>
#include <iterator>

#include "src/probes/catalogue.hpp"

int main() {
  std::ifstream file("warp.cubin", std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  const auto code = mgsync::machine_code::read_cubin(std::as_bytes(std::span(bytes)));
  auto probe = mgsync::probes::probe_called("warp", "bit_reversal");
  std::printf("as it must be: %s\n", mgsync::probes::read_code(code, probe).complaint.c_str());
  probe.per_link = {{"POPC", 1}};
  std::printf("otherwise: %s\n", mgsync::probes::read_code(code, probe).complaint.c_str());
}
""")
    run(["c++", "-std=c++20", "-I", copy, "-o", "reads", "reads.cpp", catalogue,
         build.resolve() / "src/probes/machine_code/libmgsync_machine_code.a"], cwd=folder)
    said = run([folder / "reads"], cwd=folder)
    assert re.search(r"must be: $", said, re.M) and "otherwise: bit_reversal_16: 0 POPC between the clock reads, not 16" in said, said


def try_way(program, machine):
    """The way of a sum: one of one GPU, planned on a machine that has some."""
    sums = [program, "study", "reduction"]
    assert re.search(r"one GPU: .*last-done, one-thread, implicit", " ".join(run(sums + ["--help"]).split()))
    planned = sums + ["--device", "gpu", "--topology", machine, "--dry-run", "--bytes", "8", "--way", "one-thread", "--members"]
    assert "reduction/one-thread" in run(planned + ["1"])
    assert "accepted" in refusal(*planned, "2"), "it is no way of several GPUs"


def try_source(program, folder):
    """The topology source: what it says is known, what it does not say is absent, and what is damaged is refused."""
    text = folder / "list.txt"
    text.write_text("GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 1: NVIDIA H200 (UUID: GPU-2)\n")
    machine = json.loads(run([program, "topology", "--topology", text, "--format", "description"]))
    assert [(g["name"], g["uuid"]) for g in machine["gpus"]] == [("NVIDIA H200", "GPU-1"), ("NVIDIA H200", "GPU-2")], machine
    assert not {"numa", "near_cpus", "memory_bytes"} & set(machine["gpus"][0]), machine
    text.write_text("GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 2: NVIDIA H200 (UUID: GPU-2)\n")
    assert "list.txt:2: not a line of a GPU; accepted: 'GPU 1: NAME" in refusal(program, "topology", "--topology", text)
    text.write_text("nonsense\n")
    assert "the text of nvidia-smi -L" in refusal(program, "topology", "--topology", text)


def main():
    source, build, cmake = (pathlib.Path(word) for word in sys.argv[1:4])
    if not (build / "build.ninja").exists():
        print("skipped: the build at hand is not Ninja's")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        copy, made = pathlib.Path(folder) / "tree", pathlib.Path(folder) / "build"
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("build", ".git"), symlinks=True)
        page = (copy / "docs/extending.md").read_text()
        done = follow(page, copy)
        assert len(done) == len(re.findall(r"^```(?:cpp|cmake|csv|json)$", page, re.M)), done
        run([cmake, "-S", copy, "-B", made, "-G", "Ninja", "-DMGSYNC_CUDA=OFF", "-DMGSYNC_NCCL=OFF", "-DMGSYNC_MPI=OFF", "-DMGSYNC_Z3=OFF",
             "-DMGSYNC_TESTS=OFF", "-DMGSYNC_WERROR=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0"])
        run([cmake, f"-DINPUT={copy}/src/results/frame/papers.csv", f"-DOUTPUT={made}/src/results/mgsync_papers_csv.cpp", "-DSYMBOL=mgsync_papers_csv",
             "-P", copy / "cmake/embed.cmake"])
        # Only what is new, by the commands that CMake gives: the libraries are those of the build at hand.
        new = ("backend_table.cpp", "study_table.cpp", "tally.cpp", "yielding.cpp", "document_forms.cpp",
               "prometheus_document.cpp", "further_statistics.cpp", "mgsync_papers_csv.cpp", "probes/catalogue.cpp",
               "studies/reduction/reduction.cpp", "smi_list.cpp", "file_sources.cpp")
        commands = [c for c in json.loads((made / "compile_commands.json").read_text()) if c["file"].endswith(new)]
        assert len(commands) == len(new), commands
        commands = [unit_of(c, source, build, copy, pathlib.Path(folder)) for c in commands]
        commands = list({c["command"]: c for c in commands}.values())  # two of one unit are compiled once
        objects = [pathlib.Path(folder) / (pathlib.Path(c["file"]).name + ".o") for c in commands]
        compilers = [subprocess.Popen(["bash", "-c", re.sub(r" -o \S+", f" -o {o}", c["command"])], cwd=c["directory"])
                     for c, o in zip(commands, objects)]
        assert [each.wait() for each in compilers] == [0] * len(compilers), "a new file does not compile"
        tally = next(c for c in commands if c["file"].endswith("tally.cpp"))
        without_it_does_not_compile(tally, copy / "barriers/tally/tally.cpp")
        program = pathlib.Path(folder) / "mgsync"
        linked(build, objects, program)
        assert "tally:default" in run([program, "list"])
        table = run([program, "--device", "host", "--backend", "tally", "--members", "2", "--oversubscribe", "--max-time", "50ms", "--check-rounds", "400"])
        assert re.search(r"^2 host members.*pass$", table, re.M) and re.search(r"^tally:default ", table, re.M), table
        try_study(program, pathlib.Path(folder))
        try_source(program, pathlib.Path(folder))
        catalogue = next(o for c, o in zip(commands, objects) if c["file"].endswith("probes/catalogue.cpp"))
        try_probe(program, build, copy, catalogue, sys.argv[4] if len(sys.argv) > 4 else None, pathlib.Path(folder))
        try_way(program, copy / "tests/machines/h200x4.machine")
        if len(sys.argv) > 4:
            for kernels in ("barriers/tally/gpu_tally.cu", "src/studies/reduction/gpu_kernels_int32.cu"):
                run([sys.argv[4], "-std=c++20", "-arch=sm_90", "--expt-relaxed-constexpr", "-I", copy, "-c", "-o", "kernels.o",
                     copy / kernels], cwd=folder)
    # The reader of the page can fail.
    with tempfile.TemporaryDirectory() as folder:
        page = "in `a.txt` (after `x`):\n\n```cmake\ny\n```\n"
        (pathlib.Path(folder) / "a.txt").write_text("z\n")
        try:
            follow(page, pathlib.Path(folder))
            sys.exit("FAILED: a line that is not there was found")
        except AssertionError:
            pass
    print(f"the recipes of docs/extending.md hold: {', '.join(dict.fromkeys(done))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
