"""Every public function of the samplers and mechanisms with parameters from hell: an answer or a typed error, at once.

One good call for each function; then each of its parameters in turn is replaced by each hostile value. What is drawn is
not looked at here: that a law is right for every parameter that is accepted is for the tests of the laws.
"""

import signal
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from leastnoise import exact
from leastnoise.errors import LeastNoiseError
from leastnoise.exact import gaussian_sums
from leastnoise.exact.samplers import pixelated_laplace, rounded_gaussian
from leastnoise.mechanisms import choice, numeric, vector
from leastnoise.mechanisms.numeric.inference import best_guess
from leastnoise.model.graphs import hypercube, path
from leastnoise.rainbow import RainbowGraph

SECONDS = 10  # on a busy machine; alone none takes one
HOSTILE = [
    "1e1000", "1e-1000", "1e200", "1e-30", 10**18, 10**400, 2**63, -(2**63) - 1, 2**64, -1, 0, 1.5, 1e-320, 1e308,
    float("nan"), float("inf"), None, True, "x", "", "ln(3)", "ln(1e999999)", "ln(0)", (), [], [1], [[1, 2], [3]], {},
    {1}, object(), b"1", range(10**12), np.array(["a"]), np.array([]), np.array(2), np.array([True, False]), 1j,
    np.int8(-128), np.array([-128, 127], dtype=np.int8), np.array([2**64 - 1, 0], dtype=np.uint64), [10**400, 1],
    np.array([1e308, -1e308]), np.array([np.nan, 1.0]), [2**63, -1], ["1e-400", "1e400"], iter([1]),
    ["1.00000000000000000001", 0.5],
]  # fmt: skip

