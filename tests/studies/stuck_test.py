#!/usr/bin/env python3
"""A study that does not end by itself: a thread of it does not come back, a child process does not, a child dies, or somebody
kills all of it. Every point stands in the document and in the store, with what kept it from being measured.

Usage: stuck_test.py MGSYNC NEVER_BACK. Host members only; NEVER_BACK is never_back.cpp as a library that is loaded first."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM, NEVER_BACK = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
FILES = ["--json", "document", "--store", "store"]
THREADS = ["study", "launch", "--device", "host", "--kind", "std-thread", "--members", "1", "--precision", "0.0000001",
           "--max-time", "1s", "--timeout", "6s", *FILES]
CHILDREN = ["study", "blocking", "--device", "host", "--level", "thread", "--question", "holds", "--members", "2", *FILES]


def tell(how):
    with open("how.new", "w") as file:
        file.write(how)
    os.rename("how.new", "how")


def run(words, how=None, once=None):
    """Its exit code and what it said, the library told `how` from the beginning, or once the store holds `once`."""
    for name in ("document", "store", "how"):
        if os.path.exists(name):
            os.remove(name)
    if how and not once:
        tell(how)
    going = subprocess.Popen([PROGRAM, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "LD_PRELOAD": NEVER_BACK, "MGSYNC_NEVER_BACK": os.path.abspath("how")})
    while once and not (os.path.exists("store") and once in open("store").read()):
        assert going.poll() is None, going.communicate()
        time.sleep(0.05)
    if how == "kill":
        going.send_signal(signal.SIGKILL)
    elif once:
        tell(how)
    said = going.communicate(timeout=300)[1]
    return going.returncode, said


def document():
    with open("document") as file:
        return json.load(file)


def stored(kind):
    with open("store") as file:
        lines = [json.loads(line) for line in file]
    return [line for line in lines if line["t"] == kind]


def one_is_to_blame(code, said, members):
    """One point was stuck, those before it are measured, and those behind it were not tried."""
    assert code == 3, (code, said)
    everything = document()
    assert everything["ended"] == "failed" and "made no progress" in everything["settings"]["ended_because"], everything
    results = everything["results"]
    assert len(results) == members, [r["subject"] for r in results]
    by_status = {word: [r for r in results if r["status"] == word] for word in ("measured", "failed", "error", "waived")}
    assert sum(map(len, by_status.values())) == members, {r["status"] for r in results}
    (stuck,) = by_status["failed"]
    assert re.match(r"stuck: .+ made no progress for [0-9.]+ s", stuck["reason"]), stuck["reason"]
    assert stuck["subject"] in stuck["reason"], stuck["reason"]
    for r in by_status["error"]:
        assert r["reason"] == f"not tried, or not to its end: {stuck['reason']}", r["reason"]
    for r in by_status["measured"]:
        assert r["reason"] == "" and r["samples"]["batch"] is not None, r
    kept = [line["result"] for line in stored("result")]
    assert [r["status"] for r in kept] == ["measured"] * len(by_status["measured"]) + ["failed"], kept
    assert kept[-1]["reason"] == stuck["reason"]
    (end,) = stored("end")
    assert end["why"] == "failed" and end["reason"] == stuck["reason"], end
    return by_status


def main():
    folder = tempfile.TemporaryDirectory()
    os.chdir(folder.name)
    # A thread that does not come back, once the first point is measured.
    by_status = one_is_to_blame(*run(THREADS, "wait", once='"t":"result"'), members=4)
    assert by_status["measured"] and by_status["waived"], by_status
    # A child process that does not, the first of them. (The word is not "wait": mgsync's own threads are to run.)
    by_status = one_is_to_blame(*run([*CHILDREN, "--timeout", "6s"], "hang"), members=3)
    assert not by_status["measured"], by_status
    # Those that die: their points say so.
    code, said = run(CHILDREN, "die")
    assert code == 1, (code, said)
    assert [(r["status"], r["reason"]) for r in document()["results"]] == \
        [("error", "the process of this case had no outcome: it crashed (Killed)")] * 3, document()["results"]
    assert document()["ended"] == "complete" and len(stored("result")) == 3
    # All of it is killed: the store says what was measured by then, and the rest of it is measured by --resume.
    longer = ["4s" if word == "1s" else word for word in THREADS]  # on a busy machine too the point is under way then
    code, said = run(longer, "kill", once='"t":"sample"')
    assert code == -signal.SIGKILL and not os.path.exists("document"), code
    shown = subprocess.run([PROGRAM, "show", "store"], capture_output=True, text=True, timeout=60)
    assert shown.returncode == 0 and "not complete: its command ended early" in shown.stdout, shown
    assert "1 point has samples but no result" in shown.stdout, shown
    done = subprocess.run([PROGRAM, *longer, "--resume"], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and document()["ended"] == "complete", done
    assert [r["status"] for r in document()["results"] if r["status"] != "waived"] == ["measured"] * 3
    print("a study that is stuck, or killed, leaves every point with its blame")


if __name__ == "__main__":
    main()
