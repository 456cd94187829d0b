#!/usr/bin/env python3
"""mgsync check, and --backend FILE, on files that are right, wrong, harmful or none.

Usage: command_test.py MGSYNC SOUND KNOWN_WRONG MISBEHAVING ENDS_AS_IT_IS_LOADED NOT_OF_MGSYNC
"""
import json
import os
import subprocess
import sys
import tempfile

program, sound, wrong, misbehaving, ends_loading, none = sys.argv[1:]
faults = []


def run(*words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=500, stdin=subprocess.DEVNULL)


def expect(code, text, *words, absent=None):
    """Text on stdout where the code is that of an answer, else the one sentence on stderr."""
    done = run(*words)
    said = done.stderr if code == 2 else done.stdout
    wanted = [text] if isinstance(text, str) else text
    good = done.returncode == code and all(one in said for one in wanted) and (absent is None or absent not in said)
    if not good or (code == 2 and done.stderr.count("\n") != 1):
        faults.append(f"{' '.join(words)}: exit {done.returncode}, not {code} with {text!r}:\n{done.stdout[-1500:]}{done.stderr[-1500:]}")
    return done


def document(*words):
    done = run(*words, "--json", "-")
    return done.returncode, json.loads(done.stdout)


# A right barrier, a wrong one, and the report that goes into somebody's issue.
expect(0, ["central-counter, of host threads", "members-2          passed", "no fault was seen in 2 scenarios and"],
       "check", f"{sound}:central-counter", "--scenario", "members-2,members-3", "--check-rounds", "1000", absent="held-back")
expect(4, ["refused", "(streams)", "nothing could be judged"], "check", f"{sound}:central-counter", "--scenario", "two-streams")
seen = expect(3, ["held-back          VIOLATED", "left round", "--scenario held-back --seed 7", "second-use-passes: 1 of 1 scenario failed"],
              "check", f"{wrong}:second-use-passes", "--scenario", "held-back", "--seed", "7")
code, found = document("check", f"{wrong}:second-use-passes", "--scenario", "held-back,members-2", "--seed", "7")
barrier = found["files"][0]["barriers"][0]
first = barrier["scenarios"][0]
if (code, found["schema"], found["seed"], barrier["name"], barrier["failed"]) != (3, "mgsync-check/1", 7, "second-use-passes", True) or \
        (first["scenario"], first["verdict"]) != ("held-back", "violated") or first["rounds"] < 1 or "expected" not in first["what"]:
    faults.append(f"the document: {code} {found}")
with tempfile.TemporaryDirectory() as folder:
    name = os.path.join(folder, "found.json")
    expect(3, "VIOLATED", "check", f"{wrong}:silent-no-op", "--scenario", "members-2", "--json", name)
    if not os.path.exists(name):
        faults.append("--json wrote no file")

# What a barrier's code does to its process costs its scenario, not the report.
for barrier, words in (("crashes", "crashed by signal 6"), ("endless", "STUCK"), ("leaves", "left the process with exit code 0"),
                       ("crashes-as-it-starts", "in takes(), bytes() or start(): it crashed")):
    expect(3, [words, f"{barrier}: 2 of 2 scenarios failed"], "check", f"{misbehaving}:{barrier}", "--scenario", "members-2,members-3",
           "--timeout", "1s")
expect(3, ["members-2          refused", "members-3          CRASHED"], "check", f"{misbehaving}:crashes-when-asked", "--scenario",
       "members-2,members-3")
expect(3, ["first-absent       passed", "last-absent        VIOLATED", "left round 6, at which member 2 never arrived"], "check",
       f"{misbehaving}:gives-up-waiting", "--scenario", "first-absent,last-absent")

# Bad input: one sentence, exit 2.
expect(2, "it crashed (Aborted) as it was loaded", "check", ends_loading)
expect(2, "it crashed (Aborted) as it was loaded", "--backend", ends_loading, "--members", "2")
expect(2, "it holds no barrier", "check", none)
expect(2, "no such file", "check", "./nosuch.so")
expect(2, "no such file", "--backend", "./nosuch.so")
expect(2, "has no barrier 'counter'; accepted: ", "check", f"{sound}:counter")
expect(2, "has no barrier 'counter'; accepted: ", "--backend", f"{sound}:counter")
expect(2, "there is no scenario 'reply' (did you mean 'replay'?); accepted: held-back,", "check", sound, "--scenario", "reply")
expect(2, "mgsync check takes files", "check")
expect(2, "does not take --scenario", "show", "x", "--scenario", "replay")

# Beside all others: measured and checked by the same harness, with its facts.
code, measured = document("--backend", f"{sound}:inbox,openmp", "--members", "2", "--oversubscribe", "--max-time", "20ms", "--check-rounds", "200")
by_name = {(r["subject"], r.get("variant")): r for r in measured["results"]}
mine = by_name.get((os.path.basename(sound), "inbox"))
if code != 0 or mine is None or mine["status"] != "measured" or mine["facts"]["origin"] != "user" or len(by_name) != 2:
    faults.append(f"--backend FILE: {code} {json.dumps(measured)[:3000]}")
expect(3, "FAIL", "--backend", f"{wrong}:silent-no-op", "--members", "2", "--oversubscribe", "--max-time", "20ms", "--check-rounds", "200")
expect(0, f"{os.path.basename(sound)}:hub", "list", "--backend", sound, "--members", "2")

print("\n".join(faults) or "all is as it is to be")
sys.exit(bool(faults))
