"""What the queries mean, in plain Python: the answer that every engine must give, for given picks of the units."""

from bisect import bisect_right
from collections import Counter, defaultdict
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import floor, isnan

import numpy as np

from leastnoise.data import CountRows, CountUnits, KeyAxis, Kind, TimeAxis
from leastnoise.data.predicates import holds

ENDS = {date.min, date.max, datetime.min, datetime.max}  # of the calendar: ids there name nobody


def missing(value):
    return value is None or (isinstance(value, float | Decimal) and isnan(value))


def exact(number, kind):
    """A public number as the column is compared with it."""
    return float(number) if kind is Kind.REAL else number


def steps(measure, value, kind):
    """q, as the docstring of SumOf says it."""
    least, most = measure.steps
    if kind is Kind.REAL:
        clamped = min(max(value, float(measure.low)), float(measure.high))
        quotient = clamped * float(measure.step.denominator) / float(measure.step.numerator)
        q = floor(quotient + 0.5)
    else:
        inside = measure.low if value < measure.low else measure.high if value > measure.high else Fraction(value)
        q = floor(inside / measure.step + Fraction(1, 2))
    return min(max(q, least), most)


def place(axis, row, kind):
    value = row[axis.column]
    if isinstance(axis, KeyAxis):
        key = None if missing(value) else value
        return axis.keys.index(key) if key in axis.keys else None
    if isinstance(axis, TimeAxis):
        edges = [edge.date() if kind is Kind.DATE else edge for edge in axis.edges]
        return None if missing(value) or not edges[0] <= value < edges[-1] else bisect_right(edges, value) - 1
    edges = [exact(edge, kind) for edge in axis.edges]
    if missing(value) or not edges[0] <= value <= edges[-1]:
        return None
    return min(bisect_right(edges, value) - 1, len(axis) - 1)


def by_unit_and_group(rows, contribution, group, where):
    """The rows of each unit in each group; without a unit column every row is a unit of its own."""
    units = defaultdict(lambda: defaultdict(list))
    for number, row in enumerate(rows):
        unit = number if contribution.privacy_unit is None else row[contribution.privacy_unit]
        found = group(row)
        if not missing(unit) and unit not in ENDS and found is not None and (where is None or holds(where, row)):
            units[unit][found].append(row)
    return units


def unit_value(measure, rows, most, kinds):
    """What one unit adds to one group."""
    if isinstance(measure, CountUnits):
        return 1
    if isinstance(measure, CountRows):
        return min(len(rows), most)
    if isinstance(measure.column, str):
        kind = kinds[measure.column]
        found = [row[measure.column] for row in rows if not missing(row[measure.column])]
    else:
        kind, found = Kind.INTEGER, [int(holds(measure.column, row)) for row in rows]
    total = sum((steps(measure, value, kind) - measure.offset) ** measure.power for value in found)
    if measure.averaged and len(found) > most:
        share = abs(total) * most // len(found)
        return share if total >= 0 else -share
    if measure.averaged:
        return total
    return min(max(total, min(0, most * measure.lowest)), max(0, most * measure.highest))


def cell_of(axes, kinds, row):
    """The number of the cell that a row lies in."""
    places = [place(axis, row, kinds[axis.column]) for axis in axes]
    shape = [len(axis) for axis in axes]
    return None if None in places else int(np.ravel_multi_index(places, shape)) if places else 0


def aggregate(rows, kinds, contribution, axes, measures, where, picks):
    """The arrays of `Table.aggregate`; picks(unit, cell) orders the groups of a unit."""
    shape = tuple(len(axis) for axis in axes)
    cell = partial(cell_of, axes, kinds)
    totals = [[0] * int(np.prod(shape)) for _ in measures]
    for unit, groups in by_unit_and_group(rows, contribution, cell, where).items():
        kept = list(groups)
        if contribution.privacy_unit is not None and len(kept) > contribution.groups_per_unit:
            bits = max((int(np.prod(shape)) - 1).bit_length(), 1)
            kept.sort(key=lambda g, u=unit: (picks(u, g) >> bits, g))
            kept = kept[: contribution.groups_per_unit]
        for group, (total, measure) in product(kept, zip(totals, measures, strict=True)):
            total[group] += unit_value(measure, groups[group], contribution.rows_per_unit, kinds)
    return [np.array(total, dtype=object).reshape(shape) for total in totals]