FUNCTIONS = {
    "bernoulli": (exact.bernoulli, {"p": "1/3", "size": None}),
    "bernoulli_pmf": (exact.bernoulli_pmf, {"p": "1/3", "outcome": True}),
    "bernoulli_exp": (exact.bernoulli_exp, {"x": 1, "size": None}),
    "bernoulli_exp_pmf": (exact.bernoulli_exp_pmf, {"x": 1, "outcome": True, "bits": 64}),
    "categorical": (exact.categorical, {"weights": [1, 2], "size": None}),
    "categorical_pmf": (exact.categorical_pmf, {"outcome": 1, "weights": [1, 2]}),
    "categorical_cdf": (exact.categorical_cdf, {"outcome": 1, "weights": [1, 2]}),
    "categorical_exp": (exact.categorical_exp, {"exponents": [1, 2], "base": [1, 1], "size": None, "rate": 1}),
    "categorical_exp_pmf": (exact.categorical_exp_pmf, {"outcome": 1, "exponents": [1, 2], "bits": 64, "rate": 1}),
    "categorical_exp_cdf": (exact.categorical_exp_cdf, {"outcome": 1, "exponents": [1, 2], "bits": 64, "rate": 1}),
    "discrete_gaussian": (exact.discrete_gaussian, {"sigma_squared": 4, "size": None}),
    "discrete_gaussian_pmf": (exact.discrete_gaussian_pmf, {"outcome": 1, "sigma_squared": 4, "bits": 64}),
    "discrete_gaussian_cdf": (exact.discrete_gaussian_cdf, {"outcome": 1, "sigma_squared": 4, "bits": 64}),
    "discrete_gaussian_tail": (gaussian_sums.discrete_gaussian_tail, {"least": 1, "sigma_squared": 4, "bits": 64}),
    "discrete_gaussian_moment": (gaussian_sums.discrete_gaussian_moment, {"order": 1, "sigma_squared": 4, "bits": 64}),
    "discrete_laplace": (exact.discrete_laplace, {"scale": 4, "size": None}),
    "discrete_laplace by rate": (exact.discrete_laplace, {"rate": 4, "size": None}),
    "discrete_laplace_pmf": (exact.discrete_laplace_pmf, {"outcome": 1, "rate": 4, "bits": 64}),
    "discrete_laplace_cdf": (exact.discrete_laplace_cdf, {"outcome": 1, "scale": 4, "bits": 64}),
    "exp_enclosure": (exact.exp_enclosure, {"exponent": 1, "bits": 64}),
    "exact_exp": (exact.exact_exp, {"exponent": Fraction(1)}),
    "ln": (exact.ln, {"argument": 3}),
    "ln_enclosure": (exact.ln_enclosure, {"argument": 3, "bits": 64}),
    "sqrt_enclosure": (exact.sqrt_enclosure, {"argument": 3, "bits": 64}),
    "geometric": (exact.geometric, {"rate": 1, "size": None}),
    "geometric_pmf": (exact.geometric_pmf, {"outcome": 1, "rate": "ln(2)", "bits": 64}),
    "geometric_cdf": (exact.geometric_cdf, {"outcome": 1, "rate": "ln(2)", "bits": 64}),
    "negative_binomial": (exact.negative_binomial, {"terms": 3, "rate": 1, "size": None}),
    "negative_binomial_pmf": (exact.negative_binomial_pmf, {"outcome": 2, "terms": 3, "rate": "ln(2)", "bits": 64}),
    "negative_binomial_cdf": (exact.negative_binomial_cdf, {"outcome": 2, "terms": 3, "rate": 1, "bits": 64}),
    "permutation": (exact.permutation, {"length": 3, "size": None}),
    "permutation_pmf": (exact.permutation_pmf, {"order": [0, 1]}),
    "permute_and_flip": (exact.permute_and_flip, {"scores": [1, 2], "size": None, "rate": 1}),
    "permute_and_flip_pmf": (exact.permute_and_flip_pmf, {"outcome": 1, "scores": [1, 2], "bits": 64, "rate": 1}),
    "read_exact": (exact.read_exact, {"value": 1, "name": "x"}),
    "read_integer": (exact.read_integer, {"value": 1, "name": "x"}),
    "read_rational": (exact.read_rational, {"value": 1, "name": "x"}),
    "rounded_gaussian": (exact.rounded_gaussian, {"variance": 4, "size": None}),
    "rounded_gaussian_pmf": (exact.rounded_gaussian_pmf, {"outcome": 1, "variance": 4, "bits": 64}),
    "rounded_gaussian_cdf": (exact.rounded_gaussian_cdf, {"outcome": 1, "variance": 4, "bits": 64}),
    "rounded_gaussian_map": (exact.rounded_gaussian_map, {"matrix": [[1, 2]], "variances": [1, 2], "size": None}),
    "rounded_gaussian_moment": (
        rounded_gaussian.rounded_gaussian_moment, {"order": 1, "variance": 4, "bits": 64},
    ),
    "truncated_geometric": (exact.truncated_geometric, {"value": 3, "low": 0, "high": 9, "rate": 1, "size": None}),
    "truncated_geometric_pmf": (
        exact.truncated_geometric_pmf, {"outcome": 3, "value": 3, "low": 0, "high": 9, "rate": 1, "bits": 64},
    ),
    "truncated_geometric_cdf": (
        exact.truncated_geometric_cdf, {"outcome": 3, "value": 3, "low": 0, "high": 9, "scale": 1, "bits": 64},
    ),
    "uniform_integer": (exact.uniform_integer, {"bound": 3, "size": None}),
    "uniform_integer_pmf": (exact.uniform_integer_pmf, {"outcome": 1, "bound": 3}),
    "uniform_integer_cdf": (exact.uniform_integer_cdf, {"outcome": 1, "bound": 3}),
    "pixelated_laplace": (pixelated_laplace.pixelated_laplace, {"offset": "1/3", "rate": 1, "size": None}),
    "pixelated_laplace_pmf": (pixelated_laplace.pixelated_laplace_pmf, {"outcome": 2, "offset": "1/3", "rate": 1}),
    "pixelated_laplace_cdf": (pixelated_laplace.pixelated_laplace_cdf, {"outcome": 2, "offset": "1/3", "rate": 1}),
    "SeededSource": (exact.SeededSource, {"seed": 1}),
}  # fmt: skip


