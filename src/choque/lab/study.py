"""Studies: one file that declares factors, metrics, claims and figures; the laboratory does the rest.

The whole of a study::

    STUDY = Study(
        name="sorting",
        title="Which sort for nearly sorted numbers?",
        about="Numbers with a few exchanges, sorted by two algorithms.",
        factors=(
            Factor("n", (1_000, 10_000, 100_000), quick=(1_000, 10_000)),
            Factor("method", ("timsort", "radix")),
            Factor("seed", range(3)),
        ),
        metrics=(Metric("sort", "s", "seconds to sort"),),
    )

    @STUDY.trial
    def prepare(parameters, scratch):
        return Sorting(**parameters)                # a choque.lab.Trial: what is timed, and how it is checked

    @STUDY.claim("nearly-sorted", source="A paper, table 2", printed="timsort is twice as fast")
    def nearly_sorted(result):
        ratio = result.ratio("radix", "timsort", n=100_000)
        return found(ratio.lower > 1.5, ratio)

    @STUDY.figure("growth", "Time by n")
    def growth(result):
        return figures.curves(result, panels="seed")
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choque.errors import ChoqueError, InvalidInput, UnknownName
from choque.lab.claims import Claim, Finding, Judge
from choque.lab.design import Design, Factor, Level, Parameters, code_version
from choque.lab.records import Row
from choque.lab.sampling import Plan
from choque.lab.trial import Trial

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from choque.lab.result import Result

Prepare = Callable[[Parameters, Path | None], Trial]
Draw = Callable[["Result"], "Figure"]


@dataclass(frozen=True)
class Metric:
    """A figure of merit, computed from one sample; the first of a study is what it ranks by."""

    name: str
    unit: str
    title: str
    of: Callable[[Row], float | None] | None = None
    """Function of a row of samples that gives the value; None takes the column of that name."""

    def value(self, row: Row) -> float | None:
        """Return the metric of one sample; None where it has none."""
        try:
            value = row.get(self.name) if self.of is None else self.of(row)
            return None if value is None else float(value)
        except Exception as problem:
            raise ChoqueError(
                f"The metric {self.name!r} cannot be had from a sample: {type(problem).__name__}: {problem}; "
                "correct the study."
            ) from problem


@dataclass(frozen=True)
class FigureMaker:
    """A figure of the report."""

    name: str
    title: str
    caption: str
    draw: Draw | None
    """Function that draws it; None for one that is kept as it was drawn."""


@dataclass(eq=False)
class Study:
    """A question, the cells that are measured to answer it, and the claims about them."""

    name: str
    title: str
    about: str
    """A paragraph for the top of the report."""
    factors: Sequence[Factor]
    metrics: Sequence[Metric]
    compares: str = "method"
    """The factor whose levels are ranked against each other."""
    selector: str | None = None
    """A level of it that chooses among the others, and is compared head to head; see `choque.lab.head_to_head`.

    One that only chooses gives the chosen level as the fact ``chosen``."""
    within: float = 0.15
    """A choice within this share of the best is a good one."""
    grows: str | None = "n"
    """The factor along which work grows; where a level is cut off, larger ones are not tried."""
    instance: Sequence[str] = ("seed",)
    """Factors that only distinguish instances, such as seeds; samples are paired on them."""
    regions: Sequence[str] = ()
    """Numeric columns that place a cell on the performance map; without any there is no map."""
    region_weights: Callable[[], Mapping[str, float]] = dict
    """Weight of a decade of each; 1 unless given."""
    plan: Plan = field(default_factory=Plan)
    quick_plan: Plan = field(default_factory=lambda: Plan(minimum=3, maximum=10, precision=0.1, budget=1.0, limit=20.0))
    listed: Callable[[Mapping[str, Sequence[Level]], bool], Iterable[Parameters]] | None = None
    """Function of the levels of a run, and whether it is quick, that gives cells beside the full factorial."""
    exclude: Callable[[Parameters], bool] | None = None
    """Returns whether a cell of the full factorial is left out."""
    kernels: Callable[[Mapping[str, Sequence[Level]]], Iterable[Parameters]] | None = None
    """Function of the levels of a run that gives small work calling every kernel: done before the first cell, so
    that no cell has to compile within its time limit."""
    copies: int = 0
    """For a study of many short cells with `kernels`: cells that are measured by copies of one process before another
    one is started. 0 starts the process of every cell of a full run from nothing; see `choque.lab.ready`."""
    version: int = 1
    """Increase it when cells measure something different."""
    origin: str = ""
    """The file it was read from, for a study that is not among the built-in ones."""
    claims: list[tuple[Claim, Judge]] = field(default_factory=list, init=False, repr=False)
    figures: list[FigureMaker] = field(default_factory=list, init=False, repr=False)
    _prepare: Prepare | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        names = [factor.name for factor in self.factors]
        for name in (self.compares, *([self.grows] if self.grows else []), *self.instance):
            if name not in names:
                raise UnknownName(f"factor of the study {self.name!r}", name, names)
        if not self.metrics:
            raise InvalidInput(f"The study {self.name!r} has no metric; declare at least one.")

    # What a study's file says with decorators

    def trial(self, function: Prepare) -> Prepare:
        """Register the function that turns parameters, and a folder to keep scenes in, into a trial."""
        self._prepare = function
        return function

    def claim(self, id: str, *, source: str, printed: str) -> Callable[[Judge], Judge]:  # noqa: A002
        """Register the function that judges a claim."""

        def register(function: Judge) -> Judge:
            if any(claim.id == id for claim, _ in self.claims):
                raise InvalidInput(f"The study {self.name!r} has two claims called {id!r}; rename one.")
            self.claims.append((Claim(id, source, printed), function))
            return function

        return register

    def figure(self, name: str, title: str, caption: str = "") -> Callable[[Draw], Draw]:
        """Register the function that draws a figure."""

        def register(function: Draw) -> Draw:
            self.figures.append(FigureMaker(name, title, caption, function))
            return function

        return register

    # For the laboratory

    @property
    def metric(self) -> Metric:
        """The metric that the study ranks by."""
        return self.metrics[0]

    def prepare(self, parameters: Parameters, scratch: Path | None = None) -> Trial:
        """Make the trial of a cell."""
        if self._prepare is None:
            raise ChoqueError(
                f"The study {self.name!r} does not say what to measure; mark a function with @STUDY.trial."
            )
        return self._prepare(parameters, scratch)

    def levels(
        self, *, quick: bool = False, peers: Sequence[str] = (), wanted: Mapping[str, Sequence[Level]] | None = None
    ) -> dict[str, list[Level]]:
        """Return the levels of each factor in a run, those ``wanted`` in place of the declared ones."""
        chosen = {factor.name: factor.chosen(quick) for factor in self.factors}
        for name, levels in (wanted or {}).items():
            factor = next((each for each in self.factors if each.name == name), None)
            if factor is None:
                raise UnknownName("factor", name, chosen)
            chosen[name] = factor.accept(levels)
        for factor in self.factors:
            if factor.takes_peers:
                chosen[factor.name] = list(dict.fromkeys([*chosen[factor.name], *peers]))
        return chosen

    def design(
        self,
        levels: Mapping[str, Sequence[Level]],
        *,
        quick: bool = False,
        with_listed: bool = True,
        plan: Plan,
        threads: int = 1,
        seed: int = 0,
        fraction: float = 1.0,
    ) -> Design:
        """Return the cells of a run; plan and threads are part of what is measured, and so of the keys."""
        salt = f"{self.name} {self.version} {code_version()} {sorted(plan.to_json().items())} {threads}"
        listed = list(self.listed(levels, quick)) if self.listed and with_listed else []
        return Design(levels, listed, self.exclude, salt, seed, fraction, self.compares, self.instance)

    def to_json(self) -> dict[str, Any]:
        """Return what a worker, or a later session, needs to find the study again."""
        return {"name": self.name, "origin": self.origin, "version": self.version}

    def declaration(self) -> dict[str, Any]:
        """Return all that is read of a finished run without the code of its study; see `declared`."""
        plain = {name: getattr(self, name) for name in ("title", "about", *_DECLARED)}
        lists = {"instance": list(self.instance), "regions": list(self.regions)}
        return {
            **plain,
            **lists,
            "factors": [factor.name for factor in self.factors],
            "metrics": [{"name": each.name, "unit": each.unit, "title": each.title} for each in self.metrics],
            "region_weights": dict(self.region_weights()),
            "figures": [{"name": each.name, "title": each.title, "caption": each.caption} for each in self.figures],
        }


_DECLARED = ("compares", "selector", "within", "grows")


def declared(record: Mapping[str, Any]) -> Study:
    """Return the study of a run from its record alone: no code is loaded.

    Metrics are columns of the samples, claims have the verdicts of the record, figures stay as they were drawn, and
    no cell can be measured. Raises `ValueError`, `TypeError` or `LookupError` where the record is damaged.
    """
    reference, about = record["study"], record["declaration"]
    weights = {str(name): float(weight) for name, weight in about["region_weights"].items()}
    study = Study(
        name=reference["name"],
        version=reference["version"],
        origin=reference["origin"],
        title=str(about["title"]),
        about=str(about["about"]),
        factors=[Factor(str(name), record["levels"].get(name, ())) for name in about["factors"]],
        metrics=[Metric(str(each["name"]), str(each["unit"]), str(each["title"])) for each in about["metrics"]],
        compares=str(about["compares"]),
        selector=_word(about["selector"]),
        within=float(about["within"]),
        grows=_word(about["grows"]),
        instance=[str(name) for name in about["instance"]],
        regions=[str(name) for name in about["regions"]],
        region_weights=lambda: weights,
    )
    study.figures += [
        FigureMaker(str(each["name"]), str(each["title"]), str(each["caption"]), None) for each in about["figures"]
    ]
    study.claims += [_recorded(each) for each in record.get("claims", ())]
    return study


def _word(value: object) -> str | None:
    return None if value is None else str(value)


def _recorded(row: Mapping[str, Any]) -> tuple[Claim, Judge]:
    """Return a claim of a record, with a function that gives it the verdict of the record."""
    interval = row["interval"] and (float(row["interval"][0]), float(row["interval"][1]))
    finding = Finding(row["verdict"], _word(row["measured"]), interval, str(row["note"]))
    return Claim(str(row["id"]), str(row["source"]), str(row["printed"])), lambda _: finding
