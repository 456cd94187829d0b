#!/usr/bin/env python3
"""What other people's node checks need of mgsync accept: the scripts that Slurm starts by itself, as it starts them; the NHC check,
the SuperBench plugin and the ReFrame test, each on the interface of the version that it names. Where Python has the real package it is used; else what stands here of it: the base
classes' attributes and the calls that they make, in their order. Usage: integrations_test.py MGSYNC SOURCES"""
import importlib.util
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import types

MGSYNC, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()

# Of NHC 1.4.3: die() logs, marks the node and ends the run with the code, dbg() says something where debugging is on.
NHC = """
function log() { echo "$*"; }
function dbg() { echo "DEBUG: $*"; }
function mark() { echo "offline: $*"; }
function die() {
  local RET=$1
  shift
  log "ERROR:  nhc:  Health check failed:  $*"
  eval mark "'$HOSTNAME'" "'$*'"
  exit "$RET"
}
"""


def program(name, text):
    file = work / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/bash\n{text}\n")
    file.chmod(0o755)
    return file


def stuck():
    """An mgsync that does not end when it is told to, and leaves a process that holds its stderr; and what it has written."""
    note = work / "stuck.note"
    note.unlink(missing_ok=True)
    return program("stuck", f"""setsid sleep 40 >/dev/null &
echo $$ $! >{note}
trap '' TERM
exec sleep 40"""), note


def end_stuck(note):
    for pid in map(int, note.read_text().split()):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def ran(script, *words, settings="", **environment):
    """A script of jobs/ as Slurm starts it: with an environment of its own, a process group, and a pipe that is read to its end."""
    (work / "mgsync.conf").write_text(settings)
    program("bin/scontrol", f'echo "$@" >>{work}/drained')
    (work / "drained").unlink(missing_ok=True)
    began = time.monotonic()
    process = subprocess.Popen([SOURCES / "jobs" / script, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               start_new_session=True, env={"MGSYNC_SETTINGS": str(work / "mgsync.conf"), **environment})
    return process, began


def ended(process, began, code, seconds=30):
    said = process.communicate(timeout=60)[0]
    assert process.returncode == code, (code, process.returncode, said)
    assert time.monotonic() - began < seconds, (time.monotonic() - began, said)
    drained = work / "drained"
    return said, drained.read_text() if drained.exists() else ""


def slurm():
    told = work / "told"
    sees = program("sees", f"""env >{told}
echo "$@" >>{told}
echo "a note" >&2
[ -z "$CUDA_VISIBLE_DEVICES" ] || {{ echo "This node is not normal, and was not measured: CUDA shows 2 of 8 GPUs"; exit 5; }}
echo "This node is normal: all" """)
    path = f"PATH={work}/bin:$PATH\n"
    # The job's GPUs are not the node's, and what Slurm does not hand on is in a file.
    job = {"SLURM_JOB_ID": "7", "SLURMD_NODENAME": "n9", "CUDA_VISIBLE_DEVICES": "0,1"}
    for script in ("accept-prolog.sh", "accept-drain.sh"):
        settings = f"{path}MGSYNC={sees}\nMGSYNC_BASELINE=/srv/good.json\nMGSYNC_REFERENCE=/srv/known\n"
        assert ended(*ran(script, settings=settings, **job), 0)[1] == "", script
        seen = told.read_text()
        assert "\nMGSYNC_REFERENCE=/srv/known\n" in "\n" + seen and re.search(r"(?m)^PATH=\S*/bin:", seen), (script, seen)
    assert seen.endswith("accept --against /srv/good.json\n"), seen
    # Slurm ends a health check, which it tells of no job, after a minute.
    settings = f"{path}MGSYNC={sees}\n"
    ended(*ran("accept-drain.sh", settings=settings, SLURMD_NODENAME="n9"), 0)
    assert told.read_text().endswith("accept --reference --within 30s\n"), told.read_text()
    ended(*ran("accept-drain.sh", settings=settings + "MGSYNC_WITHIN=20s\n", SLURMD_NODENAME="n9"), 0)
    assert told.read_text().endswith("accept --reference --within 20s\n"), told.read_text()
    real = shutil.which("timeout")
    for environment, seconds in (({}, 300), (job, 300), ({"SLURMD_NODENAME": "n9"}, 50)):
        program("bin/timeout", f'echo "$@" >{work}/limits; exec {real} "$@"')
        ended(*ran("accept-drain.sh", settings=settings, **environment), 0)
        assert f" {seconds} {sees} accept " in (work / "limits").read_text(), (environment, (work / "limits").read_text())
    (work / "bin/timeout").unlink()
    bad = program("bad", 'echo "This node is not normal: slow: GPU 3"; exit 5')
    out, drained = ended(*ran("accept-drain.sh", settings=f"{path}MGSYNC={bad}\n", **job), 5)
    assert drained == "update NodeName=n9 State=DRAIN Reason=mgsync: This node is not normal: slow: GPU 3\n", (out, drained)
    unknown = program("unknown", 'echo "mgsync: there is no reference" >&2; exit 2')
    out, drained = ended(*ran("accept-drain.sh", settings=f"{path}MGSYNC={unknown}\n", **job), 0)
    assert out == "n9: cannot be told (exit code 2): mgsync: there is no reference\n" and not drained, (out, drained)
    # What is stuck is ended, and keeps nobody waiting: nor does what it has started.
    program("bin/timeout", f'words=("$@"); for i in "${{!words[@]}}"; do [ "${{words[i]}}" != 30 ] || words[i]=1; done; exec {real} "${{words[@]}}"')
    for script in ("accept-prolog.sh", "accept-drain.sh"):
        file, note = stuck()
        assert ended(*ran(script, settings=f"{path}MGSYNC={file}\nMGSYNC_LIMIT=1\n", **job), 0, 20)[1] == "", script
        end_stuck(note)
    (work / "bin/timeout").unlink()
    # Slurm ends the script's process group, and with it mgsync.
    for script in ("accept-prolog.sh", "accept-drain.sh"):
        file, note = stuck()
        process, began = ran(script, settings=f"{path}MGSYNC={file}\n", **job)
        while not note.exists() or not note.read_text():
            assert time.monotonic() - began < 30, script
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=60)
        ours = int(note.read_text().split()[0])
        while is_alive(ours):
            assert time.monotonic() - began < 20, f"{script}: mgsync goes on"
            time.sleep(0.05)
        end_stuck(note)


