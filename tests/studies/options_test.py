#!/usr/bin/env python3
"""Every option on every study: it is taken, and the document says what was used, or the study's record refuses it in one
sentence with exit code 2. And a study that is ended early leaves every point with its blame.

Usage: options_test.py MGSYNC. Host members only: the same on every machine."""
import csv
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
MACHINE = {"format": "mgsync-machine", "version": 2, "host": "box", "packages": [{"id": 0}], "numa_nodes": [{"id": 0}],
           "cores": [{"ids": "0-3", "cpus": "0-3"}], "allowed_cpus": "0-3", "gpus": []}
# What is typed after each option; None: a switch. An option that is not here is new, and is to be tried too.
WORDS = {"--device": "host", "--members-per-rank": "2", "--per-node": None, "--no-pin": None, "--oversubscribe": None,
         "--mpi-threads": "single", "--precision": "50%", "--max-time": "60ms", "--timeout": "20s", "--check-rounds": "50",
         "--no-check": None, "--quick": None, "--full": None, "--seed": "7", "--processes": "1", "--json": "j", "--csv": "c", "--anonymous": None, "--store": "s",
         "--resume": None, "--dry-run": None, "--verbose": None, "--figures": "f", "--topology": "machine", "--less-order": None}
ROUNDS, RANKS = {"--check-rounds", "--no-check"}, {"--members-per-rank", "--per-node"}
SAMPLING, THREADS = {"--precision", "--max-time", "--quick", "--full"}, {"--no-pin", "--oversubscribe"}
ALONE = ROUNDS | RANKS | {"--mpi-threads"}
REFUSED = {"barriers": set(), "verify": ALONE | {"--oversubscribe"}, "launch": ALONE | {"--oversubscribe"}, "model": ALONE | THREADS,
           "pipeline": ALONE | THREADS | SAMPLING, "levels": ALONE | THREADS, "library": RANKS | THREADS | {"--mpi-threads"},
           "blocking": ALONE | THREADS | SAMPLING,
           "reduction": ROUNDS | RANKS | {"--oversubscribe"}, "timeline": ALONE | {"--oversubscribe"}}
# A point or two that are measured in no time by any host; pipeline, levels and model need a GPU.
SMALL = {"barriers": ["--backend", "openmp", "--members", "1"], "verify": ["--operation", "add"],
         "launch": ["--kind", "std-thread", "--quantity", "total"],
         "blocking": ["--level", "thread", "--method", "std-barrier", "--question", "holds", "--members", "2"],
         "reduction": ["--way", "serial", "--members", "1", "--type", "fp64", "--memory", "cache", "--bytes", "4096"],
         "timeline": ["--what", "rounds", "--backend", "openmp", "--members", "2", "--late", "0"]}


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120)


def document(name):
    with open(name) as file:
        return json.load(file)


def planned(study, option):
    word = WORDS[option]
    words = ["study", study, option] + ([word] if word else []) + ([] if option == "--device" else ["--device", "host"])
    words += ["--store", "s"] if option == "--resume" else []
    done = run(*words, *([] if option == "--dry-run" else ["--dry-run"]))
    if option in REFUSED[study]:
        assert done.returncode == 2 and done.stdout == "", (study, option, done)
        assert re.fullmatch(rf"mgsync: mgsync study {study} does not take {option}: .+; accepted: the same without {option}\n", done.stderr), done.stderr
    else:
        assert done.returncode == 0 and re.search(r" points? can run here", done.stdout), (study, option, done)


def measured(study):
    """With all that it takes at once: the document says what was used."""
    taken = [o for o in ("--precision", "--max-time", "--check-rounds", "--timeout", "--seed", "--no-pin", "--json", "--csv",
                         "--store", "--figures", "--anonymous") if o not in REFUSED[study]]
    if study == "timeline":  # threads that are not pinned have no clocks of their own
        taken.remove("--no-pin")
    words = [w for o in taken for w in (o, WORDS[o]) if w]
    done = run("study", study, *SMALL[study], "--device", "host", *words)
    assert done.returncode in (0, 4), (study, done)  # 4: too few processors
    said = document("j")
    settings = said["settings"]
    assert said["ended"] == "complete" and said["seed"] == 7 and settings["timeout_s"] == "20", (study, settings)
    ran = [r for r in said["results"] if r["status"] == "measured"]
    if "--precision" in taken and ran:
        assert settings["precision"] == "0.5" and settings["max_time_s"] == "0.06", (study, settings)
    if "--precision" not in taken:
        assert "precision" not in settings and "max_time_s" not in settings, (study, settings)
    assert settings.get("check_rounds") == ("50" if study == "barriers" else None), (study, settings)
    if study == "barriers" and ran:  # the run time that was measured, in the document and below the table
        library = ran[0]["facts"]["library"]
        assert re.match(r"lib\w+", library) and f"openmp:runtime is that of {library}\n" in done.stdout, (library, done.stdout)
    assert (said["machine"]["pinning"] == "none") == ("--no-pin" in taken), (study, said["machine"])
    if "--no-pin" in taken:
        assert all(r["axes"]["pinned"]["value"] == "no" for r in said["results"]), study
    assert said["machine"]["host"] != os.uname().nodename, "anonymous"
    with open("c") as file:
        assert len(list(csv.DictReader(file))) >= len(ran), study
    with open("s") as file:
        assert '"why":"complete"' in file.readlines()[-1], study
    # What a store holds is not measured again.
    words = [w for w in words if w not in ("--figures", "f")]
    again = run("study", study, *SMALL[study], "--device", "host", *words, "--resume")
    assert again.returncode == done.returncode, (study, again)
    assert [r.get("metrics") for r in document("j")["results"]] == [r.get("metrics") for r in said["results"]], study
    # Each of several processes counts once.
    if ran:
        words = [w for o in taken if o in ("--precision", "--max-time", "--seed") for w in (o, WORDS[o])]
        assert run("study", study, *SMALL[study], "--device", "host", *words, "--processes", "2", "--json", "p").returncode == 0, study
        assert document("p")["settings"]["processes"] == "2", study
    for name in ("j", "c", "s"):
        os.remove(name)


