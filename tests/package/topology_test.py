#!/usr/bin/env python3
"""mgsync topology begins with a picture on a terminal and only there, and --png writes a PNG where a converter is.

Usage: topology_test.py MGSYNC SOURCE
"""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile

MGSYNC, SOURCE = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
COMMAND = [MGSYNC, "topology", "--topology", SOURCE / "tests/machines/dgx-h100.machine"]


def on_a_terminal(locale):
    """What the command writes on one; the read ends with an error once nobody holds the other side."""
    mine, its = pty.openpty()
    child = subprocess.Popen(COMMAND, stdout=its, stderr=subprocess.STDOUT, env={**os.environ, "LC_ALL": locale})
    os.close(its)
    text = b""
    try:
        while part := os.read(mine, 65536):
            text += part
    except OSError:
        pass
    os.close(mine)
    assert child.wait() == 0, text
    return text.decode().replace("\r", "")


def run(*more, path=None):
    env = {**os.environ, **({"PATH": str(path)} if path else {})}
    return subprocess.run([*COMMAND, *more], capture_output=True, text=True, env=env, check=False)


def fake(folder, name, script):
    file = folder / name
    file.write_text("#!/bin/sh\n" + script)
    file.chmod(0o755)


def main():
    drawn, plain, piped = on_a_terminal("C.UTF-8"), on_a_terminal("C"), run().stdout
    assert re.search("\u251c\u2500 GPU 0, NIC mlx5_0 +\u2550\u255018\u2550+\u2557\n", drawn), drawn
    assert re.search(r"\|- GPU 0, NIC mlx5_0 +==18=+\+\n", plain) and plain.isascii(), plain
    assert piped.startswith("Machine ") and piped in drawn and piped in plain, piped

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        tools, png = folder / "tools", folder / "machine.png"
        tools.mkdir()
        none = run("--png", png, path=tools)
        assert none.returncode == 2 and not png.exists() and not none.stdout, none
        assert "none of rsvg-convert, magick, convert and inkscape is in PATH" in none.stderr, none.stderr
        assert none.stderr.count("\n") == 1, none.stderr

        fake(tools, "magick", 'read -r line < "${1#svg:}"; echo "$line" > "${2#png:}"\n')
        made = run("--png", png, path=tools)
        assert made.returncode == 0 and png.read_text().startswith("<svg "), (made, png)
        assert made.stdout == piped

        fake(tools, "rsvg-convert", "echo no fonts >&2; exit 1\n")  # is asked first
        failed = run("--png", folder / "other.png", path=tools)
        assert failed.returncode == 2 and "no fonts" in failed.stderr and not (folder / "other.png").exists(), failed

        fake(tools, "rsvg-convert", 'echo "$3" > "$2"\n')
        lost = run("--png", folder / "missing" / "other.png", path=tools)
        assert lost.returncode == 2 and "cannot be written" in lost.stderr, lost
        if shutil.which("rsvg-convert"):
            assert run("--png", png).returncode == 0 and png.read_bytes().startswith(b"\x89PNG")
    print("a picture on a terminal, none in a pipe; a PNG, or one sentence")


if __name__ == "__main__":
    main()
