"""Mutants: small wrongs planted in the sources, each of which a test must notice.

  mutants.py check                 each applies exactly once (quick: CI's package.mutants_apply)
  mutants.py run WORK [NAME ...]   plants each in a copy of the committed sources under WORK, builds the target that it names,
                                   runs its test, and says killed or survived; WORK/verdicts.tsv has a line for each, and
                                   what was killed by that commit's tests is not tried again
"""
import datetime
import os
import pathlib
import re
import subprocess
import sys
import time

folder = pathlib.Path(__file__).resolve().parent
root = folder.parent.parent


def read(file):
    head, _, rest = file.read_text().partition("--- old\n")
    old, _, new = rest.partition("--- new\n")
    mutant = dict(line.split(": ", 1) for line in head.splitlines())
    return {"name": file.stem, "build": "host", "old": old.rstrip("\n"), "new": new.rstrip("\n")} | mutant


def planted(mutant, text):
    """The sources with it; nothing where the old text does not stand there once. Layout does not count."""
    words = r"\s*".join(re.escape(word) for word in re.findall(r"\w+|[^\w\s]", mutant["old"]))
    found = list(re.finditer(words, text))
    if len(found) != 1:
        return None
    return text[:found[0].start()] + mutant["new"] + text[found[0].end():]


def check(mutants):
    wrong = 0
    for mutant in mutants:
        file = root / mutant["file"]
        if not file.exists() or planted(mutant, file.read_text()) is None:
            print(f"tests/mutants/{mutant['name']}.mutant: its old text does not stand exactly once in {mutant['file']}: "
                  "give it the text that has taken its place")
            wrong += 1
    print(f"{len(mutants) - wrong} of {len(mutants)} mutants apply")
    return 1 if wrong or len(mutants) < 51 else 0


def configure(sources, build, kind):
    if build.exists():
        return
    own = [str(sources), "--preset", "host", "-DCMAKE_UNITY_BUILD=OFF", "-DMGSYNC_TESTS=ON",
           "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"]
    if kind == "library":
        own = [str(sources / "barriers/library"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run(["cmake", "-S", own[0], "-B", str(build), *own[1:]], check=True, stdout=subprocess.DEVNULL)


def built(build, target):
    return subprocess.run(["cmake", "--build", str(build), "--target", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def failing(build, test):
    """The first test that fails, empty where all pass."""
    ran = subprocess.run(["ctest", "--test-dir", str(build), "-R", test, "--no-tests=error", "--stop-on-failure"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = re.search(r"Test +#\d+: (\S+) .*\*\*\*", ran.stdout)
    return "" if ran.returncode == 0 else failed.group(1) if failed else "no test ran"


def copied(work):
    """The committed sources under WORK, as they are now, and their commit."""
    sources = work / "sources"
    here = subprocess.run(["git", "-C", str(root), "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
    if not sources.exists():
        subprocess.run(["git", "clone", "--quiet", "--no-checkout", str(root), str(sources)], check=True)
    for words in (["fetch", "--quiet", str(root), here], ["checkout", "--quiet", "--force", here]):
        subprocess.run(["git", "-C", str(sources), *words], check=True)
    return sources, here[:9]


def tried(mutant, sources, sound):
    """The word for it, and the test that failed."""
    file, build = sources / mutant["file"], sources / "build" / ("mutants-" + mutant["build"])
    text, wanted = file.read_text(), (mutant["build"], mutant["target"], mutant["test"])
    changed = planted(mutant, text)
    if changed is None:
        return "does not apply", ""
    configure(sources, build, mutant["build"])
    if wanted not in sound:
        if not built(build, mutant["target"]):
            return "no verdict", "without it the target does not build"
        failed = failing(build, mutant["test"])
        if failed:
            return "no verdict", f"without it {failed} fails"
        sound.add(wanted)
    try:
        file.write_text(changed)
        if not built(build, mutant["target"]):
            return "no verdict", "it does not compile"
        failed = failing(build, mutant["test"])
        return ("killed", failed) if failed else ("survived", "")
    finally:
        file.write_text(text)
        os.utime(file)


def run(mutants, work):
    sources, commit = copied(work)
    verdicts, done, sound = work / "verdicts.tsv", {}, set()
    for line in verdicts.read_text().splitlines() if verdicts.exists() else []:
        name, word, _, at, _, _ = line.split("\t")
        done[name] = word if at == commit else ""
    words = {}
    for mutant in sorted(mutants, key=lambda m: (m["build"], m["target"], m["test"], m["name"])):
        name, began = mutant["name"], time.monotonic()
        if done.get(name) == "killed":
            words[name] = "killed"
            continue
        words[name], failed = tried(mutant, sources, sound)
        seconds = f"{time.monotonic() - began:.0f}"
        with verdicts.open("a") as file:
            print(name, words[name], failed, commit, datetime.date.today(), seconds, sep="\t", file=file)
        print(f"{words[name]:14} {name:48} {failed} ({seconds} s)", flush=True)
    killed = sum(word == "killed" for word in words.values())
    print(f"{killed} of {len(words)} killed")
    return 0 if killed == len(words) else 1


def main(words):
    mutants = [read(file) for file in sorted(folder.glob("*.mutant"))]
    if words[:1] == ["check"]:
        return check(mutants)
    if words[:1] == ["run"] and len(words) > 1:
        named = set(words[2:])
        return run([m for m in mutants if not named or m["name"] in named], pathlib.Path(words[1]).resolve())
    print(__doc__)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
