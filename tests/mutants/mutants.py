"""Mutants: small wrongs planted in the sources, each of which a test must notice.

  mutants.py check                 each applies exactly once (quick: CI's package.mutants_apply)
  mutants.py run WORK [NAME ...]   plants each in a copy of the committed sources under WORK, builds the target that it names,
                                   runs its test, and says killed or survived
"""
import os
import pathlib
import re
import subprocess
import sys

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
    own = [str(sources), "-DMGSYNC_TESTS=ON", "-DMGSYNC_CUDA=OFF", "-DMGSYNC_NCCL=OFF", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
           "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"]
    if kind == "library":
        own = [str(sources / "barriers/library"), "-DCMAKE_BUILD_TYPE=Release"]
    subprocess.run(["cmake", "-S", own[0], "-B", str(build), "-G", "Ninja", *own[1:]], check=True, stdout=subprocess.DEVNULL)


def built(build, target):
    return subprocess.run(["cmake", "--build", str(build), "--target", target], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def passes(build, test):
    return subprocess.run(["ctest", "--test-dir", str(build), "-R", test, "--no-tests=error"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def run(mutants, work):
    sources = work / "sources"
    if not sources.exists():
        subprocess.run(["git", "clone", "--quiet", str(root), str(sources)], check=True)
    sound, words = set(), {}
    for mutant in mutants:
        file, build = sources / mutant["file"], work / mutant["build"]
        text, wanted = file.read_text(), (mutant["build"], mutant["target"], mutant["test"])
        configure(sources, build, mutant["build"])
        if wanted not in sound and not (built(build, mutant["target"]) and passes(build, mutant["test"])):
            word = "no verdict: without it the test does not pass"
        else:
            sound.add(wanted)
            changed = planted(mutant, text)
            if changed is None:
                word = "does not apply"
            else:
                try:
                    file.write_text(changed)
                    word = ("no verdict: it does not compile" if not built(build, mutant["target"])
                            else "survived" if passes(build, mutant["test"]) else "killed")
                finally:
                    file.write_text(text)
                    os.utime(file)
        words[mutant["name"]] = word
        print(f"{word:10} {mutant['name']:48} {mutant['test']}", flush=True)
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
