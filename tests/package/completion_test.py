#!/usr/bin/env python3
"""Types words and TAB into bash, zsh and fish, with the scripts that mgsync writes, and reads the manual page that it
writes with mandoc. What is not installed is left out and said. Usage: completion_test.py MGSYNC"""
import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

# What is typed, and what must stand on the line once TAB was pressed.
FINISHED = [
    ("mgsync topol", "mgsync topology "),
    ("mgsync --chec", "mgsync --check-rounds "),
    ("mgsync --device ho", "mgsync --device host "),
    ("mgsync --device=ho", "mgsync --device=host "),
    ("mgsync study lau", "mgsync study launch "),
    ("mgsync study launch --polic", "mgsync study launch --policy "),
    ("mgsync help mer", "mgsync help merge "),
    ("mgsync compare --across=mach", "mgsync compare --across=machines "),
    ("mgsync --backend openmp:run", "mgsync --backend openmp:runtime "),
    ("mgsync --members 2 --backend openmp,multigrid:dissem", "mgsync --members 2 --backend openmp,multigrid:dissemination "),
    ("mgsync show only_resul", "mgsync show only_results.json "),
    ("mgsync --json only_resul", "mgsync --json only_results.json "),
]


def ask(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, check=True).stdout


class Terminal:
    """A shell on a terminal of its own."""

    def __init__(self, words, folder, environment):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], words, environment)

    def until(self, pattern, what, seconds=120):
        seen, end = "", time.monotonic() + seconds
        while not re.search(pattern, seen):
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                raise AssertionError(f"{what}: not {pattern!r}, but {seen!r}")
            try:
                seen += os.read(self.fd, 4096).decode(errors="replace")
            except OSError:
                raise AssertionError(f"{what}: the shell ended after {seen!r}") from None
        return seen

    def type(self, text):
        os.write(self.fd, text.encode())

    def close(self):
        os.close(self.fd)
        os.kill(self.pid, 9)
        os.waitpid(self.pid, 0)


def environment_of(program, folder):
    """mgsync by its name, as one types it; a terminal that understands nothing."""
    return {"PATH": f"{pathlib.Path(program).parent}:{os.environ['PATH']}", "HOME": folder, "TERM": "dumb", "LANG": "C",
            "ZDOTDIR": folder, "INPUTRC": "/dev/null"}


def types_and_tab(shell, words, setup, program, folder):
    """The line as the shell has it after TAB: an argument of `printf`, which comes before it."""
    terminal = Terminal(words, folder, environment_of(program, folder))
    try:
        # What is typed is echoed: the words that say it is done are written in two parts.
        terminal.type(setup + "\nprintf '%s%s\\n' rea dy\n")
        terminal.until(r"ready\r?\n", f"{shell}: setting up")
        for typed, wanted in FINISHED:
            terminal.type(typed + "\t")
            terminal.until(re.escape(wanted), f"{shell}: {typed} TAB")
            terminal.type("\x15printf '%s%s\\n' ne xt\n")
            terminal.until(r"next\r?\n", f"{shell}: after {typed}")
    finally:
        terminal.close()


def in_bash(program, folder):
    types_and_tab("bash", ["bash", "--norc", "--noprofile", "-i"], "PS1='$ '; set +o history; source ./bash", program, folder)


def in_zsh(program, folder):
    types_and_tab("zsh", ["zsh", "-f", "-i"], "PS1='$ '; unsetopt zle_bracketed_paste prompt_cr prompt_sp; bindkey -e; "
                  "fpath=($PWD $fpath); autoload -U compinit; compinit -u -D", program, folder)


def in_fish(program, folder):
    """fish says by itself what it would complete."""
    for typed, wanted in FINISHED:
        found = subprocess.run(["fish", "--no-config", "-c", f"source ./fish; complete -C '{typed}'"], cwd=folder, capture_output=True,
                               text=True, timeout=60, check=True, env=environment_of(program, folder)).stdout
        words = [line.split("\t")[0] for line in found.splitlines()]
        # Of --device=ho fish may complete what is behind the sign.
        last = wanted.split()[-1]
        assert words in ([last], [last.split("=")[-1]]), (typed, found)


def check_answers(program):
    """Every command, option and study that the help names can be completed, and nothing else is offered."""
    def words(*typed):
        return [line.split("\t")[0] for line in ask(program, "completion", "answer", "--", *typed).splitlines()]

    everything = ask(program, "help")
    commands = re.findall(r"^  ([a-z]+) .*\n", everything.split("Commands:")[1].split("\n\n")[0] + "\n", re.M)
    assert len(commands) > 9 and words("") == commands, (commands, words(""))
    listed = re.findall(r"^  (--[a-z-]+)", ask(program, "help", "study", "launch"), re.M)
    assert len(listed) > 20 and words("study", "launch", "--") == listed, (listed, words("study", "launch", "--"))
    assert words("study", "launch", "--", "x") == [], "a word that follows no option of a value is none"
    for option, value in (("--backend", "multigrid:auto"), ("-b", "multigrid:auto"), ("--placement", "near"), ("--load", "idle")):
        assert value in words(option, ""), option
    assert "2,4" not in words("--members", "2,") and words("no-such-command", "") == []
    studies = words("study", "")
    assert studies[0] == "all" and len(studies) > 8, studies
    for study in studies[1:]:
        assert ask(program, "help", "study", study) == ask(program, "study", study, "--help")
    for command in commands:
        assert ask(program, "help", command) == ask(program, command, "--help"), command
    assert ask(program, "help") == ask(program, "--help")
    assert ask(program, "-V") == ask(program, "--version")


def check_page(program, folder):
    page = ask(program, "help", "--man")
    for word in re.findall(r"^  --([a-z-]+)", ask(program, "help"), re.M):
        assert "\\&" + word.replace("-", "\\-") in page, word
    if not shutil.which("mandoc"):
        print("no mandoc here: the manual page was not read")
        return
    path = pathlib.Path(folder, "mgsync.1")
    path.write_text(page)
    lint = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", path], capture_output=True, text=True, timeout=60, check=False)
    assert lint.returncode == 0 and not lint.stdout, lint.stdout
    shown = subprocess.run(["mandoc", "-T", "ascii", path], capture_output=True, text=True, timeout=60, check=True).stdout
    shown = re.sub(".\b", "", shown)
    for sentence in ("mpirun -np 4 mgsync --backend multigrid", "--check-rounds N", "128+n", "--argument-bytes LIST"):
        assert sentence in shown, sentence
    print("mandoc reads the manual page")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    check_answers(program)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "only_results.json").touch()
        check_page(program, folder)
        for shell, check in (("bash", in_bash), ("zsh", in_zsh), ("fish", in_fish)):
            script = pathlib.Path(folder, "_mgsync" if shell == "zsh" else shell)  # as zsh finds it
            script.write_text(ask(program, "completion", shell))
            if not shutil.which(shell):
                print(f"no {shell} here: nothing was typed there")
                continue
            check(program, folder)
            print(f"{shell} completes")
    refused = subprocess.run([program, "completion", "tcsh"], capture_output=True, text=True, timeout=60, check=False)
    assert refused.returncode == 2 and "accepted: bash, zsh, fish" in refused.stderr, refused


if __name__ == "__main__":
    main()
