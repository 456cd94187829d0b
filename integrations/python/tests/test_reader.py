#!/usr/bin/env python3
"""The reader against what mgsync itself says of the same files.

Usage: test_reader.py MGSYNC ROOT. MGSYNC: the program; ROOT: the project's folder. Needs pandas for one test, which is left out without.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

MGSYNC, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / "integrations/python"))
import mgsync  # noqa: E402

RESULTS = ROOT / "docs/results"
DOCUMENT, PACKED = RESULTS / "h200x2/barriers.json.xz", RESULTS / "h200x2/switch.json.xz"


def run(*words):
    return subprocess.run([MGSYNC, *map(str, words)], capture_output=True, text=True, timeout=300, check=False)


class Reader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def same_as_csv(self, file):
        """Every cell of Row.flat() that mgsync's CSV has too, figures to the last digit."""
        table = mgsync.read(file)
        done = run("merge", file, "--csv", self.folder / "all.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(self.folder / "all.csv", newline="", encoding="utf-8") as text:
            rows = list(csv.DictReader(text))
        self.assertEqual(len(rows), len(table))
        compared = 0
        for row, wanted in zip(table, rows):
            for name, cell in row.flat().items():
                if name not in wanted or cell is None or isinstance(cell, bool):
                    continue
                if isinstance(cell, str):
                    self.assertEqual(cell, wanted[name], name)
                else:
                    self.assertAlmostEqual(float(wanted[name]), float(cell), delta=1e-9 * abs(cell), msg=name)
                compared += 1
        return compared

    def test_documents_say_what_mgsync_says(self):
        self.assertGreater(self.same_as_csv(DOCUMENT), 1000)
        self.assertGreater(self.same_as_csv(PACKED), 1000)

    def test_rows_have_names_shapes_metrics_and_samples(self):
        rows = mgsync.read(DOCUMENT).where(subject="multigrid", variant="library", members=2, shape="1x32", load="idle")
        self.assertEqual(len(rows), 1)
        row = rows[0]
        self.assertEqual((row.name, row.shape, row.device, row.status), ("multigrid:library", "1x32", "gpu", "measured"))
        self.assertTrue(row.latency.low <= row.latency.median <= row.latency.high)
        self.assertTrue(row.latency.has_interval and row.verdict.passed and row.verdict.rounds >= 1000)
        self.assertIs(row.first_metric, row.latency)
        self.assertEqual(len(row.samples["latency"]), row.latency.samples)
        self.assertEqual({len(column) for column in row.samples.values()}, {row.latency.samples})
        waived = mgsync.read(DOCUMENT).where(status="waived")
        self.assertTrue(all(one.reason and one.latency is None for one in waived))

    def test_numbers_beside_the_metrics_are_numbers(self):
        # What mgsync writes anew of an older file, which holds the clock as a word.
        again = self.folder / "again.json"
        done = run("merge", RESULTS / "h200x1/verify.json.xz", "--json", again)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = [row for row in mgsync.read(again) if row.quantities]
        self.assertGreater(len(rows), 3)
        for row in rows:
            self.assertEqual(row.quantities["clock"].unit, "MHz")
            self.assertTrue(500 < row.flat()["clock_MHz"] < 5000)
        self.assertGreater(self.same_as_csv(again), 100)

    def measured_store(self):
        store, document = self.folder / "s.jsonl", self.folder / "s.json"
        done = run("--device", "host", "--members", "2", "--backend", "openmp,multigrid:central", "--max-time", "60ms", "--check-rounds", "200",
                   "--oversubscribe", "--store", store, "--json", document)
        self.assertEqual(done.returncode, 0, done.stderr)
        return store, document

    def test_a_store_says_what_its_document_says(self):
        store, document = self.measured_store()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            from_store, from_document = mgsync.read(store), mgsync.read(document)
        key = lambda row: row.name  # noqa: E731
        for one, other in zip(sorted(from_store, key=key), sorted(from_document, key=key)):
            self.assertEqual(one.metrics, other.metrics)
            self.assertEqual((one.name, one.axes, one.verdict, one.status), (other.name, other.axes, other.verdict, other.status))
            self.assertEqual(one.samples["latency"], other.samples["latency"])

    def test_damaged_lines_are_told(self):
        store, _ = self.measured_store()
        lines = store.read_text().splitlines()
        at = next(i for i, line in enumerate(lines) if '"t":"result"' in line)
        lines[at] = lines[at].replace('"passed":true', '"passed":frue')
        store.write_text("\n".join(lines) + "\n")
        with self.assertWarnsRegex(mgsync.Damaged, f"1 of {len(lines)} lines are damaged.*line {at + 1}"):
            table = mgsync.read(store)
        self.assertIn("interrupted", [row.status for row in table])

    def test_other_files_are_refused_with_a_sentence(self):
        cases = {"a.json": ('{"schema": "x"}', "accepted: 'mgsync-results/2'"), "b.json": ("hello", "no results of mgsync"),
                 "c.json": ('{"schema": "mgsync-results/1"}', "accepted: 'mgsync-results/2'"), "d.json.xz": ("no xz", "no results of mgsync"),
                 "e.json": ("[]", "accepted"), "f.json": ("", "no results of mgsync")}
        for name, (text, expected) in cases.items():
            (self.folder / name).write_text(text)
            with self.assertRaisesRegex(mgsync.NotResults, expected, msg=name):
                mgsync.read(self.folder / name)

    def test_of_a_file_that_does_not_tell_what_its_barriers_order_it_warns(self):
        with self.assertWarnsRegex(mgsync.Unknown, "barriers.json.xz: it does not say .*mgsync merge"):
            mgsync.read(RESULTS / "h200x4" / "barriers.json.xz")

    def test_every_committed_file_is_read(self):
        files = sorted(RESULTS.glob("*/*.json.xz"))
        read = 0
        for file in files:
            try:
                table = mgsync.read(file)
            except mgsync.NotResults as why:
                self.assertRegex(str(why), "mgsync merge|accepted")
                continue
            read += 1
            self.assertTrue(all(row.study for row in table), file)
        self.assertGreater(read, 20)

    def test_what_orders_less_says_so(self):
        table = mgsync.read(RESULTS / "h200x2/barriers.json.xz").where(members=2, shape="1x32")
        less = {row.name for row in table if row.orders_less}
        self.assertIn("multigrid:library-none", less)
        self.assertIn("nccl:stream", less)
        self.assertFalse(less & {"multigrid:library", "multigrid:vendor", "openmp:runtime"})
        self.assertFalse(any(row.orders_less for row in mgsync.read(RESULTS / "h200x4/library-before.json.xz")))

    def test_what_means_little_says_why(self):
        table = mgsync.read(RESULTS / "h200x1/pipeline-wgmma.json.xz", RESULTS / "h200x2/barriers.json.xz")
        doubted = [row for row in table if row.doubts]
        self.assertTrue(doubted and len(doubted) < len(table))
        self.assertTrue(all(row.flat()["doubts"] == "; ".join(row.doubts) for row in table))

    def test_the_page_s_example_runs(self):
        page = (ROOT / "integrations/python/README.md").read_text()
        example = page.split("```python\n", 1)[1].split("```", 1)[0]
        done = subprocess.run([sys.executable, "-c", example], cwd=ROOT, capture_output=True, text=True, timeout=300, check=False,
                              env={"PYTHONPATH": str(ROOT / "integrations/python"), "PATH": "/usr/bin:/bin"})
        self.assertEqual(done.returncode, 0, done.stderr)
        printed = page.split("```text\n", 1)[1].split("```", 1)[0]
        self.assertEqual(done.stdout, printed)

    def test_reader_and_program_have_one_version(self):
        self.assertIn(f"mgsync {mgsync.__version__} ", run("--version").stdout)

    def test_a_data_frame_has_the_same_figures(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not here")
        table = mgsync.read(DOCUMENT)
        frame = table.to_pandas()
        self.assertEqual(len(frame), len(table))
        self.assertEqual(frame["latency_us"].dropna().tolist(), [row.latency.median for row in table if row.latency])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