def is_alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def nhc():
    broken = work / "broken.machine"
    machine = json.loads((SOURCES / "docs/results/h200x2/h200x2.machine").read_text())
    machine["links"][0]["width"] = 9
    broken.write_text(json.dumps(machine))

    def check(line, program_file=MGSYNC, more=""):
        script = f"{NHC}\n{more}\nMGSYNC={shlex.quote(str(program_file))}\n. {shlex.quote(str(SOURCES / 'integrations/nhc/mgsync.nhc'))}\n{line} && echo passed\n"
        return subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120, check=False)

    good = check(f"check_mgsync_look --topology {SOURCES}/docs/results/h200x2/h200x2.machine")
    assert good.returncode == 0 and good.stdout == "passed\n", good
    bad = check(f"check_mgsync_look --topology {broken}")
    assert bad.returncode == 1 and "failed:  check_mgsync_look:  This node is not normal, and was not measured: GPU 0 has 9" in bad.stdout, bad
    unknown = check(f"check_mgsync_look --topology {SOURCES}/tests/machines/dgx-h100.machine")
    assert unknown.returncode == 0 and "DEBUG: check_mgsync_look:  cannot be told (exit code 2)" in unknown.stdout, unknown
    # An apostrophe in the sentence does not keep the node from being marked.
    quoting = check("check_mgsync_look", program("quoting", """echo "This node is not normal: the GPU's clock is low"; exit 5"""))
    assert quoting.returncode == 1 and "\noffline: " in quoting.stdout and "the GPUs clock is low\n" in quoting.stdout, quoting
    # NHC fails a node whose check takes longer than NHC's own limit.
    for line in ("check_mgsync_look", "check_mgsync_accept"):
        file, note = stuck()
        began = time.monotonic()
        late = check(line, file, "MGSYNC_TIMEOUT=1")
        end_stuck(note)
        assert late.returncode == 0 and f"DEBUG: {line}:  cannot be told (exit code 137)" in late.stdout, late
        assert time.monotonic() - began < 20, late
    for line, seconds in (("check_mgsync_look", 20), ("check_mgsync_accept", 240)):
        told = check(line, more='function timeout() { echo "$*"; return 124; }').stdout
        assert re.search(rf"cannot be told \(exit code 124\): .*-k 5 {seconds} ", told), told


def node(code):
    """A program that says what mgsync accept said of a made-up node, with its exit code."""
    lines = work / "fleet.jsonl"
    if not lines.exists():
        subprocess.run([sys.executable, SOURCES / "tests/package/made_up_fleet.py", "16", "1", lines], capture_output=True, check=True)
    record = next(r for r in map(json.loads, lines.read_text().splitlines()) if r["exit_code"] == code)
    folder = work / f"bin-{code}"
    folder.mkdir(exist_ok=True)
    (folder / "record").write_text(json.dumps(record, separators=(",", ":")) + "\n")
    program = folder / "mgsync"
    program.write_text(f"""#!/bin/bash
file=-
for word; do [ "$last" = --line ] && file=$word; last=$word; done
if [ "$file" = - ]; then cat {folder}/record; else cat {folder}/record >>"$file"; fi
exit {code}
""")
    program.chmod(0o755)
    return folder, record


