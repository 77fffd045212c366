"""From words on the command line to a question: which options it takes, and what the configuration fills in."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from leastnoise.apps.public_values import Options, public_bins, public_keys, read_numbers
from leastnoise.errors import BadParameter
from leastnoise.model.labels import unknown_label

if TYPE_CHECKING:
    from leastnoise.apps.config import DatasetSettings
    from leastnoise.release import Dataset, Query

__all__ = ["QUESTIONS", "make_question"]


@dataclass(frozen=True)
class _Question:
    """A question: what its columns are for, which options it takes, and how it is asked."""

    columns: str
    takes: frozenset[str]
    ask: Callable[[_Asked], Query]
    example: str


@dataclass(frozen=True)
class _Asked:
    """A question being put together."""

    dataset: Dataset
    settings: DatasetSettings | None
    columns: tuple[str, ...]
    options: Options
    name: str
    unknown_keys: bool

    @property
    def column(self) -> str:
        """The one column that it is about."""
        return self.columns[0]

    def breakdown(self, by: Sequence[str], public: bool = True) -> dict[str, Any]:
        """The arguments by, keys and bins; `public` where keys can't be left to be found out."""
        kinds, options = self.dataset.columns, self.options
        if not by:
            if options.keys or options.key or options.keys_from or options.bins:
                raise BadParameter(
                    "keys and bins are those of a column to break down by, and none is named", fix="add --by COLUMN"
                )
            return {}
        keys = public_keys(kinds, self.settings, self.options, by)
        bins = public_bins(kinds, self.settings, self.options, by)
        bare = [name for name in by if name not in keys and name not in bins and kinds[name] != "boolean"]
        if bare and (public or keys or bins or not self.unknown_keys):
            numeric = kinds[bare[0]] in ("integer", "real", "decimal")
            raise BadParameter(
                f"which values of {bare[0]} to show is not said, and it must not be taken from the data",
                fix=f"add --keys {bare[0]}=A,B,C or --keys-from {bare[0]}=FILE"
                + (f", or --bins {bare[0]}=0,10,20" if numeric else "")
                + ("" if public else ", or --delta 1e-6 to find them out"),
            )
        return {"by": list(by), "keys": keys or None, "bins": bins or None}

    def scale(self, column: str) -> dict[str, Any]:
        """The arguments bounds and step."""
        settings, given = self.settings, self.options.bounds
        known = {} if settings is None else settings.bounds
        bounds = read_numbers(given, "--bounds") if given is not None else known.get(column)
        if bounds is None:
            hint = f"; the configuration has bounds for {', '.join(known)}" if known else ""
            raise BadParameter(
                f"the bounds of {column} are missing{hint}",
                fix=f"add public ones, not taken from the data, for example: {self.name} {column} --bounds 0,100",
            )
        step = self.options.step
        if step is None and settings is not None:
            step = settings.steps.get(column)
        return {"bounds": tuple(bounds), "step": step}

    @property
    def rest(self) -> dict[str, Any]:
        """The argument where, and of where it was said."""
        of = {} if self.options.of is None else {"of": self.options.of}
        return {"where": self.options.where, **of}


def make_question(
    dataset: Dataset,
    settings: DatasetSettings | None,
    question: str,
    columns: Sequence[str],
    options: Options,
    unknown_keys: bool,
) -> Query:
    """The question that was asked.

    Args:
        dataset: The opened table.
        settings: What the configuration says about it.
        question: One of `QUESTIONS`.
        columns: The columns that it is about.
        options: What else was said.
        unknown_keys: Whether keys may be left to be found out, which needs a δ.

    Raises:
        BadParameter: No such question, an option that it does not take, or one that is missing.
        UnknownLabel: There is no such question, or no such column.
    """
    if question not in QUESTIONS:
        raise unknown_label(question, QUESTIONS, "question")
    asked = QUESTIONS[question]
    for item in fields(options):
        if getattr(options, item.name) not in (None, (), []) and item.name not in asked.takes:
            flag = f"--{item.name.replace('_', '-')}"
            raise BadParameter(f"{question} takes no {flag}", fix=f"leave it out: {asked.example}")
    for column in (*columns, *options.by):
        if column not in dataset.columns:
            raise unknown_label(column, dataset.columns, "column")
    wanted = asked.columns
    if (wanted == "none" and columns) or (wanted == "one" and len(columns) != 1) or (wanted == "some" and not columns):
        raise BadParameter(
            f"{question} is asked about {wanted.replace('none', 'no')} column{'s' if wanted == 'some' else ''}",
            given=" ".join(columns) or "none",
            fix=f"write for example: {asked.example}",
        )
    return asked.ask(_Asked(dataset, settings, tuple(columns), options, question, unknown_keys))


def _count(asked: _Asked) -> Query:
    return asked.dataset.count(**asked.breakdown(asked.options.by, public=False), **asked.rest)


