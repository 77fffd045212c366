"""The numeric mechanisms go through the suite that every mechanism passes."""

from fractions import Fraction
from itertools import product

import pytest

from leastnoise.mechanisms.numeric import (
    DiscreteGaussian,
    Gaussian,
    Geometric,
    LatticeLaplace,
    OptimalNoise,
    Staircase,
    TruncatedGeometric,
    TruncatedLaplace,
    VectorLaplace,
)
from leastnoise.model.graphs import from_distance, from_edges, path
from mechanisms.conformance import Case, Conformance

TINY = Fraction(1, 10**9)
BAD_EPSILON = [0, -1, "one", float("nan"), float("inf"), None, True]
BAD_SENSITIVITY = [0, -1, "1/2", 1.5, None]


def absolute(output, answer):
    return abs(Fraction(output) - Fraction(answer))


def within(reach, answers):
    """Answers that one person can turn into each other."""
    return from_edges([(x, y) for x in answers for y in answers if 0 < y - x <= reach])


def calibrated(epsilon, delta, sensitivity):
    return DiscreteGaussian.for_privacy(epsilon, delta, sensitivity)


def whole(make, parameters, reach=60, **more):
    """Noise on all whole numbers, seen from −reach to reach."""
    change = parameters.get("sensitivity", 1)
    answers = range(2 * change + 1)
    return Case(
        make,
        parameters,
        answers=answers,
        graph=path(3) if change == 1 else within(change, answers),
        outputs=range(-reach, reach + 1),
        complete=False,
        loss=absolute,
        left_out=TINY,
        bad_answers=[1234.5678, "12345", None, True],
        **more,
    )


def bounded(epsilon, low, high, sensitivity=1, **more):
    answers = range(low, high + 1)
    graph = path(len(answers)) if sensitivity == 1 else within(sensitivity, answers)
    return Case(
        TruncatedGeometric,
        {"epsilon": epsilon, "low": low, "high": high, "sensitivity": sensitivity},
        answers=answers,
        graph=graph,
        outputs=answers,
        loss=absolute,
        bad_parameters={
            "epsilon": BAD_EPSILON,
            "sensitivity": BAD_SENSITIVITY,
            "low": [high, high + 1, "1/2", None],
            "high": [low, low - 1, "x"],
        },
        bad_answers=[0.5678, "12345", None],
        **more,
    )


def on_a_lattice(epsilon, sensitivity, step, reach=60, **more):
    change, width = Fraction(sensitivity), Fraction(step)
    unit = min(change, width) / 4  # answers between lattice points, on both sides of half-way and on it
    answers = [width / 2 + unit * k for k in range(-int(change / unit), int(change / unit) + 1)]
    return Case(
        LatticeLaplace,
        {"epsilon": epsilon, "sensitivity": sensitivity, "step": step},
        answers=answers,
        graph=within(change, answers),
        outputs=[float(width * k) for k in range(-reach, reach + 1)],
        complete=False,
        loss=absolute,
        left_out=TINY,
        least_quantiles=False,
        bad_parameters={"epsilon": BAD_EPSILON, "sensitivity": [0, -1, "ln(2)", 2**600], "step": [0, -1, None, 1e-300]},
        bad_answers=[float("nan"), float("inf"), "12345", None, 10**9 + 1j],
        **more,
    )


def in_cells(epsilon, low, high, sensitivity, cells, **more):
    step = Fraction(high - low) / cells
    answers = [low + step * k for k in range(cells + 1)]
    return Case(
        TruncatedLaplace,
        {"epsilon": epsilon, "low": low, "high": high, "sensitivity": sensitivity, "cells": cells},
        answers=answers,
        graph=from_distance([[abs(x - y) / Fraction(sensitivity) for y in answers] for x in answers], answers),
        outputs=[float(low + step * (2 * k + 1) / 2) for k in range(cells)],
        loss=absolute,
        least_quantiles=False,
        bad_parameters={
            "epsilon": BAD_EPSILON,
            "low": [high, "x"],
            "high": [low, None],
            "sensitivity": [0, -1, 2**600],
            "cells": [0, -1, 1.5, 2**70],
        },
        bad_answers=[float("nan"), float("-inf"), "12345", None],
        **more,
    )


def vector(epsilon, dimension, sensitivity, reach, **more):
    corner = (0,) * dimension
    answers = [
        corner,
        *(tuple(d * sensitivity for d in unit) for unit in product((0, 1), repeat=dimension) if any(unit)),
    ]
    edges = [
        (x, y)
        for place, x in enumerate(answers)
        for y in answers[place + 1 :]
        if sum(abs(a - b) for a, b in zip(x, y, strict=True)) <= sensitivity
    ]
    return Case(
        VectorLaplace,
        {"epsilon": epsilon, "dimension": dimension, "sensitivity": sensitivity},
        answers=answers,
        graph=from_edges(edges, nodes=answers),
        outputs=list(product(range(-reach, reach + 1), repeat=dimension)),
        complete=False,
        loss=lambda y, x: sum(abs(a - b) for a, b in zip(y, x, strict=True)),
        left_out=TINY,
        bad_parameters={"epsilon": BAD_EPSILON, "sensitivity": BAD_SENSITIVITY, "dimension": [0, -1, 2**50, None]},
        bad_answers=[(123456,) * (dimension + 1), [0.5678] * dimension, "12345", None],
        **more,
    )


