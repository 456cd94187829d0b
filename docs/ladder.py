"""The ladder of bounds of docs/memory-order.md: `ladder library` and `ladder backends` of docs/draw.py.

Drawn from memory-order.csv, whose rows tests/order/ladder.sh writes: a rung each of a form that ships, with what was
asked and answered, and a row for each weakened twin.
"""
import csv
import pathlib

FILE = pathlib.Path(__file__).resolve().parent / "results/host2/memory-order.csv"
OF_BACKEND = "_rounds"  # how the kernels of tests/order/backends.cu are called


def rungs(of_backends):
    """{(form, rung): (its row, [rows of its twins])}, in the file's order."""
    found = {}
    with FILE.open(newline="") as file:
        for row in csv.DictReader(file):
            if row["form"].endswith(OF_BACKEND) == of_backends and row["architecture"] == "90":
                own, twins = found.setdefault((row["form"], row["rung"]), ([], []))
                (twins if row["twin"] else own).append(row)
    return sorted(found.items(), key=lambda one: one[0][0] if of_backends else "")


def table(which):
    lines = ["| form | rung | GPUs x blocks x threads | events | answered | something stale | CPU s | twins caught |",
             "|---|---|---|---|---|---|---|---|"]
    for (form, rung), (own, twins) in rungs(which == "backends"):
        first = (own or twins)[0]
        bound = " x ".join(first[key] for key in ("gpus", "blocks", "threads"))
        asked = ["", "", "", ""]
        if own:
            row = own[-1]
            stale = {"never stale": "never", "stale": "yes"}.get(row["answer"], "not in what was answered")
            asked = [row["events"], f"{row['answered']} of {row['questions']}", stale, row["cpu_seconds"]]
        caught = sum(row["answer"] == "caught" for row in twins)
        lines.append("| " + " | ".join([form.removesuffix(OF_BACKEND).replace("_", "-"), rung.replace("_", "-"), bound, *asked,
                                        f"{caught} of {len(twins)}" if twins else ""]) + " |")
    return "\n".join(lines)
