"""Read a SELECT statement into plain parts: what is asked of which rows, and what is done with the answer.

    SELECT item [AS name], … FROM table [AS alias] [[LEFT] JOIN table ON a.x = b.y] …
    [WHERE filter] [GROUP BY value, …] [HAVING condition] [ORDER BY item [DESC], …] [LIMIT n] [OFFSET n]
    item  = value of GROUP BY | aggregate
    table = name | (SELECT unit, aggregate AS name, … FROM table [WHERE filter] GROUP BY unit)

HAVING, ORDER BY, LIMIT and OFFSET are read as conditions on the answer, whose columns are the items. All else that SQL
has is refused by its name, with its line and column. Which table has which column is not known here: `resolve` says it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leastnoise.data.predicates.expressions import Aggregate
from leastnoise.data.predicates.nodes import Name, Predicate, Term
from leastnoise.data.predicates.parser import FEATURES, ExpressionReader
from leastnoise.data.predicates.words import place_in
from leastnoise.errors import BadFilter, InputError, UnknownColumn

if TYPE_CHECKING:
    from sqlglot import exp

__all__ = ["FromTable", "Item", "SelectText", "Statement", "read_select"]

End = tuple[str, str]
Resolve = Callable[[tuple[str, ...]], str | None]
"""From the parts of a name as it is written to a column, or None."""

_JOIN = ("this", "method", "side", "kind", "on", "using")
_READ = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset")
_INSTEAD = {
    "distinct": ("SELECT DISTINCT", "name the columns in GROUP BY"),
    "with_": ("WITH", "write the query without it; one subquery in FROM may group by the unit"),
    "windows": ("WINDOW", "a window looks across units: use GROUP BY"),
    "qualify": ("QUALIFY", "use HAVING"),
    "laterals": ("LATERAL", "join along declared links"),
    "into": ("INTO", "leave it out: the answer comes back"),
    "kind": ("SELECT AS", "leave it out"),
    "hint": ("hints", "leave them out"),
    "sample": ("TABLESAMPLE", "leave it out: all rows count"),
    "locks": ("FOR UPDATE", "leave it out"),
}
AGGREGATES = {
    "count": (0, 1),
    **dict.fromkeys(("sum", "avg", "mean", "median", "variance", "var_pop", "stddev", "stddev_pop"), (1, 1)),
    **dict.fromkeys(("percentile_cont", "quantile", "quantile_cont"), (2, 2)),
}
"""The aggregates, and how many values each takes; `count(*)` takes none."""
_OTHERS = {
    "min": "MIN is one person's value: use PERCENTILE_CONT(0.01) WITHIN GROUP (ORDER BY x)",
    "max": "MAX is one person's value: use PERCENTILE_CONT(0.99) WITHIN GROUP (ORDER BY x)",
    "var_samp": "use VARIANCE",
    "stddev_samp": "use STDDEV",
    "any": "use it in a subquery that groups by the unit",
    "first": "use it in a subquery that groups by the unit",
    "array_agg": "a list of values can't be released: count them by public keys",
    "string_agg": "a list of values can't be released: count them by public keys",
    "approx_count_distinct": "use COUNT(DISTINCT unit)",
    "mode": "use COUNT(*), ORDER BY and LIMIT 1, or most_common in Python",
}


@dataclass(frozen=True)
class FromTable:
    """A table of FROM: its name or a subquery, its alias, and how it is joined to those before it."""

    name: str
    alias: str
    position: str
    on: tuple[tuple[End, End], ...] = ()
    left: bool = False
    subquery: SelectText | None = None


@dataclass(frozen=True)
class Item:
    """What is selected: a value of GROUP BY, or an aggregate."""

    name: str
    what: Term | Aggregate
    position: str


@dataclass(frozen=True)
class Statement:
    """A statement whose names are columns of one relation; `having` and `order_by` speak of the names of items."""

    items: tuple[Item, ...]
    where: Predicate | None
    group_by: tuple[Term, ...]
    having: Predicate | None
    order_by: tuple[tuple[Term, bool], ...]
    limit: int | None
    offset: int


def read_select(text: str) -> SelectText:
    """Read a statement up to its names.

    >>> found = read_select("SELECT city, COUNT(*) AS n FROM people p GROUP BY city")
    >>> [(table.name, table.alias) for table in found.tables]
    [('people', 'p')]

    Raises:
        BadFilter: It is no SELECT statement, or has something that can't be answered; line and column are in the text.
    """
    from sqlglot import exp

    from leastnoise.data.predicates.grammar import read_tree

    if not isinstance(text, str):
        raise BadFilter("a statement is text", given=type(text).__name__, fix="write 'SELECT COUNT(*) FROM people'")
    word = re.match(r"\s*([^\W\d]\w*|\()", text)
    if word and word[1].upper() != "SELECT":
        problem = f"a statement does not begin with {word[1].upper()} ({place_in(text, word.start(1))})"
        raise BadFilter(problem, given=word[1], fix="begin with SELECT: SELECT COUNT(*) FROM people")
    return SelectText(read_tree(text, "statement", exp.Select, comments=True))


class SelectText:
    """A statement whose tables are known, and whose columns are not.

    Attributes:
        tables: The tables of FROM.
    """

    def __init__(self, tree: exp.Expr) -> None:
        self._tree, self._plain = tree, _StatementReader(lambda parts: ".".join(parts))
        if type(tree).__name__ != "Select":
            raise self._plain.refused(tree, type(tree).__name__.upper(), "write one SELECT statement")
        for key, value in tree.args.items():
            if value not in (None, False, []) and key not in _READ:
                word, fix = _INSTEAD.get(key, (key.strip("_").upper(), "leave it out"))
                raise self._plain.refused(tree, word, fix)
        source = tree.args.get("from_")
        if source is None:
            raise self._plain.refused(tree, "SELECT without FROM", "name the table: FROM people")
        self.tables = (self._table(source.this), *(self._joined(each) for each in tree.args.get("joins") or ()))

    def statement(self, resolve: Resolve, *, per_unit: bool = False) -> Statement:
        """The statement with the columns that its names stand for.

        Args:
            resolve: Knows the columns.
            per_unit: Whether aggregates are features of the rows of one unit.
        """
        tree, reader = self._tree, _StatementReader(resolve, per_unit=per_unit)
        items = tuple(self._item(node, reader) for node in tree.expressions)
        names = [item.name for item in items]
        for item in items:
            if names.count(item.name) > 1:
                raise BadFilter(
                    f"two items have one name ({item.position})", given=item.name, fix="name one: COUNT(*) AS n"
                )
        where, group = tree.args.get("where"), tree.args.get("group")
        if group is not None:
            reader.require_only(group, "expressions")
            if not group.expressions:
                raise reader.refused(group, "GROUP BY without a value", "write GROUP BY city")
        grouped = tuple(self._grouped(node, items, reader) for node in (group.expressions if group is not None else ()))
        answer = _AnswerReader(items, resolve)
        having, order = tree.args.get("having"), tree.args.get("order")
        if order is not None:
            reader.require_only(order, "expressions")
        return Statement(
            items,
            None if where is None else reader.truth(where.this),
            grouped,
            None if having is None else answer.truth(having.this),
            () if order is None else tuple(self._ordered(node, items, answer) for node in order.expressions),
            self._number("limit"),
            self._number("offset") or 0,
        )

    def _table(self, node: Any) -> FromTable:
        kind, where = type(node).__name__, self._plain.where(node)
        alias = node.args.get("alias")
        named = "" if alias is None else str(alias.this.this if hasattr(alias.this, "this") else alias.this)
        if alias is not None:
            self._plain.require_only(alias, "this")
        if kind == "Subquery":
            self._plain.require_only(node, "this", "alias")
            return FromTable(named or "subquery", named or "subquery", where, subquery=SelectText(node.this))
        if kind != "Table" or type(node.this).__name__ != "Identifier":
            named = "functions of tables" if type(node.this).__name__ == "Anonymous" else "such a table"
            raise self._plain.refused(node, named, "name a table that was opened: FROM people")
        self._plain.require_only(node, "this", "db", "catalog", "alias")
        parts = [node.args[key] for key in ("catalog", "db") if node.args.get(key) is not None] + [node.this]
        name = ".".join(str(part.this) for part in parts)
        return FromTable(name, named or str(node.this.this), where)

    def _joined(self, node: Any) -> FromTable:
        word = " ".join(str(node.args[key]) for key in ("method", "side", "kind") if node.args.get(key))
        if word not in ("", "LEFT", "LEFT OUTER", "INNER") or any(
            value not in (None, False, []) for key, value in node.args.items() if key not in _JOIN
        ):
            raise self._plain.refused(node, f"{word} JOIN".strip(), "use JOIN … ON or LEFT JOIN … ON")
        table = self._table(node.this)
        if table.subquery is not None:
            raise self._plain.refused(node, "subqueries in joins", "join tables along declared links")
        pairs = [(self._end(side), self._end(other)) for side, other in self._equalities(node)]
        pairs += [(("", str(name.this)), (table.alias, str(name.this))) for name in node.args.get("using") or ()]
        if not pairs:
            raise self._plain.refused(node, "tables side by side", "write JOIN … ON a.x = b.y")
        return FromTable(table.name, table.alias, table.position, tuple(pairs), left=word.startswith("LEFT"))

    def _end(self, node: Any) -> End:
        """A side of an equality in ON: a column with its table."""
        if type(node).__name__ != "Column" or not node.args.get("table"):
            raise self._plain.refused(node, "such a side of = in ON", "write columns with their tables: a.x = b.y")
        return str(node.args["table"].this), str(node.this.this)

    def _equalities(self, join: Any) -> list[tuple[Any, Any]]:
        node = join.args.get("on")
        waiting, found = [] if node is None else [node], list[tuple[Any, Any]]()
        while waiting:
            part = waiting.pop(0)
            kind = type(part).__name__
            if kind == "And":
                waiting = [part.this, part.args["expression"], *waiting]
            elif kind == "Paren":
                waiting = [part.this, *waiting]
            elif kind == "EQ":
                found.append((part.this, part.args["expression"]))
            else:
                placed = part if self._plain.where(part) else join
                raise self._plain.refused(
                    placed, f"{kind.upper()} in ON", "compare two columns, and put the rest in WHERE"
                )
        return found

    def _item(self, node: Any, reader: _StatementReader) -> Item:
        inner, named = node, ""
        if type(node).__name__ == "Alias":
            reader.require_only(node, "this", "alias")
            inner, named = node.this, str(node.args["alias"].this)
        what = reader.item(inner)
        default = what.column.rpartition(".")[2] if isinstance(what, Name) else str(what)
        return Item(named or default, what, reader.where(inner))

    def _grouped(self, node: Any, items: tuple[Item, ...], reader: _StatementReader) -> Term:
        chosen = _numbered(node, items)
        if chosen is None and type(node).__name__ == "Column" and not node.args.get("table"):
            by_name = [
                item for item in items if item.name == str(node.this.this) and not isinstance(item.what, Aggregate)
            ]
            chosen = by_name[0] if by_name else None
            column = None if chosen is None else reader.column(chosen.name)
            if chosen is not None and column is not None and chosen.what != Name(column):
                raise BadFilter(
                    f"this names a column of the table and another item ({reader.where(node)})",
                    given=chosen.name,
                    fix=f"call the item otherwise, or write GROUP BY {items.index(chosen) + 1}",
                )
        found = reader.any_value(node) if chosen is None else chosen.what
        if isinstance(found, Aggregate):
            raise reader.refused(node, "aggregates in GROUP BY", "group by columns and expressions of one row")
        return found

    def _ordered(self, node: Any, items: tuple[Item, ...], answer: _AnswerReader) -> tuple[Term, bool]:
        answer.require_only(node, "this", "desc", "nulls_first")
        chosen = _numbered(node.this, items)
        term = answer.any_value(node.this) if chosen is None else Name(chosen.name)
        return term, bool(node.args.get("desc"))

    def _number(self, key: str) -> int | None:
        node = self._tree.args.get(key)
        if node is None:
            return None
        self._plain.require_only(node, "expression")
        inner = node.args.get("expression")
        if type(inner).__name__ != "Literal" or inner.args.get("is_string") or not str(inner.this).isdigit():
            raise self._plain.refused(node, f"such {key.upper()}", f"write a whole number: {key.upper()} 10")
        return int(str(inner.this)[:18])


def _numbered(node: Any, items: Sequence[Item]) -> Item | None:
    """GROUP BY 1 and ORDER BY 1 name an item by its number."""
    if type(node).__name__ != "Literal" or node.args.get("is_string") or not str(node.this).isdigit():
        return None
    number = int(str(node.this)[:6])
    if not 1 <= number <= len(items):
        raise BadFilter("there is no item of this number", given=number, fix=f"there are {len(items)}")
    return items[number - 1]


class _StatementReader(ExpressionReader):
    """Expressions of a statement, whose names `resolve` knows."""

    def __init__(self, resolve: Resolve, *, per_unit: bool = False) -> None:
        super().__init__("statement", ())
        self._resolve, self._aggregates = resolve, FEATURES if per_unit else AGGREGATES

    def column(self, name: str) -> str | None:
        """The column that a name without a table stands for, if there is one."""
        return self._resolve((name,))

    def resolved(self, parts: tuple[str, ...], node: exp.Expr) -> str:
        found = self._resolve(parts)
        if found is None:
            self.unknown(node, ".".join(parts))
        return ".".join(parts) if found is None else found

    def where(self, node: exp.Expr) -> str:
        """Where it stands."""
        return self._where(node)

    def _part(self, node: exp.Expr) -> Predicate | Term:
        try:
            return super()._part(node).at(self._where(node))
        except InputError as error:
            raise error.located(self._where(node)) from None

    def refused(self, node: exp.Expr, word: str, fix: str) -> BadFilter:
        """The error for what a statement may not have."""
        return self._no(word, node, fix)

    def require_only(self, node: exp.Expr, *known: str) -> None:
        """Refuse parts that are not read."""
        self._require_only(node, *known)

    def item(self, node: exp.Expr) -> Term | Aggregate:
        """A value of one row, or an aggregate."""
        kind = type(node).__name__
        if kind == "Paren":
            return self.item(node.this)
        if kind == "Star":
            raise self.refused(node, "SELECT *", "name what to count: SELECT COUNT(*)")
        if kind == "Filter":
            raise self.refused(node, "FILTER", "use WHERE, or SUM(CASE WHEN … THEN 1 ELSE 0 END)")
        if any(type(part).__name__ == "Window" for part in node.walk()):
            raise self.refused(node, "OVER", "a window looks across units: use GROUP BY")
        if kind == "WithinGroup":
            return self._within_group(node)
        name = str(node.this).lower() if kind == "Anonymous" else ""
        if name in self._aggregates:
            return self._counted(self.aggregate(node), node)
        if name in {**_OTHERS, **AGGREGATES}:
            raise self.refused(node, name.upper(), _OTHERS.get(name, "use a feature of the rows of one unit"))
        if any(str(part.this).lower() in AGGREGATES for part in node.walk() if type(part).__name__ == "Anonymous"):
            raise self.refused(
                node,
                "arithmetic with aggregates",
                "select them one by one: what is done with the answers costs nothing",
            )
        return self.any_value(node)

    def _counted(self, found: Aggregate, node: exp.Expr) -> Aggregate:
        few, many = self._aggregates[found.name]
        if not few <= len(found.arguments) + (found.condition is not None) <= many or (
            found.distinct and found.name != "count"
        ):
            raise self.refused(node, f"such {found.name.upper()}", f"write {found.name}(x) with the values it takes")
        return found

    def _within_group(self, node: exp.Expr) -> Aggregate:
        function, order = node.this, node.args.get("expression")
        listed = [] if order is None else order.expressions
        name = str(getattr(function, "this", "")).lower()
        if (
            name != "percentile_cont"
            or len(function.expressions) != 1
            or len(listed) != 1
            or listed[0].args.get("desc")
        ):
            raise self.refused(node, "WITHIN GROUP here", "write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x)")
        level, value = self.value(function.expressions[0]), self.any_value(listed[0].this)
        return Aggregate(name, (level, value), position=self.where(function))


class _AnswerReader(_StatementReader):
    """Expressions of the answer: names of items, and aggregates that are items."""

    def __init__(self, items: tuple[Item, ...], resolve: Resolve) -> None:
        super().__init__(resolve)
        self._items = items

    def resolved(self, parts: tuple[str, ...], node: exp.Expr) -> str:
        by_name = [item for item in self._items if item.name == parts[-1] and len(parts) == 1]
        column = None if by_name else self._resolve(parts)
        by_value = [item for item in self._items if column is not None and item.what == Name(column)]
        for item in (*by_name, *by_value):
            return item.name
        raise UnknownColumn(
            f"HAVING and ORDER BY see the answer, which has no such column ({self.where(node)})",
            given=".".join(parts),
            fix=f"name one of {', '.join(item.name for item in self._items)}, or put it in WHERE",
        )

    def _part(self, node: exp.Expr) -> Predicate | Term:
        kind = type(node).__name__
        if kind == "WithinGroup" or (kind == "Anonymous" and str(node.this).lower() in {*AGGREGATES, *_OTHERS}):
            wanted = _StatementReader(self._resolve).item(node)
            for item in self._items:
                if item.what == wanted:
                    return Name(item.name).at(self.where(node))
            raise self.refused(node, f"{wanted} in HAVING or ORDER BY", f"select it: {wanted} AS x")
        return super()._part(node)