def module_of(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def has(name):
    return importlib.util.find_spec(name) is not None


def superbench_stub():
    """Of SuperBench 0.11 and 0.12: what micro_base.py and the registry do around a plugin of a program."""
    import argparse

    class Result:
        def __init__(self):
            self.result, self.raw_data, self.return_code = {}, {}, 0

        def add_raw_data(self, metric, value, log_raw_data):
            self.raw_data.setdefault(metric, []).append(value)

        def add_result(self, metric, value):
            assert isinstance(value, (int, float)), (metric, value)
            self.result.setdefault(metric, []).append(value)

        def set_return_code(self, code):
            self.return_code = code

    class MicroBenchmarkWithInvoke:
        def __init__(self, name, parameters=""):
            self._name, self._argv, self._curr_run_index = name, parameters.split(), 0
            self._commands, self._bin_name, self._result = [], None, Result()
            self._parser = argparse.ArgumentParser(add_help=False)

        def add_parser_arguments(self):
            self._parser.add_argument("--bin_dir", type=str, default=None)
            self._parser.add_argument("--log_raw_data", action="store_true", default=False)
            self._parser.add_argument("--log_flushing", action="store_true", default=False)

        def _preprocess(self):
            self.add_parser_arguments()
            self._args = self._parser.parse_args(self._argv)
            self._args.bin_dir = self._args.bin_dir or os.path.join(os.environ.get("SB_MICRO_PATH", ""), "bin")
            return os.path.exists(os.path.join(self._args.bin_dir, self._bin_name))

        def run(self):
            if not self._preprocess():
                return False
            for index, command in enumerate(self._commands):
                flushing = self._args.log_flushing  # as run_command: then the words are started without a shell
                done = subprocess.run(shlex.split(command) if flushing else command, shell=not flushing, cwd=self._args.bin_dir,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
                if done.returncode != 0:
                    self._result.set_return_code("MICROBENCHMARK_EXECUTION_FAILURE")
                    return False
                if not self._process_raw_result(index, done.stdout):
                    return False
            return True

    registered = {}

    class BenchmarkRegistry:
        @staticmethod
        def register_benchmark(name, class_def, parameters="", platform=None):
            registered[name] = class_def

    modules = {"superbench": {}, "superbench.benchmarks": {
        "BenchmarkRegistry": BenchmarkRegistry, "Platform": types.SimpleNamespace(CUDA="CUDA"),
        "ReturnCode": types.SimpleNamespace(MICROBENCHMARK_RESULT_PARSING_FAILURE=33)},
        "superbench.benchmarks.micro_benchmarks": {"MicroBenchmarkWithInvoke": MicroBenchmarkWithInvoke}, "superbench.common": {},
        "superbench.common.utils": {"logger": types.SimpleNamespace(error=lambda *words: None)}}
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)
    return registered


def superbench():
    registered = superbench_stub() if not has("superbench") else None
    plugin = module_of(SOURCES / "integrations/superbench/mgsync_accept.py").MgsyncAccept
    assert registered is None or registered == {"mgsync-accept": plugin}
    for code, more in ((0, ""), (5, ""), (5, " --log_flushing")):
        folder, record = node(code)
        benchmark = plugin("mgsync-accept", parameters=f"--bin_dir {folder} --device host{more}")
        assert benchmark.run(), "a verdict is no failed run"
        result = benchmark._result.result
        assert result["exit_code"] == [code], result
        over = {name: values for name, values in result.items() if name.endswith("_over_limit")}
        assert len(over) == len(record["points"]) and all(re.fullmatch(r"[a-z0-9_]+", name) for name in over), over
        assert any(values[0] > 1 for values in over.values()) == (code == 5), over
    assert "gpu_0_multigrid_auto_4x256_us" in result, result
    # The rule that the plugin's text names flags what is not normal, also where nothing was measured, and nothing else.
    text = (SOURCES / "integrations/superbench/mgsync_accept.py").read_text()
    rule, metric = eval(re.search(r'criteria: "(.*)"', text)[1]), re.search(r"metrics: \[mgsync-accept/(.*)\]", text)[1]
    for code in (0, 3, 4, 5):
        folder = work / f"judged-{code}"
        record = {"schema": "mgsync-accept/1", "exit_code": code, "findings": [], "points": [
            {"part": "GPU 0", "subject": "grid:auto", "shape": "1x32", "us": 2, "times": 9, "limit": 3}] if code == 4 else []}
        program(f"judged-{code}/mgsync", f"echo {shlex.quote(json.dumps(record, separators=(',', ':')))}\nexit {code}")
        benchmark = plugin("mgsync-accept", parameters=f"--bin_dir {folder}")
        assert benchmark.run()
        values = [v for name, all_of in benchmark._result.result.items() if re.search(metric, name) for v in all_of]
        assert any(map(rule, values)) == (code in (3, 5)), (code, values)
    nothing = work / "nothing"
    nothing.mkdir()
    (nothing / "mgsync").write_text("#!/bin/bash\nexit 2\n")
    (nothing / "mgsync").chmod(0o755)
    assert not plugin("mgsync-accept", parameters=f"--bin_dir {nothing}").run(), "wrong use is a failed run"


def reframe_stub():
    """Of ReFrame 4: variables, hooks by stage, and deferred sanity and performance functions."""
    class SanityError(Exception):
        pass

    def variable(*_types, value=None):
        return value

    def run_before(stage):
        def mark(function):
            function.before = stage
            return function
        return mark

    def sanity_function(function):
        function.is_sanity = True
        return lambda self: (lambda: function(self)())  # deferred: evaluated by the runner

    def assert_eq(a, b, msg=None):
        def evaluate():
            if a != b:
                raise SanityError(msg)
            return True
        return evaluate

    class RunOnlyRegressionTest:
        pass

    modules = {"reframe": {"simple_test": lambda cls: cls, "RunOnlyRegressionTest": RunOnlyRegressionTest}, "reframe.utility": {},
               "reframe.utility.sanity": {"assert_eq": assert_eq, "defer": lambda x: x,
                                          "make_performance_function": lambda func, unit, *args, **kwargs: (func, unit)},
               "reframe.core": {}, "reframe.core.builtins": {"variable": variable, "run_before": run_before, "sanity_function": sanity_function}}
    for name, members in modules.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(members)
    sys.modules["reframe.utility"].sanity = sys.modules["reframe.utility.sanity"]
    return SanityError


def real_reframe():
    site = work / "site.py"
    site.write_text("""site_configuration = {
    'systems': [{'name': 'here', 'hostnames': ['.*'], 'partitions': [
        {'name': 'node', 'scheduler': 'local', 'launcher': 'local', 'environs': ['any'], 'processor': {'num_cpus': 1}}]}],
    'environments': [{'name': 'any'}], 'general': [{'remote_detect': False}]}
""")
    for code in (0, 5):
        folder, record = node(code)
        words = ["-C", site, "-c", SOURCES / "integrations/reframe/mgsync_accept.py", "-S", f"mgsync={folder}/mgsync", "-r",
                 "--performance-report", "--nocolor"]
        done = subprocess.run([sys.executable, "-c", "from reframe.frontend.cli import main; main()", *words], cwd=work, timeout=300,
                              capture_output=True, text=True, check=False)
        said = done.stdout + done.stderr
        assert (done.returncode == 0) == (code == 0), said
        wanted = "GPU_0_multigrid_auto_4x256" if code == 0 else f"sanity error: {record['sentence']}"
        assert wanted in said, said


def reframe():
    if has("reframe"):
        return real_reframe()
    error = reframe_stub()
    test_class = module_of(SOURCES / "integrations/reframe/mgsync_accept.py").mgsync_accept
    for code in (0, 5):
        folder, record = node(code)
        test = test_class()
        test.mgsync, test.stagedir = str(folder / "mgsync"), str(work / f"stage-{code}")
        os.mkdir(test.stagedir)
        assert test.set_command.before == "run" and test.name_points.before == "performance"
        test.set_command()
        subprocess.run([test.executable, *test.executable_opts], cwd=test.stagedir, check=False, timeout=60)
        deferred = test.node_is_normal()
        try:
            assert deferred() and code == 0
        except error as sentence:
            assert code == 5 and str(sentence) == record["sentence"], sentence
        test.name_points()
        assert len(test.perf_variables) == len(record["points"]), test.perf_variables
        assert test.perf_variables["GPU_0_multigrid_auto_4x256"] == (record["points"][0]["us"], "us")


with tempfile.TemporaryDirectory() as folder_name:
    work = pathlib.Path(folder_name)
    slurm()
    nhc()
    superbench()
    reframe()
    print("Slurm, NHC, SuperBench and ReFrame get the verdict and the points")