SLIPS = {"delta": [0, -1, 1, "1e-30", "ln(2)", None]}
NOISE = {"epsilon": BAD_EPSILON, "sensitivity": BAD_SENSITIVITY}
CASES = [
    whole(Geometric, {"epsilon": "ln(3)"}, bad_parameters=NOISE),
    whole(Geometric, {"epsilon": 1}, bits=16, bad_parameters=NOISE),
    whole(Geometric, {"epsilon": "2*ln(4)", "sensitivity": 2}, bad_parameters=NOISE),
    whole(Geometric, {"epsilon": 2, "sensitivity": 3}, bad_parameters=NOISE),
    whole(
        Staircase,
        {"epsilon": "ln(4)", "sensitivity": 3},
        reach=80,
        bad_parameters={**NOISE, "width": [0, 4, 1.5, "ln(2)"]},
    ),
    whole(Staircase, {"epsilon": "ln(20)", "sensitivity": 4, "width": 4}, bad_parameters=NOISE),
    whole(Staircase, {"epsilon": 3, "sensitivity": 2}, bad_parameters=NOISE),
    whole(Staircase, {"epsilon": "ln(3)"}, bad_parameters=NOISE),
    whole(OptimalNoise, {"epsilon": "ln(2)", "delta": "1/12"}, bad_parameters={**NOISE, **SLIPS}),
    whole(OptimalNoise, {"epsilon": 1, "delta": "1e-6"}, tight=False, bad_parameters={**NOISE, **SLIPS}),
    whole(OptimalNoise, {"epsilon": "ln(3)", "delta": "1/100", "sensitivity": 3}, tight=False, bad_parameters=NOISE),
    bounded("ln(4)", 0, 2),
    bounded("ln(2)", -3, 5),
    bounded("1/2", 0, 6, bits=16),
    bounded("3*ln(2)", 0, 7, sensitivity=3),
    on_a_lattice("2*ln(3)", 1, "1/2"),
    on_a_lattice("3*ln(3)", 1, "3/8"),  # the step does not divide the sensitivity
    on_a_lattice(2, "1/3", "1/3"),
    on_a_lattice("ln(3)", "1/10", 1),  # a step wider than the sensitivity
    in_cells("4*ln(2)", 0, 1, 1, 4),
    in_cells("ln(2)", -3, 5, 1, 8),
    in_cells(1, 0, 5, "5/2", 5, left_out=Fraction(1, 20)),  # with odd cells no answer quite reaches the bound
    vector("ln(20)", 2, 1, 8),
    vector("ln(400)", 2, 2, 10),
    Case(
        calibrated,
        {"epsilon": 1, "delta": "1e-3", "sensitivity": 2},
        answers=range(5),
        graph=within(2, range(5)),
        outputs=range(-60, 61),
        complete=False,
        loss=absolute,
        left_out=TINY,
        tight=False,  # the variance is a little above the least one
        bad_parameters={"epsilon": BAD_EPSILON, "delta": [0, 1, -1, "x"], "sensitivity": BAD_SENSITIVITY},
        bad_answers=[1234.5678, None],
    ),
    Case(
        DiscreteGaussian,
        {"sigma_squared": "7/2"},
        answers=range(3),
        graph=path(3),
        outputs=range(-40, 43),
        complete=False,
        loss=absolute,
        left_out=TINY,
        epsilon=1,
        delta=DiscreteGaussian("7/2").delta_at(1, 256).upper,
        tight=False,  # delta is, and has a test of its own
        bad_parameters={"sigma_squared": [0, -1, "ln(2)", 2**97], "sensitivity": BAD_SENSITIVITY},
        bad_answers=[1234.5678, None],
    ),
    whole(
        Gaussian,
        {"variance": "7/2"},
        epsilon=1,
        delta=Gaussian("7/2").delta_at(1).upper,
        tight=False,  # rounding makes it a little more private
        bad_parameters={"variance": [0, -1, "ln(2)", 2**101, "1e-40"], "sensitivity": BAD_SENSITIVITY},
    ),
    whole(
        Gaussian,
        {"variance": 40, "sensitivity": 3},
        reach=80,
        epsilon=Fraction(1, 2),
        delta=Gaussian(40, 3).delta_at("1/2").upper,
        tight=False,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestNumericMechanisms(Conformance):
    """Whole noise, bounded noise, noise on a lattice, in cells and on vectors."""
