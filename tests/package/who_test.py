#!/usr/bin/env python3
"""mgsync who names who does not come in jobs that hang, and says of their files what is so. Usage: who_test.py MGSYNC JOB

JOB is late_blocks_test, which hangs as `hang MEMBERS BLOCKS ROUNDS MEMBER BLOCK` says.
"""
import os
import re
import subprocess
import sys
import tempfile
import time

mgsync, job = sys.argv[1:3]


def who(folder, *files):
    done = subprocess.run([mgsync, "who", *files], env=dict(os.environ, MGSYNC_WHO=folder), capture_output=True, text=True, timeout=60)
    return done.returncode, done.stdout + done.stderr


def hang(members, blocks, rounds, member, block):
    """Starts the job; returns it and what its temporary folder is, which it makes itself."""
    folder = tempfile.mkdtemp(prefix="who_test_")
    words = [str(n) for n in (members, blocks, rounds, member, block)]
    return folder, subprocess.Popen([job, "hang", *words], env=dict(os.environ, MGSYNC_WHO=folder))


def named(folder, wanted):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        code, said = who(folder)
        if code == 3 and re.search(wanted, said):
            return said
        time.sleep(0.05)
    sys.exit(f"nobody was named as {wanted}, but exit {code}:\n{said}")


def told_alone(folder):
    return [who(folder, os.path.join(folder, one))[1] for one in sorted(os.listdir(folder))]


code, said = who(tempfile.mkdtemp(prefix="who_test_"))
assert code == 0 and said.startswith("nobody is traced here: "), (code, said)
code, said = who("/tmp", __file__)
assert code == 2 and "is no file of waits of this version of mgsync" in said, (code, said)
for none in ("/tmp", "/dev/null"):
    code, said = who("/dev/shm", none)
    assert code == 2 and said == (f"mgsync: {none} is no file; accepted: files of waits (mgsync-who-*), or without any those in "
                                  "/dev/shm, the folder that MGSYNC_WHO names\n"), (code, said)
code, said = who("/tmp", "/no/such/file")
assert code == 2 and "/no/such/file: there is no such file of waits" in said, (code, said)

for members, blocks, rounds, member, block in ((3, 2, 17, 1, 1), (2, 1, 1, 0, 0), (4, 3, 300, 3, 2)):
    folder, waiting = hang(members, blocks, rounds, member, block)
    try:
        which = "all 1 block" if blocks == 1 else f"block {block}"
        place = rf"process {member} \(pid {waiting.pid}%s\), GPU 0 \(grid {member}\): {which}\n"
        here = os.uname().nodename
        there = r"(1 block is|[1-9]\d* blocks are) there, for up to \d+\.\d s"
        said = named(folder, rf"barrier {rounds} hangs; {there}\. Not there:\n  node {re.escape(here)}, " + place % "")
        assert said.count("  node ") == 1, said
        # One process that has come to wait tells of its own GPUs alone; on a busy machine that takes others a while.
        unheard = re.compile(rf"^  grid {member}: nothing is known of it", re.M)
        until = time.monotonic() + 60
        while not any(unheard.search(one) for one in told_alone(folder)):
            assert time.monotonic() < until, told_alone(folder)
            time.sleep(0.05)
    finally:
        waiting.kill()
        waiting.wait()
    code, said = who(folder)  # what it left behind still says so
    assert code == 3 and re.search(place % ", gone", said), (code, said)
print("three jobs that hang, each named")