def used(mechanism, answer, output):
    """All that a mechanism is asked for, in one call."""
    return (
        repr(mechanism), mechanism.event, mechanism.release(answer), mechanism.pmf(output, answer), mechanism.error(),
        mechanism.reason(),
    )  # fmt: skip


def with_answer(kind, answer, output):
    return lambda **parameters: used(kind(**parameters), answer, output)


SCORES = [3, 1, 2]
MECHANISMS = {
    "Geometric": (with_answer(numeric.Geometric, 5, 5), {"epsilon": 1, "sensitivity": 2}),
    "Staircase": (with_answer(numeric.Staircase, 5, 5), {"epsilon": 1, "sensitivity": 2, "width": 1}),
    "DiscreteGaussian": (with_answer(numeric.DiscreteGaussian, 5, 5), {"sigma_squared": 4, "sensitivity": 2}),
    "Gaussian": (with_answer(numeric.Gaussian, 5, 5), {"variance": 4, "sensitivity": 2}),
    "GaussianMap": (
        with_answer(vector.GaussianMap, [5, 6], (5, 6)),
        {"matrix": [[1, 0], [0, 1]], "variances": [1, 2], "mu_squared": 1},
    ),
    "Gaussian for (ε, δ)": (
        with_answer(numeric.Gaussian.for_privacy, 5, 5), {"epsilon": 1, "delta": "1e-6", "sensitivity": 1},
    ),
    "DiscreteGaussian for (ε, δ)": (
        with_answer(numeric.DiscreteGaussian.for_privacy, 5, 5), {"epsilon": 1, "delta": "1e-6", "sensitivity": 1},
    ),
    "DiscreteGaussian for ρ": (with_answer(numeric.DiscreteGaussian.for_rho, 5, 5), {"rho": 1, "sensitivity": 1}),
    "TruncatedGeometric": (
        with_answer(numeric.TruncatedGeometric, 5, 5), {"epsilon": 1, "low": 0, "high": 9, "sensitivity": 1},
    ),
    "LatticeLaplace": (with_answer(numeric.LatticeLaplace, 0.5, 0.5), {"epsilon": 1, "sensitivity": 1, "step": "1/4"}),
    "LatticeLaplace for a loss": (
        with_answer(numeric.LatticeLaplace.for_extra_loss, 0.5, 0.5),
        {"epsilon": 1, "sensitivity": 1, "extra_loss": "1/4"},
    ),
    "TruncatedLaplace": (
        with_answer(numeric.TruncatedLaplace, 0.5, 0.5),
        {"epsilon": 1, "low": 0, "high": 1, "sensitivity": 1, "cells": 4},
    ),
    "VectorLaplace": (
        with_answer(numeric.VectorLaplace, [1, 2], (1, 2)), {"epsilon": 1, "dimension": 2, "sensitivity": 1},
    ),
    "VectorLaplace for a map": (
        with_answer(numeric.VectorLaplace.for_linear_map, [1, 2], (1, 2)), {"matrix": [[1, 0], [1, 1]], "epsilon": 1},
    ),
    "KNorm, counting": (
        lambda epsilon, dimension, sensitivity: used(
            vector.KNorm(epsilon, vector.CountingBody(dimension), sensitivity), [1, 2], (1, 2)
        ),
        {"epsilon": 1, "dimension": 2, "sensitivity": 1},
    ),
    "KNorm, cube": (
        lambda epsilon, dimension: used(vector.KNorm(epsilon, vector.Cube(dimension)), [1, 2], (1, 2)),
        {"epsilon": 1, "dimension": 2},
    ),
    "KNorm, ball": (
        lambda epsilon, dimension, radius: used(
            vector.KNorm(epsilon, vector.EuclideanBall(dimension, radius)), [1, 2], (1, 2)
        ),
        {"epsilon": 1, "dimension": 2, "radius": 2},
    ),
    "KNorm, polytope": (
        lambda epsilon, columns, basis: used(
            vector.KNorm(epsilon, vector.Polytope(columns), 1, basis), [1, 2], (1, 2)
        ),
        {"epsilon": 1, "columns": ((1, 0), (0, 1), (1, 1)), "basis": ((1, 0), (0, 1))},
    ),
    "for_linear_map": (
        lambda matrix, epsilon: str(vector.for_linear_map(matrix, epsilon)), {"matrix": [[1, 1], [0, 1]], "epsilon": 1},
    ),
    "Exponential": (
        with_answer(choice.Exponential, SCORES, 0),
        {"epsilon": 1, "candidates": 3, "sensitivity": 1, "monotone": False, "base": [1, 2, 3]},
    ),
    "PermuteAndFlip": (
        with_answer(choice.PermuteAndFlip, SCORES, 0),
        {"epsilon": 1, "candidates": 3, "sensitivity": 1, "monotone": False},
    ),
    "ApproximateExponential": (
        with_answer(choice.ApproximateExponential, SCORES, 0),
        {"epsilon": 1, "candidates": 3, "sensitivity": 1, "largest_score": 10},
    ),
    "MostCommon": (with_answer(choice.MostCommon, SCORES, 0), {"epsilon": 1, "options": 3, "replace": False}),
    "OneShotTopK": (with_answer(choice.OneShotTopK, SCORES, (0, 1)), {"epsilon": 1, "candidates": 3, "k": 2}),
    "PeelingTopK": (with_answer(choice.PeelingTopK, SCORES, (0, 1)), {"epsilon": 1, "candidates": 3, "k": 2}),
    "BestPrice": (
        with_answer(choice.BestPrice, [1, 5, 7], Fraction(5)),
        {"epsilon": 1, "highest_valuation": 10, "prices": [5, 10]},
    ),
    "RandomizedResponse": (with_answer(choice.RandomizedResponse, 1, 1), {"epsilon": 1, "options": 3}),
    "RainbowGraph": (
        RainbowGraph, {"graph": path(4), "preferences": {0: ("a", "b"), 1: ("a", "b"), 2: ("b", "a"), 3: ("b", "a")}},
    ),
    "best_guess": (
        lambda released, prior: best_guess(numeric.Geometric(1), released, prior), {"released": 1, "prior": [0.5, 0.5]},
    ),
}  # fmt: skip


