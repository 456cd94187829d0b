"""Results as rows that can be filtered, and as a data frame."""
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional

from .documents import document_in


@dataclass(frozen=True)
class Metric:
    """A figure: the median over the batches' medians. Values have the unit `unit`; a number that was not finite is None.

    `low` and `high` bound the median with probability `confidence`; of fewer than six batches that is less than 0.95, and of one
    batch it is 0: then there is no interval. `batches` are the medians of the batches, the unit of replication.
    """
    unit: str
    better: str  # "less", "more", or "neither": of what was set, or comes to a value of its own
    median: Optional[float]
    low: Optional[float]
    high: Optional[float]
    confidence: float
    min: Optional[float]
    max: Optional[float]
    samples: int
    batches: List[Optional[float]] = field(default_factory=list)

    @property
    def has_interval(self):
        """Whether low and high say where the median lies: with one batch nothing does."""
        return self.confidence > 0 and self.low is not None


@dataclass(frozen=True)
class Verdict:
    """What shows that the figures mean something: `kind` says how ("rounds", "sum", "code", ...)."""
    kind: str = "unchecked"
    passed: bool = False
    scope: str = "all"
    rounds: int = 0
    violations: int = 0
    details: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Quantity:
    """A number that was told beside the metrics, or several in their order."""
    unit: str
    values: List[Optional[float]]


@dataclass(frozen=True)
class Row:
    """One point: what was asked, and what came of it."""
    study: str
    subject: str
    variant: str
    device: str      # "host" or "gpu"
    members: int
    ranks: int
    placement: str
    node: str        # the host, where each node was measured by itself; else empty
    axes: Dict[str, Any]
    status: str      # "measured", "waived", "failed", "error", "interrupted"
    reason: str      # why it was not measured
    verdict: Verdict
    metrics: Dict[str, Metric]
    quantities: Dict[str, Quantity]  # what was told in numbers beside the metrics; empty in older files
    samples: Dict[str, List[Optional[float]]]  # columns of equal length, in the order of measuring
    notes: List[str]
    doubts: List[str]  # why the figures mean little: a busy machine, a GPU slowed by heat or power; empty: nothing speaks against them
    machine: Dict[str, Any] = field(repr=False)
    facts: Dict[str, Any] = field(default_factory=dict, repr=False)  # what a barrier is; empty in older files
    file: str = ""

    @property
    def name(self):
        """"multigrid:library"; a study's subject without variants: "launch"."""
        return f"{self.subject}:{self.variant}" if self.variant else self.subject

    @property
    def orders_less(self):
        """Whether it joins not all of its members, or orders not all of memory, and so is not ranked among barriers. False where the file
        does not tell."""
        return bool(self.facts) and (self.facts["extent"] != "everything" or self.facts["order"] not in ("both", "inside nodes"))

    @property
    def shape(self):
        """"1x32", "b1x32"; of host members the threads of each, "2"; empty without a shape."""
        threads = self.axes.get("threads_per_block")
        for axis, before in (("blocks", "b"), ("blocks_per_sm", "")):
            if axis in self.axes:
                blocks = f"{before}{self.axes[axis]:g}"
                return blocks if threads is None else f"{blocks}x{threads:g}"
        return ""

    @property
    def first_metric(self):
        """The one that decides who is best; None where nothing was measured."""
        return next(iter(self.metrics.values()), None)

    @property
    def latency(self):
        """Of barriers: microseconds that one more round takes. None where there is none."""
        return self.metrics.get("latency")

    def get(self, key):
        """A field, an axis or "shape" by its name; None where the row has none."""
        if key in self.axes:
            return self.axes[key]
        return getattr(self, key, None)

    def flat(self):
        """One value a column, by the names of mgsync's CSV files where those have them."""
        cells = {key: getattr(self, key) for key in ("study", "subject", "variant", "device", "members", "ranks", "shape", "placement", "node",
                                                     "status", "reason")}
        cells.update(self.axes)
        for name, metric in self.metrics.items():
            column = f"{name}_{metric.unit}" if metric.unit else name
            cells.update({column: metric.median, f"{column}_ci95_low": metric.low, f"{column}_ci95_high": metric.high,
                          f"{column}_confidence": metric.confidence, f"{column}_samples": metric.samples})
        cells.update({f"{name}_{one.unit}" if one.unit else name: one.values[0]
                      for name, one in self.quantities.items() if len(one.values) == 1})
        cells.update(verdict=self.verdict.kind, verdict_passed=self.verdict.passed, verdict_rounds=self.verdict.rounds or None,
                     host=self.machine.get("host"), mgsync=self.machine.get("mgsync"), notes="; ".join(self.notes), doubts="; ".join(self.doubts), file=self.file)
        return cells


class Table(list):
    """Rows, in the files' order."""

    def where(self, **wanted):
        """The rows whose fields or axes have these values: where(members=2, shape="1x32", load="idle")."""
        return Table(row for row in self if all(row.get(key) == value for key, value in wanted.items()))

    def to_pandas(self):
        """A data frame, a row a point, columns as Row.flat() has them. Needs pandas."""
        import pandas
        return pandas.DataFrame([row.flat() for row in self])


def _metric(of):
    return Metric(of["unit"], of["better"], of.get("median"), of.get("ci95_low"), of.get("ci95_high"), of.get("confidence") or 0.0,
                  of.get("min"), of.get("max"), of.get("samples", 0), of.get("raw", []))


def _verdict(of):
    known = ("kind", "passed", "scope", "rounds", "violations")
    return Verdict(**{key: of[key] for key in known if key in of}, details={key: value for key, value in of.items() if key not in known})


def _row(result, machine, file):
    asked = {key: result.get(key) for key in ("study", "subject", "variant", "device", "members", "ranks", "placement", "node")}
    return Row(**asked, axes={name: axis["value"] for name, axis in result["axes"].items()}, status=result["status"], reason=result["reason"],
               verdict=_verdict(result["verdict"]), metrics={name: _metric(one) for name, one in result["metrics"].items()},
               quantities={name: Quantity(one["unit"], one["values"]) for name, one in result.get("quantities", {}).items()},
               samples=result.get("samples") or {}, notes=result.get("notes", []),
               doubts=[one["text"] for one in result.get("doubts", [])], machine=machine, facts=result.get("facts") or {}, file=file)


def read(*files):
    """All points of these files, documents (.json, .json.xz) and stores (.jsonl), as a Table.

    Raises NotResults where a file is none of mgsync's, and warns with Damaged where lines of a store are.
    """
    table = Table()
    for file in files:
        document = document_in(file)
        table.extend(_row(result, document["machine"], str(file)) for result in document["results"])
    return table
