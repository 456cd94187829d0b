#!/usr/bin/env python3
"""mgsync advise without files measures here first, answers, and takes no longer than it may. Usage: advise_test.py MGSYNC"""
import os
import signal
import subprocess
import sys
import time

SLACK_S = 20  # of a busy machine: for starting, for a barrier's last batch, for the answer


def advise(*words, **how):
    began = time.monotonic()
    done = subprocess.run([sys.argv[1], "advise", "--device", "host", *words], capture_output=True, text=True, timeout=120, check=False, **how)
    return done, time.monotonic() - began


def main():
    if len(os.sched_getaffinity(0)) < 2:
        print("skipped: one hardware thread is one member, which needs no barrier")
        return 77
    done, took = advise("--members", "2", "--work", "50us")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("For 2 host members, shape 1, take "), done.stdout
    assert "measured there" in done.stdout and "of a step of 50 us of work" in done.stdout, done.stdout
    assert took < 20 + SLACK_S, f"{took:.1f} s"
    # Too short for anything: what there is, or the sentence that there is nothing; in time either way.
    done, took = advise("--members", "2", "--within", "400ms")
    assert done.returncode in (0, 2), done.stderr
    assert "--within" in done.stderr or "nothing is known" in done.stderr or done.returncode == 0, done.stderr
    assert took < 0.4 + SLACK_S, f"{took:.1f} s"
    done, _ = advise("--within", "0s")
    assert done.returncode == 2 and "--within" in done.stderr, done.stderr
    # A signal ends the measurement too.
    running = subprocess.Popen([sys.argv[1], "advise", "--device", "host", "--members", "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=60)
    assert running.returncode in (0, 128 + signal.SIGINT), (running.returncode, said)
    return 0


if __name__ == "__main__":
    sys.exit(main())
