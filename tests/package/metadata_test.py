#!/usr/bin/env python3
"""What stands in packages and recipes agrees with the build: the version everywhere, options that exist, dependencies by the names
of cmake/packages.txt. The Spack recipe is run against a stand-in that notes its directives.

Usage: metadata_test.py SOURCE_TREE
"""
import json
import pathlib
import re
import sys
import types

try:
    import yaml
except ImportError:
    print("PyYAML is not installed")
    sys.exit(77)

root = pathlib.Path(sys.argv[1])
faults = []


def check(holds, sentence):
    if not holds:
        faults.append(sentence)


build = (root / "CMakeLists.txt").read_text()
version = re.search(r"project\(mgsync VERSION ([\d.]+)", build).group(1)
options = set(re.findall(r"^(?:set|option)\((MGSYNC_\w+)", build, re.M))
for file in (root / "cmake").glob("*.cmake"):
    options |= set(re.findall(r"set\((MGSYNC_\w+) .*CACHE", file.read_text()))
named = {"spack": set(), "conda": set()}
for line in (root / "cmake/packages.txt").read_text().splitlines():
    if line and not line.startswith("#"):
        _, _, spack, conda = (word.strip() for word in line.split("|"))
        named["spack"].add(spack)
        named["conda"].add(conda)

# The version, everywhere.
citation = yaml.safe_load((root / "CITATION.cff").read_text())
recipe_text = (root / "integrations/conda/recipe.yaml").read_text()
recipe = yaml.safe_load(recipe_text)
others = {
    "CITATION.cff": str(citation["version"]),
    "integrations/python/pyproject.toml":
        re.search(r'^version = "(.*)"', (root / "integrations/python/pyproject.toml").read_text(), re.M).group(1),
    "integrations/conda/recipe.yaml": str(recipe["context"]["version"]),
    "CHANGELOG.md": re.search(r"^## (\d+\.\d+\.\d+)", (root / "CHANGELOG.md").read_text(), re.M).group(1),
}
for file, found in others.items():
    check(found == version, f"{file} says version {found}, CMakeLists.txt {version}")
for key in ("cff-version", "message", "title", "authors"):
    check(key in citation, f"CITATION.cff has no {key}, which the format requires")

# conda: names of packages.txt, options of the build; nothing of the format's own misspelt.
known = {"schema_version", "context", "package", "source", "build", "requirements", "tests", "about"}
check(set(recipe) <= known, f"recipe.yaml has keys that the format has not: {set(recipe) - known}")
for part in ("build", "host", "run"):
    for what in recipe["requirements"][part]:
        name = what.split()[0]
        check(name.startswith("${{") or name in named["conda"], f"recipe.yaml: {name} is not in cmake/packages.txt for conda-forge")
for option in re.findall(r"-D(MGSYNC_\w+)=", recipe_text):
    check(option in options, f"recipe.yaml sets {option}, which the build does not have")

# Spack: its directives, noted by a stand-in.
seen = {"depends_on": [], "variant": {}, "version": [], "defines": []}
stand_in = types.ModuleType("spack.package")


class Base:
    def define_from_variant(self, option, variant):
        seen["defines"].append((option, variant))
        return f"-D{option}"

    def define(self, option, value):
        seen["defines"].append((option, None))
        return f"-D{option}"


class Spec:
    variants = {"cuda_arch": types.SimpleNamespace(value=("90",))}

    def satisfies(self, _):
        return True


stand_in.CMakePackage = type("CMakePackage", (Base,), {})
stand_in.CudaPackage = type("CudaPackage", (), {})  # brings +cuda and cuda_arch
stand_in.depends_on = lambda what, **more: seen["depends_on"].append((what, more.get("when", "")))
stand_in.variant = lambda name, **more: seen["variant"].update({name: more})
stand_in.version = lambda name, **more: seen["version"].append(name)
stand_in.conflicts = stand_in.generator = lambda *words, **more: None
sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), stand_in
namespace = {}
exec(compile((root / "integrations/spack/packages/mgsync/package.py").read_text(), "package.py", "exec"), namespace)
package = namespace["Mgsync"]()
package.spec = Spec()
package.cmake_args()
check(version in seen["version"], f"Spack's recipe has no version {version}")
virtual = {"c", "cxx", "mpi", "cuda", "nccl"}  # of Spack's own, or of the vendor
for what, when in seen["depends_on"]:
    name = re.split(r"[@+]", what)[0]
    bases = {re.split(r"[@+]", one)[0] for one in named["spack"]}
    check(name in virtual or name in bases, f"Spack's recipe depends on {name}, which is not in cmake/packages.txt for Spack")
    for variant in re.findall(r"\+(\w+)", when):
        check(variant in seen["variant"] or variant == "cuda", f"Spack's recipe: {what} needs +{variant}, which is no variant")
for option, variant in seen["defines"]:
    check(option in options, f"Spack's recipe sets {option}, which the build does not have")
    check(variant in (None, "cuda") or variant in seen["variant"], f"Spack's recipe: {option} follows {variant}, which is no variant")

# The image: files and presets that exist.
image = (root / "integrations/containers/Containerfile").read_text()
presets = {one["name"] for one in json.loads((root / "CMakePresets.json").read_text())["configurePresets"]}
for preset in re.findall(r"PRESET=(\w+)", image):
    check(preset in presets, f"Containerfile: {preset} is no preset")
for script in re.findall(r"bash (\S+\.sh)", image):
    check((root / script).exists(), f"Containerfile runs {script}, which is not there")

print("\n".join(faults) if faults else f"version {version}: all of them agree")
sys.exit(bool(faults))