@contextmanager
def time_limit(what):
    def stop(*_):
        raise TimeoutError(what)

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*FUNCTIONS, *MECHANISMS])
def test_hostile_parameters_give_an_answer_or_a_typed_error_at_once(name):
    call, good = {**FUNCTIONS, **MECHANISMS}[name]
    call(**good)
    problems = []
    for parameter in good:
        for value in HOSTILE:
            try:
                with time_limit(f"{parameter}={value!r}"):
                    call(**{**good, parameter: value})
            except LeastNoiseError:
                pass
            except Exception as error:
                problems.append(f"{parameter}={value!r:.40}: {type(error).__name__}: {error!s:.80}")
    assert not problems, "\n".join(problems)


def test_colours_without_a_look_up_are_refused_at_once():
    with time_limit("a range is searched"), pytest.raises(LeastNoiseError, match="mapping"):
        RainbowGraph(hypercube(20), range(10**12))


def test_the_table_speaks_of_every_sampler():
    public = {name for name in exact.__all__ if callable(getattr(exact, name)) and name.islower()}
    elsewhere = {"enumerate_law", "require_secure", "system_source"}
    directed = {f"{name}_{side}" for name in ("exp", "ln", "sqrt") for side in ("above", "below")}
    assert public - elsewhere - directed <= set(FUNCTIONS)
