"""Reads the results that mgsync writes.

    import mgsync
    table = mgsync.read("here.json", "sweep.jsonl", "other.json.xz")
    for row in table.where(members=2, status="measured"):
        print(row.name, row.shape, row.latency.median, row.latency.unit)
    frame = table.to_pandas()          # a row a point; needs pandas

What the fields mean stands in docs/results.md of mgsync.
"""
from .documents import Damaged, NotResults, Unknown
from .table import Metric, Quantity, Row, Table, Verdict, read

__all__ = ["Damaged", "Metric", "NotResults", "Quantity", "Row", "Table", "Unknown", "Verdict", "read"]
__version__ = "0.1.0"