def ranks(rows, kinds, contribution, column, grid, where, picks, keys=None):
    """The counts of `Table.ranks`; picks(unit, cell·2³² + copy) orders the rows of a unit.

    With keys, a column and a list of them, the counts of each key; picks(unit, −1 − number of the key) orders the keys.
    """
    middles = [exact((low + high) / 2, kinds[column]) for low, high in pairwise(grid)]
    name, listed = keys or (None, [None])
    counts = Counter()

    def cell(row):
        part = 0 if name is None else listed.index(row[name]) if row[name] in listed else None
        return None if part is None or missing(row[column]) else part * len(grid) + bisect_right(middles, row[column])

    def smallest(found, most, cells, hashed):
        bits = max((cells - 1).bit_length(), 1)
        return sorted(found, key=lambda one: (hashed(one) >> bits, one))[:most] if len(found) > most else found

    for unit, groups in by_unit_and_group(rows, contribution, cell, where).items():
        parts = sorted({group // len(grid) for group in groups})
        parts = smallest(parts, contribution.groups_per_unit, len(listed), lambda part, u=unit: picks(u, -1 - part))
        for part in parts:
            copies = [
                (group, copy)
                for group, found in groups.items()
                if group // len(grid) == part
                for copy in range(1, len(found) + 1)
            ]
            most, cells = contribution.rows_per_unit, len(listed) * len(grid)
            kept = smallest(copies, most, cells, lambda c, u=unit: picks(u, c[0] * 2**32 + c[1]))
            counts.update(group for group, _ in kept)
    found = [counts[number] for number in range(len(listed) * len(grid))]
    return found if name is None else np.reshape(found, (len(listed), len(grid))).tolist()


def scores(rows, contribution, options, where):
    units = by_unit_and_group(rows, contribution, lambda _: 0, where)
    most = contribution.rows_per_unit
    return [
        sum(min(sum(holds(option, row) for row in groups[0]), most) for groups in units.values()) for option in options
    ]


def discover(rows, contribution, column, where):
    units = by_unit_and_group(rows, contribution, lambda row: (key_of(row[column]),), where)
    return dict(Counter(group for groups in units.values() for group in groups))


def totals_by_key(rows, kinds, contribution, column, measures, where):
    """The totals of `Table.totals_by_key`, where no unit has more groups than it may."""
    found = defaultdict(lambda: [0] * len(measures))
    for groups in by_unit_and_group(rows, contribution, lambda row: (key_of(row[column]),), where).values():
        for group, kept in groups.items():
            for i, measure in enumerate(measures):
                found[group][i] += unit_value(measure, kept, contribution.rows_per_unit, kinds)
    return {group: tuple(totals) for group, totals in found.items()}


def units_by_rows(rows, contribution, most, where):
    """The counts of `Table.units_by_rows`, without axes."""
    sizes = [len(groups[0]) for groups in by_unit_and_group(rows, contribution, lambda _: 0, where).values()]
    places = Counter(min((size - 1).bit_length(), most) for size in sizes)
    return [places[place] for place in range(most + 1)]


def units_by_groups(rows, kinds, contribution, axes, most, where):
    """The counts of `Table.units_by_groups`."""
    sizes = map(len, by_unit_and_group(rows, contribution, partial(cell_of, axes, kinds), where).values())
    places = Counter(min((size - 1).bit_length(), most) for size in sizes)
    return [places[place] for place in range(most + 1)]


def key_of(value):
    """A found key: text that is too long is none."""
    return None if missing(value) or (isinstance(value, str) and len(value) > 2**16) else value
