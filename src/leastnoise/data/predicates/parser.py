"""Read a filter or an expression from text: a small part of SQL, and nothing beyond it.

    filter  = filter OR filter | filter AND filter | NOT filter | ( filter ) | TRUE | FALSE | boolean value
            | value (= | != | <> | < | <= | > | >=) value
            | value [NOT] IN (literal, …) | value [NOT] BETWEEN value AND value
            | value [NOT] LIKE 'start%' | '%end' | '%within%'
            | starts_with(value, 'text') | ends_with(value, 'text') | contains(value, 'text')
            | value IS [NOT] (MISSING | NULL | TRUE | FALSE)
    value   = column | "column" | literal | value (+ | - | * | /) value | value % literal | - value | ( value )
            | CASE WHEN filter THEN value … [ELSE value] END | CASE value WHEN value THEN value … END
            | if(filter, value, value) | CAST(value AS kind) | function(value, …) | EXTRACT(part FROM value)
    literal = 18 | 0.5 | 1e6 | 'text' | TRUE | FALSE | DATE '2024-01-31' | TIMESTAMP '2024-01-31 12:00:00'

sqlglot makes the tree (the grammar beside this file). Here each node of it becomes one of ours, or the text is refused
by the word that it may not have, with its place and what to write instead. A node counts only with the parts that are
read here: any other part that sqlglot may have found is refused, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeVar

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.expressions import Aggregate, Case, Cast, DatePart, Function, Truncated, Truth
from leastnoise.data.predicates.functions import DATE_PARTS, FUNCTIONS, TRUNCATIONS
from leastnoise.data.predicates.nodes import (
    KEYWORDS,
    And,
    Calculation,
    ComparisonTest,
    Constant,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Or,
    Predicate,
    Term,
    TextTest,
    read_literal,
    remainder,
)
from leastnoise.data.predicates.typecheck import Schema, typed, typed_term
from leastnoise.data.predicates.words import advice_for, one
from leastnoise.errors import BadFilter, UnknownColumn
from leastnoise.model import closest

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["ExpressionReader", "parse", "parse_aggregate", "parse_expression"]

Made = TypeVar("Made")

_COMPARISONS = {"EQ": "=", "NEQ": "!=", "LT": "<", "LTE": "<=", "GT": ">", "GTE": ">="}
_CALCULATIONS = {"Add": "+", "Sub": "-", "Mul": "*", "Div": "/", "Mod": "%"}
_TEXT_TESTS = ("starts_with", "ends_with", "contains")
_SYNONYMS = {"ifnull": "coalesce", "nvl": "coalesce", "iif": "if", "ceiling": "ceil", "len": "length",
             "char_length": "length", "btrim": "trim", "isodow": "weekday"}  # fmt: skip
_KINDS = {
    **dict.fromkeys(("INT", "BIGINT", "SMALLINT", "TINYINT"), "INTEGER"),
    **dict.fromkeys(("DOUBLE", "FLOAT"), "REAL"),
    **dict.fromkeys(("TEXT", "VARCHAR"), "TEXT"),
    **dict.fromkeys(("TIMESTAMP", "DATETIME", "TIMESTAMPNTZ"), "TIMESTAMP"),
    "DATE": "DATE",
}
"""From what sqlglot calls a type to the kind; whole numbers are of one kind, whatever their width."""
_NUMBER = re.compile(r"[0-9]+\.?[0-9]*(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER = 400
# What to write instead of nodes that are no words.
_NODES = {
    "DPipe": ("||", "list the texts: city IN ('Bonn', 'Ulm')"),
    "Concat": ("texts one after the other", "list the texts: city IN ('Bonn', 'Ulm')"),
    "Placeholder": ("?", "write the value itself"),
    "Parameter": ("@", "write the value itself"),
    "Bracket": ("[", "use IN (…) with parentheses"),
    "Tuple": ("lists of values here", "compare one value at a time"),
    "Star": ("*", "name a column"),
    "BitwiseAnd": ("&", "write AND"),
    "BitwiseOr": ("|", "write OR"),
    "BitwiseXor": ("^", "multiply: x * x"),
    "BitwiseNot": ("~", "write NOT"),
    "Subquery": ("SELECT", str(advice_for("SELECT"))),
    "Select": ("SELECT", str(advice_for("SELECT"))),
    "Window": ("OVER", str(advice_for("OVER"))),
    "ILike": ("ILIKE", str(advice_for("ILIKE"))),
    "Table": ("such a table", "name a table that was opened, and nothing beside it"),
    "National": ("N'…'", "write the text in single quotes"),
    "In": ("IN without a list", "list literals in parentheses: city IN ('Bonn', 'Ulm')"),
    "NullSafeEQ": ("IS NOT DISTINCT FROM", "write a = b OR (a IS MISSING AND b IS MISSING)"),
    "NullSafeNEQ": ("IS DISTINCT FROM", "write NOT (a = b OR (a IS MISSING AND b IS MISSING))"),
    "Array": ("[", "use IN (…) with parentheses"),
    "Struct": ("{", "compare one value at a time"),
    "JSONExtract": ("->", "name a column"),
    "TableAlias": ("names of columns beside the name of a table", "name the table alone: FROM orders AS o"),
    "Rollup": ("ROLLUP", "write one statement for each breakdown"),
    "Cube": ("CUBE", "write one statement for each breakdown"),
    "GroupingSets": ("GROUPING SETS", "write one statement for each breakdown"),
    "Fetch": ("FETCH", "write LIMIT 10"),
}


def parse(text: str, columns: Schema) -> Predicate:
    """Read a filter and check it against a schema; no data is touched.

    >>> from leastnoise.data.columns import Kind
    >>> from leastnoise.data.predicates import holds
    >>> adult = parse("age >= 18 AND NOT city IN ('Bonn', 'Ulm')", {"age": Kind.INTEGER, "city": Kind.TEXT})
    >>> holds(adult, {"age": 30, "city": "Köln"}), holds(adult, {"age": None, "city": "Köln"})
    (True, False)
    >>> parse("aeg >= 18", {"age": Kind.INTEGER})
    Traceback (most recent call last):
    leastnoise.errors.UnknownColumn: the table has no such column; given: aeg; did you mean 'age'?
    """
    if not isinstance(text, str):
        raise BadFilter("a filter is text, or built with col", given=type(text).__name__, fix="write 'age >= 18'")
    return _read(text, "filter", columns, lambda reader, tree: typed(reader.truth(tree), columns))


def parse_expression(text: str, columns: Schema) -> Term:
    """Read an expression, whose value may also be a boolean, and check it against a schema; no data is touched.

    >>> from leastnoise.data.predicates import value_of
    >>> band = parse_expression("CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END", {"age": Kind.INTEGER})
    >>> value_of(band, {"age": 17}), value_of(band, {"age": None})
    ('minor', 'adult')
    """
    if not isinstance(text, str):
        raise BadFilter("an expression is text", given=type(text).__name__, fix="write for example 'age / 10'")
    return _read(text, "expression", columns, lambda reader, tree: typed_term(reader.any_value(tree), columns))


FEATURES = {"count": (0, 1), "sum": (1, 1), "min": (1, 1), "max": (1, 1), "any": (1, 1), "first": (2, 2)}
"""What can be computed of the rows of one unit, and of how many values."""


def parse_aggregate(text: str, columns: Schema) -> Aggregate:
    """Read a feature of the rows of one unit, and check it against a schema; no data is touched.

    >>> str(parse_aggregate("SUM(clamp(amount, 0, 100))", {"amount": Kind.INTEGER}))
    'sum(clamp(amount, 0, 100))'
    """
    if not isinstance(text, str):
        raise BadFilter("a feature is text", given=type(text).__name__, fix="write for example 'sum(amount)'")

    def make(reader: ExpressionReader, tree: exp.Expr) -> Aggregate:
        found = reader.aggregate(tree)
        few, many = FEATURES.get(found.name, (1, 0))
        values = len(found.arguments) + (found.condition is not None)
        if not few <= values <= many or found.distinct:
            examples = "count(*), sum(amount), min(day), max(day), any(amount > 100) or first(city, day)"
            raise BadFilter("this is no feature of the rows of one unit", given=text, fix=f"write {examples}")
        condition = None if found.condition is None else typed(found.condition, columns)
        return replace(
            found, arguments=tuple(typed_term(term, columns) for term in found.arguments), condition=condition
        )

    return _read(text, "feature", columns, make)


def _read(text: str, what: str, columns: Schema, make: Callable[[ExpressionReader, exp.Expr], Made]) -> Made:
    from sqlglot import exp

    from leastnoise.data.predicates.grammar import read_tree

    wrong: BadFilter
    try:
        return make(ExpressionReader(what, columns), read_tree(text, what, exp.Condition, columns))
    except BadFilter as error:
        wrong = error
    for word in re.findall(r"\w+", text):
        if word in columns and word.upper() in KEYWORDS:  # perhaps that is what went wrong
            raise BadFilter(
                wrong.problem, given=wrong.given, fix=f'{wrong.fix}; a column called {word} is written "{word}"'
            )
    raise wrong


class ExpressionReader:
    """Turns the nodes of a tree into ours."""

    def __init__(self, what: str, columns: Collection[str]) -> None:
        self._what, self._columns = what, columns

    def truth(self, node: exp.Expr) -> Predicate:
        """What stands where a condition is wanted: a condition, TRUE, FALSE or a column of booleans."""
        part = self._part(node)
        match part:
            case Predicate():
                return part
            case Literal(value=bool() as value):
                return Constant(value)
            case Name() | Case() | Function() | Cast():
                return ComparisonTest("=", part, Literal(True)).at(part.position)
        raise BadFilter(
            "a value stands where a condition is wanted", given=str(part), fix="compare it: age >= 18"
        ).located(self._where(node))

    def any_value(self, node: exp.Expr) -> Term:
        """A value, or a condition as a boolean."""
        part = self._part(node)
        return Truth(part) if isinstance(part, Predicate) else part

    def aggregate(self, node: exp.Expr) -> Aggregate:
        """A function of many rows."""
        where, distinct = self._where(node), False
        if type(node).__name__ != "Anonymous":
            raise self._refused(node)
        name = str(node.this).lower()
        given = list(node.expressions)
        if len(given) == 1 and type(given[0]).__name__ == "Distinct":
            self._require_only(given[0], "expressions")
            distinct, given = True, list(given[0].expressions)
        if len(given) == 1 and type(given[0]).__name__ == "Star" and name == "count":
            self._require_only(given[0])
            if distinct:
                raise self._no("COUNT(DISTINCT *)", node, "count rows: COUNT(*), or units: COUNT(DISTINCT unit)")
            return Aggregate(name, position=where)
        if not given:
            raise self._no(f"{name}()", node, "write count(*), or count(x) for the rows that have a value x")
        if name == "any" and len(given) == 1:
            return Aggregate(name, condition=self.truth(given[0]), position=where)
        return Aggregate(name, tuple(self.any_value(argument) for argument in given), None, distinct, where)

    def value(self, node: exp.Expr) -> Term:
        """What stands where a value is wanted that is no condition."""
        part = self._part(node)
        if isinstance(part, Predicate):
            raise BadFilter(
                "a condition stands where a value is wanted", given=str(part), fix="join conditions with AND"
            )
        return part

    def _part(self, node: exp.Expr) -> Predicate | Term:
        kind = type(node).__name__
        if kind in _COMPARISONS:
            left, right = self._operands(node)
            return ComparisonTest(_COMPARISONS[kind], self.value(left), self.value(right))
        if kind in _CALCULATIONS:
            return self._calculation(node)
        readers: dict[str, Callable[[Any], Predicate | Term]] = {
            "And": self._chain,
            "Or": self._chain,
            "Not": self._not,
            "Paren": lambda paren: self._part(self._inner(paren)),
            "In": self._in,
            "Between": self._between,
            "Like": self._like,
            "Is": self._is,
            "Column": self._column,
            "Literal": self._literal,
            "Boolean": lambda boolean: Literal(bool(boolean.this)),
            "Null": self._null,
            "Neg": self._negative,
            "Cast": self._cast,
            "TryCast": self._cast,
            "Case": self._case,
            "Extract": self._extract,
            "Anonymous": self._function,
        }
        if kind not in readers:
            raise self._refused(node)
        return readers[kind](node)

    def _chain(self, node: exp.Expr) -> Predicate:
        """A chain of AND, or of OR: sqlglot nests it to the left, as deep as it is long."""
        kind, parts = type(node), list[Predicate]()
        while type(node) is kind:
            node, last = self._operands(node)
            parts.append(self.truth(last))
        parts.append(self.truth(node))
        return (And if kind.__name__ == "And" else Or).of(*reversed(parts))

    def _calculation(self, node: exp.Expr) -> Term:
        waiting = list[tuple[str, Any]]()
        while (kind := type(node).__name__) in _CALCULATIONS:
            node, right = self._operands(node)
            waiting.append((_CALCULATIONS[kind], right))
        found = self.value(node)
        for symbol, right in reversed(waiting):
            other = self.value(right)
            found = remainder(found, other) if symbol == "%" else Calculation(symbol, found, other)
        return found

    def _operands(self, node: exp.Expr) -> tuple[Any, Any]:
        self._require_only(node, "this", "expression", "typed", "safe")
        return node.this, node.args["expression"]

    def _inner(self, node: exp.Expr) -> Any:
        self._require_only(node, "this")
        return node.this

    def _not(self, node: exp.Expr) -> Predicate:
        return ~self.truth(self._inner(node))

    def _in(self, node: exp.Expr) -> Predicate:
        if node.args.get("query") is not None:
            raise self._refused(node.args["query"])
        self._require_only(node, "this", "expressions")
        if not node.expressions:
            raise BadFilter("a list to choose from is empty", fix="give at least one literal")
        return IsIn(self.value(node.this), tuple(self._constant(value) for value in node.expressions))

    def _constant(self, node: exp.Expr) -> Literal:
        found = self.value(node)
        if not isinstance(found, Literal):
            raise BadFilter("a list to choose from holds literals", given=str(found), fix="write city IN ('Bonn')")
        return found

    def _between(self, node: exp.Expr) -> Predicate:
        self._require_only(node, "this", "low", "high")
        term = self.value(node.this)
        low, high = self.value(node.args["low"]), self.value(node.args["high"])
        return And.of(ComparisonTest(">=", term, low), ComparisonTest("<=", term, high))

    def _like(self, node: exp.Expr) -> Predicate:
        self._require_only(node, "this", "expression", "negate")
        found = _like(self.value(node.this), self._text(node.args["expression"]))
        return ~found if node.args.get("negate") else found

    def _text(self, node: exp.Expr, example: str = "'Bad %'") -> str:
        if type(node).__name__ != "Literal" or not node.args.get("is_string"):
            raise BadFilter("expected 'text' in quotes", given=node.name[:40], fix=f"write for example {example}")
        return str(read_literal(node.this).value)

    def _is(self, node: exp.Expr) -> Predicate:
        self._require_only(node, "this", "expression")
        term, word = self.value(node.this), node.args["expression"]
        kind = type(word).__name__
        if kind == "Null" or (kind == "Column" and word.name.upper() == "MISSING" and not word.args.get("table")):
            return IsMissing(term)
        if kind != "Boolean":
            raise BadFilter("IS is followed by MISSING, NULL, TRUE or FALSE", given=word.name[:40], fix="use = instead")
        return ComparisonTest("=", term, Literal(bool(word.this)))

    def _column(self, node: exp.Expr) -> Term:
        """A column; `table.column` is the column of that name, where there is one."""
        parts = [part for key in ("catalog", "db", "table") if (part := node.args.get(key)) is not None] + [node.this]
        if any(type(part).__name__ != "Identifier" for part in parts):
            raise self._refused(node.this)
        return Name(self.resolved(tuple(str(part.this) for part in parts), node))

    def resolved(self, parts: tuple[str, ...], node: exp.Expr) -> str:
        """The column that a name stands for."""
        name = ".".join(parts)
        if name not in self._columns:
            self.unknown(node, name)
        return name

    def unknown(self, node: exp.Expr, name: str) -> None:
        """Refuse a name that is not in the schema, if there is more to say of it than what is nearest."""
        quoted, where = bool(node.this.args.get("quoted")), self._where(node)
        alone, qualified = str(node.this.this), bool(node.args.get("table"))
        if not quoted and name[:1] in "$:@":
            raise BadFilter(f"{one(self._what)} has no {name[:1]} ({where})", given=name, fix="write the value itself")
        if qualified and alone in self._columns:
            raise UnknownColumn(
                f"the table has no such column ({where})", given=name, fix="name the column alone, without its table"
            )
        if not quoted and not qualified and (advice := advice_for(name)):
            raise BadFilter(
                f"{one(self._what)} has no {name.upper()} ({where})",
                given=name,
                fix=f'{advice}; a column of this name is written "{name}"',
            )
        if quoted and closest(name, self._columns, alike=0.7) is None:
            fix = f"text is written in single quotes: '{name}'; double quotes name a column"
            raise UnknownColumn(f"the table has no such column ({where})", given=f'"{name}"', fix=fix)

    def _literal(self, node: exp.Expr) -> Literal:
        if node.args.get("is_string"):
            return read_literal(node.this)
        if len(node.this) > _LONGEST_NUMBER:
            raise BadFilter(f"a number has at most {_LONGEST_NUMBER} characters", given=node.this, fix="shorten it")
        if not _NUMBER.fullmatch(node.this):
            raise BadFilter("this is no number", given=node.this, fix="write 18, 0.5 or 1e6")
        return read_literal(Decimal(node.this))

    def _null(self, _: exp.Expr) -> Literal:
        raise BadFilter("nothing compares with a missing value", given="NULL", fix="write age IS MISSING")

    def _negative(self, node: exp.Expr) -> Term:
        """The other sign: of a number exactly (minus a Decimal would round it), of all else by subtraction."""
        term = self.value(self._inner(node))
        if isinstance(term, Literal) and isinstance(term.value, int | Decimal) and not isinstance(term.value, bool):
            value = term.value
            return Literal(value.copy_negate() if isinstance(value, Decimal) else -value)
        return Calculation("-", Literal(0), term)

    def _cast(self, node: exp.Expr) -> Term:
        """A cast; DATE '…' and TIMESTAMP '…' are told by sqlglot as casts of text."""
        self._require_only(node, "this", "to", "safe")
        to = node.args["to"]
        word = str(getattr(to.this, "name", to.this)).upper()
        if word not in _KINDS or any(value for key, value in to.args.items() if key not in ("this", "nested")):
            raise self._no(f"cast to {word}", node, "cast to INTEGER, REAL, TEXT, DATE or TIMESTAMP, without a size")
        kind = Kind[_KINDS[word]]
        inner = self.value(node.this)
        if isinstance(inner, Literal) and isinstance(inner.value, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
            return _moment(kind.name, inner.value)
        return Cast(inner, kind)

    def _case(self, node: exp.Expr) -> Term:
        self._require_only(node, "this", "ifs", "default")
        compared, conditions, results = node.args.get("this"), list[Predicate](), list[Term]()
        for branch in node.args["ifs"]:
            self._require_only(branch, "this", "true")
            if compared is None:
                conditions.append(self.truth(branch.this))
            else:
                conditions.append(ComparisonTest("=", self.value(compared), self.value(branch.this)))
            results.append(self._result(branch.args["true"]))
        default = node.args.get("default")
        if not results:
            raise BadFilter("CASE has no WHEN", given="CASE", fix="write CASE WHEN age < 18 THEN 'minor' END")
        if default is None or type(default).__name__ == "Null":
            return Case(tuple(conditions), tuple(results))
        return Case(tuple(conditions), tuple(results), self._result(default))

    def _result(self, node: exp.Expr) -> Term:
        if type(node).__name__ == "Null":
            raise BadFilter("a result of CASE is a value", given="NULL", fix="put what is missing last: ELSE NULL")
        return self.any_value(node)

    def _extract(self, node: exp.Expr) -> Term:
        self._require_only(node, "this", "expression")
        return self._date_part(node.this.name.lower(), node.args["expression"], node)

    def _date_part(self, part: str, of: exp.Expr, node: exp.Expr) -> Term:
        part = {"isodow": "weekday", "dayofweek_iso": "weekday"}.get(part, part)
        if part not in DATE_PARTS:
            raise self._no(f"part {part.upper()}", node, f"the parts are {', '.join(DATE_PARTS)}")
        return DatePart(part, self.value(of))

    def _function(self, node: exp.Expr) -> Predicate | Term:
        name = (str(node.this) if isinstance(node.this, str) else node.name).lower()
        name, arguments = _SYNONYMS.get(name, name), node.expressions
        if name in _TEXT_TESTS:
            if len(arguments) != 2:
                raise BadFilter(f"{name} takes a value and a text", given=f"{name}(…)", fix=f"{name}(city, 'Bad')")
            return TextTest(name, self.value(arguments[0]), self._text(arguments[1]))
        if name in DATE_PARTS and len(arguments) == 1:
            return self._date_part(name, arguments[0], node)
        if name == "if" and len(arguments) == 3:
            return Case((self.truth(arguments[0]),), (self._result(arguments[1]),), self._result(arguments[2]))
        if name == "date_trunc" and len(arguments) == 2:
            unit = self._text(arguments[0], "date_trunc('month', day)").lower()
            if unit not in TRUNCATIONS:
                raise self._no(f"date_trunc to {unit!r}", node, f"the units are {', '.join(TRUNCATIONS)}")
            return Truncated(unit, self.value(arguments[1]))
        if name in FUNCTIONS:
            return Function(name, tuple(self.any_value(argument) for argument in arguments))
        word = str(node.this)
        known = [*_TEXT_TESTS, *FUNCTIONS, *DATE_PARTS, "date_trunc", "if"]
        nearest = closest(name, known)
        fix = f"did you mean {nearest}?" if nearest else f"the functions are {', '.join(known)}"
        raise self._no(word.upper() if advice_for(word) else "such function", node, advice_for(word) or fix)

    def _require_only(self, node: exp.Expr, *known: str) -> None:
        """Refuse a node with parts that are not read: sqlglot may learn new ones."""
        if any(value not in (None, False, []) for key, value in node.args.items() if key not in known):
            raise self._refused(node)

    def _refused(self, node: exp.Expr) -> BadFilter:
        kind = type(node).__name__
        if kind == "Dot" and type(node.this).__name__ == "Literal":
            return BadFilter("this is no number", given=str(node.this.this)[:40], fix="write 18, 0.5 or 1e6")
        word, fix = _NODES.get(kind, (kind.upper(), advice_for(kind) or "write it with AND, OR, NOT and comparisons"))
        return self._no(word, node, fix)

    def _where(self, node: exp.Expr) -> str:
        from leastnoise.data.predicates.grammar import position_of

        return position_of(node)

    def _no(self, word: str, node: exp.Expr, fix: str) -> BadFilter:
        where = self._where(node)
        name = node.name if type(node).__name__ == "Anonymous" else ""
        return BadFilter(
            f"{one(self._what)} has no {word}" + (f" ({where})" if where else ""),
            given=f"{name}(…)" if name else word,
            fix=fix,
        )


def _like(term: Term, pattern: str) -> Predicate:
    core = pattern.strip("%")
    if "%" in core or "_" in core or "\\" in core:  # an escape for some engines, and a letter for others
        raise BadFilter(
            "LIKE knows 'start%', '%end' and '%within%' only",
            given=pattern,
            fix="join two with AND, or use starts_with, ends_with or contains for text that has %, _ or \\ in it",
        )
    if not core:
        return TextTest("contains", term, "") if pattern else ComparisonTest("=", term, Literal(""))
    ends = pattern.startswith("%"), pattern.endswith("%")
    if ends == (False, False):
        return ComparisonTest("=", term, Literal(core))
    return TextTest({(True, True): "contains", (False, True): "starts_with"}.get(ends, "ends_with"), term, core)


def _moment(word: str, text: str) -> Literal:
    try:
        return read_literal(date.fromisoformat(text) if word == "DATE" else datetime.fromisoformat(text))
    except ValueError as error:
        if isinstance(error, BadFilter):
            raise
        example = "2024-01-31" if word == "DATE" else "2024-01-31 12:00:00"
        raise BadFilter(f"this is no {word.lower()}", given=text, fix=f"write {word} '{example}'") from None
