#!/usr/bin/env python3
"""Nothing keys on the name of a backend, a variant or a study outside of its own folder: facts say what it is.

Names are read from the records in barriers/<folder>/*.cpp and src/studies/<folder>/*.cpp. Found are, outside of the folder
that declares them: strings with "backend:variant"; the names of backends and of studies compared with, looked for or begun
with (==, !=, starts_with, ends_with, contains, find) beside a subject, variant, study, backend or name; and variants so
beside a variant. Words alone are no finding: "warp" is a place, and "graph" a kind of launch.

Usage: subject_names.py ROOT. Prints every such string, and exits with 1 when there is one.
"""
import pathlib
import re
import sys

# File and name, and why it may stand there.
EXCEPTIONS = {
    ("src/studies/timeline/timeline.cpp", "multigrid:auto"): "the default of an axis, which --help shows",
}
RECORD = re.compile(r'const (?:backend|study) \w+_(backend|study)\{\s*(?:\.name = )?"([\w-]+)"')
VARIANT = re.compile(r'\{\s*\.name = "([\w-]+)"')
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
COMPARED = re.compile(r'(?P<what>[\w.()>\-\[\]]*(?:subject|variant|study|backend|name)\w*(?:\([^()]*\))?)\s*'
                      r'(?:==|!=|\.(?:starts_with|ends_with|contains|find)\()\s*(?:[\w:]+\()?"(?P<word>[^"\n]*)"')


def names_of(root):
    """(name of each backend and study: its folder), (the names of all variants: their backend's folder)."""
    owners, variants = {}, {}
    for top in ("barriers", "src/studies"):
        for path in sorted((root / top).glob("*/*.cpp")):
            text, folder = path.read_text(), path.parent.relative_to(root).as_posix() + "/"
            for kind, name in RECORD.findall(text):
                owners[(kind, name)] = folder
                if kind == "backend":
                    for variant in VARIANT.findall(text):
                        variants.setdefault(variant, set()).add(folder)
    return owners, variants


def found_in(path, text, owners, variants):
    """Each (line number, name) that stands where it should not."""
    text = re.sub(r"//[^\n]*", "", text)
    whole = {f"{name}:{variant}": folder for (kind, name), folder in owners.items() if kind == "backend"
             for variant in [*variants, "*"] if variant == "*" or folder in variants[variant]}

    def is_foreign(folder):
        return not path.startswith(folder)

    for number, line in enumerate(text.splitlines(), 1):
        for word in STRING.findall(line):
            if word in whole and is_foreign(whole[word]):
                yield number, word
    for match in COMPARED.finditer(text):
        what, word = match["what"], match["word"]
        number = text.count("\n", 0, match.start("word")) + 1
        of_study = (what.endswith("study") or "->name" in what or ".name" in what) and ("study", word) in owners
        of_backend = re.search(r"subject|backend", what) and ("backend", word) in owners
        folder = owners[("study", word)] if of_study else owners[("backend", word)] if of_backend else None
        if folder is not None and is_foreign(folder):
            yield number, word
        elif "variant" in what and word in variants and not path.startswith(("src/studies/model/", "src/studies/levels/")) and \
                all(is_foreign(home) for home in variants[word]):
            yield number, word


def self_test(owners, variants):
    """The rule must be able to fail."""
    bad = ('if (r.point.study == "launch") x();', 'if (p.subject == "kernel-boundary") x();', 'return p.subject != "warp";',
           'if (one.name == "multigrid:vendor") x();', 'return p.variant == "vendor";', 'p.subject.starts_with("nccl-device")',
           'if (one.of->name == "barriers") x();')
    for line in bad:
        assert list(found_in("src/app/x.cpp", line, owners, variants)), line
    assert not list(found_in("src/app/x.cpp", 'if (level == "warp") x("graph"); // r.point.study == "launch"', owners, variants))
    assert not list(found_in("src/studies/launch/x.cpp", 'if (r.point.study == "launch") x();', owners, variants))


def main():
    root = pathlib.Path(sys.argv[1])
    owners, variants = names_of(root)
    kinds = [kind for kind, _ in owners]
    assert kinds.count("backend") >= 12 and kinds.count("study") >= 8 and len(variants) >= 35, (owners, variants)
    self_test(owners, variants)
    errors, used, count = [], set(), 0
    for top in ("src", "topology", "barriers"):
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in (".hpp", ".cpp", ".cu", ".cuh", ".inc"):
                continue
            path, count = file.relative_to(root).as_posix(), count + 1
            for number, word in found_in(path, file.read_text(), owners, variants):
                if (path, word) in EXCEPTIONS:
                    used.add((path, word))
                else:
                    errors.append(f"{path}:{number}: \"{word}\" is named outside of its own folder; read facts instead "
                                  "(src/results/values/facts.hpp)")
    errors += [f"tests/package/subject_names.py: the exception {one} is needed no more" for one in EXCEPTIONS if one not in used]
    print("\n".join(errors) if errors else f"{count} files, {len(owners)} backends and studies, {len(variants)} variants: "
          "nothing keys on a name outside of its folder")
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
