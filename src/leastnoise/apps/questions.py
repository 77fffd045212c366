"""From words on the command line to a question: which options it takes, and what the configuration fills in.

A question of the command line is a method of `Dataset`. Its options are the parameters of that method, so that none is
ever ignored: what the method does not take is refused. `tests/house/test_questions.py` holds the two together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any

from leastnoise.apps.public_values import Options, public_bins, public_keys, public_places, read_list, read_numbers
from leastnoise.errors import BadParameter
from leastnoise.model import unknown_label
from leastnoise.release import Dataset

if TYPE_CHECKING:
    from leastnoise.release import Batch, Query
    from leastnoise.release.configuration import DatasetSettings

__all__ = ["OPTIONS_OF", "QUESTIONS", "Question", "make_question", "takes"]

OPTIONS_OF: Mapping[str, tuple[str, ...]] = {  # the options of a parameter that is not called like its option
    "keys": ("keys", "key", "keys_from"),
    "levels": ("level",),
    "k": ("top",),
    "options": ("option",),
    "names": ("name",),
    "nodes": ("keys", "key", "keys_from"),
}


@dataclass(frozen=True)
class Question:
    """A question: the method it asks, what the words after it are for, and what is fixed.

    Attributes:
        method: Of `Dataset`.
        example: How it is written.
        words: The parameters that the words after the question fill: one each, or all of them the last.
        several: How many words there must be at least, where all of them are for one parameter; None: one for each.
        fixed: Parameters that the name of the question says.
        lists: Whether its one word may be a list of columns, which are asked about under one price.
    """

    method: str
    example: str
    words: tuple[str, ...] = ()
    several: int | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    lists: bool = False


_FINDS_KEYS = ("count", "sum", "mean", "most-common")  # whose keys need not be listed, with a δ
_NO_COLUMN = ("condition", "levels")
_VALUES = "salary --bounds 0,200000"
QUESTIONS: Mapping[str, Question] = {
    "count": Question("count", "count --by city --keys Bonn,Ulm"),
    "count-distinct": Question("count_distinct", "count-distinct city --groups-per-unit 2", ("column",)),
    "sum": Question("sum", f"sum {_VALUES}", ("column",)),
    "mean": Question("mean", f"mean {_VALUES}", ("column",), lists=True),
    "proportion": Question("proportion", 'proportion "age >= 65" --by city --keys Bonn,Ulm', ("condition",)),
    "ratio": Question("ratio", "ratio pay hours --bounds pay=0,9000 --bounds hours=0,60", ("numerator", "denominator")),
    "variance": Question("variance", f"variance {_VALUES}", ("column",)),
    "deviation": Question("deviation", f"deviation {_VALUES}", ("column",)),
    "median": Question("median", f"median {_VALUES}", ("column",)),
    "quantile": Question("quantile", f"quantile {_VALUES} --level 0.1,0.9", ("column",)),
    "min": Question("min", f"min {_VALUES}", ("column",)),
    "max": Question("max", f"max {_VALUES}", ("column",)),
    "most-common": Question("most_common", "most-common city --top 5 --keys Bonn,Ulm", ("by",), 1),
    "choose": Question("choose", 'choose --option "young: age < 30" --option "old: age >= 30"', ("by",), 0),
    "ranges": Question("workload", "ranges age --bins 0,18,65,120", ("by",), 1, {"matrix": "ranges"}),
    "prefix-sums": Question("workload", "prefix-sums age --bins 0,18,65,120", ("by",), 1, {"matrix": "prefix sums"}),
    "workload": Question("workload", "workload sex --keys f,m --matrix 1,1 --matrix 1,-1", ("by",), 1),
    "tables": Question("tables", "tables city sex --keys city=Bonn,Ulm --keys sex=f,m", ("by",), 1),
    "hierarchy": Question(
        "hierarchy", "hierarchy region city --tree North,Kiel --tree South,Ulm --tree South,Bonn", ("levels",), 1
    ),
    "decision": Question("decision", "decision --at-least 100, or decision party --keys red,blue", ("by",), 0),
    "design": Question("design", "design city --keys Bonn,Ulm --at-most 3 --prior 8,4,2,1", ("by",), 0),
    **{
        answer: Question(
            "graph", f"{answer} caller callee --keys-from nodes.txt", ("tail", "head"), fixed={"answer": answer}
        )
        for answer in ("edges", "degrees", "components", "triangles", "cut", "cover")
    },
    "facilities": Question("facilities", "facilities city --top 3 --places cities.csv", ("by",), 1),
    "sorted-counts": Question("sorted_counts", "sorted-counts password --total 100000 --top 50", ("by",), 1),
}


@cache
def _parameters(question: str) -> Mapping[str, Parameter]:
    """The parameters that options fill."""
    asked = QUESTIONS[question]
    found = signature(getattr(Dataset, asked.method)).parameters
    return {
        name: found[name] for name in found if name != "self" and name not in asked.words and name not in asked.fixed
    }


@cache
def takes(question: str) -> frozenset[str]:
    """The options that a question takes."""
    return frozenset(option for name in _parameters(question) for option in OPTIONS_OF.get(name, (name,)))


def make_question(
    dataset: Dataset,
    settings: DatasetSettings | None,
    question: str,
    columns: Sequence[str],
    options: Options,
    unknown_keys: bool,
) -> Query | Batch:
    """The question that was asked.

    Args:
        dataset: The opened table.
        settings: What the configuration says about it.
        question: One of `QUESTIONS`.
        columns: The words after it: the columns that it is about, or a condition.
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
        if getattr(options, item.name) not in (None, (), []) and item.name not in takes(question):
            flag = f"--{item.name.replace('_', '-')}"
            raise BadParameter(f"{question} takes no {flag}", fix=f"leave it out: {asked.example}")
    if asked.lists:
        columns = [name for word in columns for name in ([word] if word in dataset.columns else read_list([word]))]
    several_columns = asked.lists and len(columns) > 1
    by = tuple(columns) if asked.words == ("by",) else tuple(read_list(options.by))
    words: dict[str, Any] = {} if asked.words == ("by",) else dict(zip(asked.words, columns, strict=False))
    if asked.words == ("levels",) or several_columns:
        words = {asked.words[0]: list(columns)}
    named = columns if several_columns else [word for role, word in words.items() if role not in _NO_COLUMN]
    for name in (*by, *named):
        if name not in dataset.columns:
            raise unknown_label(name, dataset.columns, "column")
    fits = len(columns) == len(asked.words) if asked.several is None else len(columns) >= asked.several
    fits = fits or several_columns
    if not fits:
        wanted = "columns" if asked.several else " and a ".join(asked.words) or "nothing"
        raise BadParameter(
            f"{question} is asked about {wanted if asked.several or not asked.words else f'a {wanted}'}",
            given=" ".join(columns) or "none",
            fix=f"write for example: {asked.example}",
        )
    if options.interval_confidence is not None and options.interval_share is None:
        raise BadParameter(
            "no interval is asked for", given=options.interval_confidence, fix="add --interval-share 1/2"
        )
    asking = _Asking(dataset, settings, question, words, by, options, unknown_keys)
    found: Query | Batch = getattr(dataset, asked.method)(**asked.fixed, **words, **asking.arguments())
    return found