def _sum(asked: _Asked) -> Query:
    return asked.dataset.sum(
        asked.column, **asked.scale(asked.column), **asked.breakdown(asked.options.by, public=False), **asked.rest
    )


def _moment(name: str) -> Callable[[_Asked], Query]:
    def ask(asked: _Asked) -> Query:
        found: Query = getattr(asked.dataset, name)(
            asked.column,
            **asked.scale(asked.column),
            **asked.breakdown(asked.options.by, public=name != "mean"),
            **asked.rest,
            expected_rows=asked.options.expected_rows,
        )
        return found

    return ask


def _quantile(asked: _Asked) -> Query:
    levels = list(asked.options.level) or ["1/2"]
    wanted = levels[0] if len(levels) == 1 else levels
    return asked.dataset.quantile(
        asked.column,
        wanted,
        **asked.scale(asked.column),
        **asked.breakdown(asked.options.by),
        **asked.rest,
        expected_rows=asked.options.expected_rows,
    )


def _most_common(asked: _Asked) -> Query:
    top = 1 if asked.options.top is None else asked.options.top
    return asked.dataset.most_common(top, **asked.breakdown(asked.columns, public=False), **asked.rest)


def _choose(asked: _Asked) -> Query:
    named: dict[str, str] = {}
    for text in asked.options.option:
        found = re.fullmatch(r"\s*([\w -]+?)\s*:\s+(.+)", text, re.DOTALL)
        name, condition = (found[1], found[2]) if found else (text, text)
        named[name] = condition
    if len(named) < 2:
        raise BadParameter(
            "choose needs at least two options",
            given=len(named),
            fix=f"write for example: {QUESTIONS[asked.name].example}",
        )
    return asked.dataset.choose(named, **asked.rest)


def _workload(matrix: str) -> Callable[[_Asked], Query]:
    return lambda asked: asked.dataset.workload(matrix, **asked.breakdown(asked.columns), **asked.rest)


def _tables(asked: _Asked) -> Query:
    return asked.dataset.tables(**asked.breakdown(asked.columns), **asked.rest)


def _decision(asked: _Asked) -> Query:
    return asked.dataset.decision(asked.options.at_least, **asked.breakdown(asked.columns), **asked.rest)


def _sorted_counts(asked: _Asked) -> Query:
    if asked.options.total is None:
        raise BadParameter(
            "a public guess of the number of units is missing",
            fix=f"write for example: {QUESTIONS[asked.name].example}",
        )
    top = 100 if asked.options.top is None else asked.options.top
    return asked.dataset.sorted_counts(asked.columns, asked.options.total, top, **asked.rest)


_GROUPS = frozenset({"keys", "key", "keys_from", "bins", "where"})
_SCALE = frozenset({"bounds", "step", "where"})
_RANKS = _GROUPS | _SCALE | {"by", "expected_rows"}
QUESTIONS: Mapping[str, _Question] = {
    "count": _Question("none", _GROUPS | {"by", "of"}, _count, "count --by city --keys Bonn,Ulm"),
    "sum": _Question("one", _GROUPS | _SCALE | {"by"}, _sum, "sum salary --bounds 0,200000"),
    "mean": _Question(
        "one", _GROUPS | _SCALE | {"by", "expected_rows"}, _moment("mean"), "mean salary --bounds 0,200000"
    ),
    "variance": _Question(
        "one", _GROUPS | _SCALE | {"by", "expected_rows"}, _moment("variance"), "variance salary --bounds 0,200000"
    ),
    "median": _Question("one", _RANKS, _quantile, "median salary --bounds 0,200000"),
    "quantile": _Question("one", _RANKS | {"level"}, _quantile, "quantile salary --level 0.9 --bounds 0,200000"),
    "most-common": _Question("some", _GROUPS | {"of", "top"}, _most_common, "most-common city --top 5 --keys Bonn,Ulm"),
    "choose": _Question(
        "none", frozenset({"option", "where"}), _choose, 'choose --option "young: age < 30" --option "old: age >= 30"'
    ),
    "ranges": _Question("some", _GROUPS | {"of"}, _workload("ranges"), "ranges age --bins 0,18,65,120"),
    "prefix-sums": _Question("some", _GROUPS | {"of"}, _workload("prefix sums"), "prefix-sums age --bins 0,18,65,120"),
    "tables": _Question("some", _GROUPS | {"of"}, _tables, "tables city sex --keys city=Bonn,Ulm --keys sex=f,m"),
    "decision": _Question(
        "any", _GROUPS | {"of", "at_least"}, _decision, "decision --at-least 100, or decision party --keys red,blue"
    ),
    "sorted-counts": _Question(
        "some", frozenset({"top", "total", "where"}), _sorted_counts, "sorted-counts password --total 100000 --top 50"
    ),
}
