#!/usr/bin/env python3
"""Draws a barrier's rounds on two host members, the second 20 us later than the first, and looks at what came of it.

Usage: timeline_test.py MGSYNC. Leaves with 77 where this machine has no two processors for it.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def overlaps(trace):
    """Tracks of which events overlap; the number of events."""
    ends, wrong, events = {}, set(), 0
    for event in trace["traceEvents"]:
        if event["ph"] != "X":
            continue
        events += 1
        track = event["tid"]
        if event["ts"] < ends.get(track, float("-inf")) - 1e-7:
            wrong.add(track)
        ends[track] = event["ts"] + event["dur"]
    return wrong, events


RECORDING = {"unit": "ns", "worker_word": "warp", "workers": ["block 0 warp 0", "block 0 warp 1"], "uncertainty": 0,
             "kinds": [{"name": "load begins"}, {"name": "load ends", "since": 0, "bar": "load"}],
             "events": [[0, 0, 0, 0, 100, 0, 5], [40, 0, 1, 0, 140, 0, 5], [10, 1, 0, 0, 110, 0, 5], [70, 1, 1, 0, 170, 0, 5]]}


def draws_a_recording(mgsync, folder):
    """A recording alone is a page, and sentences and tables; what no page of it can be is refused."""
    def report(*words):
        return subprocess.run([mgsync, "report", folder / "recording.json", *words], capture_output=True, text=True, timeout=60, check=False)
    (folder / "recording.json").write_text(json.dumps(RECORDING))
    page = report("--html", "-").stdout
    assert page.startswith("<!doctype html>") and page.count("<svg") == 1 and "</html>" in page, page[:500]
    assert "What happened when: recording.json" in page and "How long each took, in ns" in page and page.count("mg-mark") >= 2
    text = report().stdout
    assert "4 stamps of 2 warps within 70 ns." in text and "  load      2    50.0      40.0     60.0     100" in text, text
    for refused in (["--markdown", "-"], ["--html", f"{folder}/pages/"]):
        assert report(*refused).returncode == 2 and "accepted: " in report(*refused).stderr, refused


def main():
    # The reader can fail.
    assert overlaps({"traceEvents": [{"ph": "X", "tid": 0, "ts": 0, "dur": 2}, {"ph": "X", "tid": 0, "ts": 1, "dur": 2}]})[0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        draws_a_recording(sys.argv[1], folder)
        words = [sys.argv[1], "study", "timeline", "--device", "host", "--late", "20", "--rounds", "3",
                 "--timeout", "120s",  # beside many other programs a round takes their time slices
                 "--json", str(folder / "all.json"), "--figures", str(folder / "figures")]
        run = subprocess.run(words, capture_output=True, text=True, timeout=280)
        print(run.stdout, run.stderr)
        results = json.loads((folder / "all.json").read_text())["results"]
        on = next(r for r in results if r["axes"].get("recorder", {}).get("value") == "on")
        if on["status"] == "waived":
            print("skipped:", on["reason"])
            return 77
        assert run.returncode == 0 and on["status"] == "measured", on
        assert on["verdict"]["passed"] and on["verdict"]["control_flagged"] and on["verdict"]["rounds"] > 0, on["verdict"]
        kept = {a["name"]: a["content"] for a in on["attachments"]}
        assert set(kept) == {"recording.json", "table.txt", "trace.json", "timeline.svg"}, list(kept)
        recording = json.loads(kept["recording.json"])
        assert len(recording["events"]) == 2 * 2 * 3 and recording["uncertainty"] > 0, recording
        wrong, events = overlaps(json.loads(kept["trace.json"]))
        assert not wrong and events == 2 * 2 * 3, (wrong, events)
        picture = xml.etree.ElementTree.fromstring(kept["timeline.svg"])
        assert sum("mg-mark" in (node.get("class") or "") for node in picture.iter()) == 2 * 2 * 3
        assert "ARRIVES" in kept["table.txt"] and "LEAVES" in kept["table.txt"]
        assert "came last" in run.stdout and "ns with the recorder and" in run.stdout, run.stdout
        written = sorted(f.name for f in (folder / "figures").iterdir())
        assert len(written) == 4 and any(f.endswith(".trace.json") for f in written), written
    print("drawn, and what was drawn is what was recorded")
    return 0


if __name__ == "__main__":
    sys.exit(main())