@dataclass(frozen=True)
class _Asking:
    """A question being put together."""

    dataset: Dataset
    settings: DatasetSettings | None
    question: str
    words: Mapping[str, Any]
    by: tuple[str, ...]
    options: Options
    unknown_keys: bool

    def arguments(self) -> dict[str, Any]:
        """What the options and the configuration say, by the names of the parameters; what they leave out is not."""
        names = _parameters(self.question)
        found = self._breakdown() if "keys" in names or QUESTIONS[self.question].words == ("by",) else {}
        found |= self._scales() if "bounds" in names else {}
        readers: dict[str, Callable[[], Any]] = {
            "levels": lambda: self._levels(),
            "k": lambda: self.options.top,
            "options": lambda: self._conditions(),
            "names": lambda: read_list(self.options.name),
            "grid": lambda: self._numbers(self.options.grid),
            "matrix": lambda: [read_list([row]) for row in self.options.matrix],
            "ways": lambda: self._ways(),
            "tree": lambda: [read_list([path]) for path in self.options.tree],
            "weights": lambda: self._by_answer_or_level(self.options.weights),
            "prior": lambda: self._numbers(self.options.prior),
            "targets": lambda: self._by_answer_or_level(self.options.targets),
            "nodes": lambda: self._nodes(),
            "places": lambda: self._places(),
            "opening": lambda: self._opening(),
        }
        for name, parameter in names.items():
            if name in found or name in ("by", "keys", "bins", "bounds", "step"):
                continue
            value = readers[name]() if name in readers else getattr(self.options, name)
            if value not in (None, (), [], {}):
                found[name] = value
            elif parameter.default is Parameter.empty:
                flag = f"--{OPTIONS_OF.get(name, (name,))[0].replace('_', '-')}"
                raise BadParameter(f"{flag} is missing", fix=f"write for example: {QUESTIONS[self.question].example}")
        return found

    def _breakdown(self) -> dict[str, Any]:
        """The arguments by, keys and bins."""
        kinds, options, by = self.dataset.columns, self.options, self.by
        if not by:
            if options.keys or options.key or options.keys_from or options.bins:
                raise BadParameter(
                    "keys and bins are those of a column to break down by, and none is named", fix="add --by COLUMN"
                )
            return {}
        if "keys" not in _parameters(self.question):
            listed = bool(options.bins) and "bins" in _parameters(self.question)
            return {"by": list(by), **({"bins": public_bins(kinds, self.settings, options, by)} if listed else {})}
        keys, bins = (read(kinds, self.settings, options, by) for read in (public_keys, public_bins))
        bare = [name for name in by if name not in keys and name not in bins and kinds[name] != "boolean"]
        may_find = self.question in _FINDS_KEYS
        if bare and (not may_find or keys or bins or not self.unknown_keys):
            numeric, timed = kinds[bare[0]] in ("integer", "real", "decimal"), kinds[bare[0]] in ("date", "timestamp")
            raise BadParameter(
                f"which values of {bare[0]} to show is not said, and it must not be taken from the data",
                fix=f"add --keys {bare[0]}=A,B,C or --keys-from {bare[0]}=FILE"
                + (f", or --bins {bare[0]}=0,10,20" if numeric else "")
                + (f', or --bins "{bare[0]}=months from 2026-01 to 2026-12"' if timed else "")
                + (", or --delta 1e-6 to find them out" if may_find else ""),
            )
        return {"by": list(by), "keys": keys or None, "bins": bins or None}

    def _scales(self) -> dict[str, Any]:
        """The arguments bounds and step: of one column, or of two as dicts."""
        summed = self.options.sum_of
        about = [self.words[name] for name in ("column", "numerator", "denominator") if name in self.words]
        listed = bool(about) and isinstance(about[0], list)
        about = (about[0] if listed else about) if summed is None else [summed]
        several = len(about) > 1
        about = [name for name in about if self.dataset.columns.get(name) != "boolean"]
        if not about or self.options.grid:
            return self._unscaled()
        bounds = {name: self._bounds(name, about) for name in about}
        steps = {name: step for name in about if (step := self._step(name, about)) is not None}
        if several:
            return {"bounds": bounds, "step": steps or None}
        return {"bounds": bounds[about[0]], "step": steps.get(about[0])}

    def _unscaled(self) -> dict[str, Any]:
        if self.options.bounds or self.options.step:
            raise BadParameter(
                "bounds and steps are those of a column of numbers, where no grid is given",
                fix="leave --bounds and --step out",
            )
        return {}

    def _bounds(self, column: str, about: list[str]) -> Any:
        known = {} if self.settings is None else self.settings.bounds
        given = _about(self.options.bounds, column, about, "--bounds")
        if given is not None:
            return given if given == "private" else tuple(read_numbers(given, "--bounds"))
        if column in known:
            return tuple(known[column])
        hint = f"; the configuration has bounds for {', '.join(known)}" if known else ""
        example = f"{column} --bounds 0,100" if len(about) == 1 else f"--bounds {column}=0,100"
        raise BadParameter(
            f"the bounds of {column} are missing{hint}",
            fix=f"add public ones, not taken from the data, for example: {self.question} {example}",
        )

    def _step(self, column: str, about: list[str]) -> Any:
        given = _about(self.options.step, column, about, "--step")
        return given if given is not None or self.settings is None else self.settings.steps.get(column)

    def _nodes(self) -> Any:
        """The keys of the first end of an edge, which are those of the other one."""
        end = self.words["tail"]
        return public_keys(self.dataset.columns, self.settings, self.options, (end,)).get(end)

    def _places(self) -> Any:
        """The keys of the one column, with the coordinates of each."""
        if self.options.places is None:
            return None
        if len(self.by) != 1:
            raise BadParameter("places are the keys of one column", given=", ".join(self.by), fix="name one column")
        return public_places(self.options.places, self.by[0], self.dataset.columns[self.by[0]])

    def _opening(self) -> Any:
        """One cost for all places, or one for each."""
        costs = self._numbers(self.options.opening)
        return costs[0] if len(costs) == 1 else costs

    def _levels(self) -> Any:
        levels = read_list(self.options.level)
        return levels[0] if len(levels) == 1 else levels

    def _numbers(self, texts: Sequence[str]) -> list[str]:
        return [number.strip() for number in read_list(texts)]

    def _by_answer_or_level(self, texts: Sequence[str]) -> Any:
        """One number for each answer, or by level: city=2."""
        said = self._numbers(texts)
        named = [text.partition("=") for text in said]
        return {name: weight for name, _, weight in named} if all(sign for _, sign, _ in named) else said

    def _ways(self) -> Any:
        """How many columns a table has, or the columns of each."""
        said = self.options.ways
        if len(said) == 1 and said[0].strip().isdecimal():
            return said[0]
        return [read_list([table]) if table.strip() else [] for table in said]

    def _conditions(self) -> dict[str, str]:
        named: dict[str, str] = {}
        for text in self.options.option:
            found = re.fullmatch(r"\s*([\w -]+?)\s*:\s+(.+)", text, re.DOTALL)
            name, condition = (found[1], found[2]) if found else (text, text)
            if name in named:
                raise BadParameter("two options have one name", given=name, fix="give each its own")
            named[name] = condition
        if len(named) < 2 and not self.by:
            raise BadParameter(
                "choose needs at least two options",
                given=len(named),
                fix=f"write for example: {QUESTIONS[self.question].example}",
            )
        return named


def _about(texts: Sequence[str], column: str, about: list[str], flag: str) -> str | None:
    """What was said about a column: `hours=0,60`, or without its name where there is only one."""
    found = None
    for text in texts:
        name, sign, rest = text.partition("=")
        if sign and name not in about:
            raise BadParameter(f"{flag} is about {name}, which is not asked about", given=text, fix="leave it out")
        if not sign and len(about) > 1:
            raise BadParameter(f"{flag} must say for which column", given=text, fix=f"write {flag} {column}={text}")
        if not sign or name == column:
            if found is not None:
                raise BadParameter(f"{flag} of {column} is given twice", given=text, fix="give it once")
            found = rest if sign else text
    return found