def profiles():
    """--quick and --full set what their help says, and what is typed wins."""
    kept = {"--quick": ("0.05", "60", "1000"), "--full": ("0.005", "10", "100000")}
    for profile, (precision, longest, rounds) in kept.items():
        help_of = " ".join(run("--help").stdout.split(profile + " ")[1].split("\n  --")[0].split())
        said = dict(re.findall(r"--(precision|max-time|check-rounds) ([0-9.]+)", help_of))
        assert float(said["precision"]) / 100 == float(precision) and said["max-time"] == longest and said["check-rounds"] == rounds, help_of
        done = run(*SMALL["barriers"], "--device", "host", profile, "--max-time", "60ms", "--json", "j")
        settings = document("j")["settings"]
        assert done.returncode == 0 and settings["precision"] == precision and settings["check_rounds"] == rounds, (done, settings)
        assert settings["max_time_s"] == "0.06", settings
        run(*SMALL["barriers"], "--device", "host", profile, "--max-time", "60ms", "--precision", "30%", "--no-check", "--json", "j")
        settings = document("j")["settings"]
        assert settings["precision"] == "0.3" and settings["check_rounds"] == "0", settings
        done = run("study", profile)
        assert done.returncode == 2 and done.stderr.endswith("accepted: mgsync study NAME --quick\n"), done
        done = run("show", "j", profile)
        assert done.returncode == 2 and f"mgsync show does not take {profile} (mgsync measure, mgsync study do)" in done.stderr, done
    done = run("--quick", "--full")
    assert done.returncode == 2 and "accepted: one of them" in done.stderr, done
    os.remove("j")
    # By plan every variant for every usual number of members takes less than a minute, on a node of 64 cores too.
    large = dict(MACHINE, cores=[{"ids": "0-63", "cpus": "0-63"}], allowed_cpus="0-63")
    with open("large", "w") as file:
        json.dump(large, file)
    for words in ([], ["--backend", "all"]):
        plan = run("--device", "host", "--topology", "large", "--quick", "--dry-run", *words).stdout
        points, seconds = map(int, re.search(r"(\d+) of \d+ points can run here, about (\d+) s", plan).groups())
        assert points >= 18 and seconds < 60, plan


def ended_by(number, status, blame):
    """A study that measures for long is ended: every point of it is there, and says why."""
    asked = ["study", "verify", "--device", "host", "--precision", "0.0000001", "--max-time", "60s", "--json", "ended", "--store", "kept"]
    going = subprocess.Popen([PROGRAM, *asked], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for _ in range(600):
        if os.path.exists("kept") and '"t":"sample"' in open("kept").read().replace(" ", ""):
            break
        time.sleep(0.1)
    going.send_signal(number)
    assert going.wait(timeout=60) != 0
    said = document("ended")
    assert said["ended"] == status and {r["subject"] for r in said["results"]} == {"add", "multiply"}, said
    for r in said["results"]:
        assert r["status"] == status and re.search(blame, r["reason"]), (r["status"], r["reason"])
    for name in ("ended", "kept"):
        os.remove(name)


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    with open("machine", "w") as file:
        json.dump(MACHINE, file)
    listed = re.compile(r"^  (--[a-z-]+)", re.M)
    studies = re.findall(r"^(\w+): ", run("study").stdout, re.M)
    assert sorted(studies) == sorted(REFUSED), "a study without a line in REFUSED"
    for study in studies:
        offered = listed.findall(run("study", study, "--help").stdout.split("\nOptions:\n")[1])
        assert set(offered) == set(WORDS) | {"--help", "--version"}, set(offered) ^ set(WORDS)
        for option in WORDS:
            planned(study, option)
        if study in SMALL:
            measured(study)
    # `mgsync` is `mgsync study barriers`.
    small = ["--backend", "openmp", "--members", "1,2", "--device", "host", "--dry-run"]
    assert run(*small).stdout == run("measure", *small).stdout == run("study", "barriers", *small).stdout
    profiles()
    ended_by(signal.SIGTERM, "interrupted", "interrupted (while|before) it was measured|signal 15")
    ended_by(signal.SIGABRT, "error", "signal 6")
    print(f"{len(WORDS)} options on {len(studies)} studies: taken and recorded, or refused by name")


if __name__ == "__main__":
    main()
