"""The assertions for tests of mechanisms: they pass what is right and say what is wrong."""

import subprocess
import sys

import numpy as np
import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import discrete_laplace, discrete_laplace_pmf
from leastnoise.testing import NoiseCall, assert_law, assert_private, assert_sensitivity


class Noise:
    """A noise mechanism as other libraries have it: the sensitivity is an attribute."""

    def __init__(self, sensitivity):
        self.sensitivity = sensitivity

    def randomise(self, value):
        return value + int(discrete_laplace(self.sensitivity))


def add_noise(values, sensitivity, public=None):  # noqa: ARG001 - seen by the recorder
    return np.asarray(values) + discrete_laplace(sensitivity, np.size(values))


HERE = f"{__name__}.add_noise"
CALL = NoiseCall(HERE, truth="values", sensitivity="sensitivity")


def noisy(*arguments, **named):
    return sys.modules[__name__].add_noise(*arguments, **named)


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    monkeypatch.setitem(sys.modules, __name__, sys.modules.get(__name__) or sys.modules["tests.checker.test_testing"])


def test_private_samplers_pass_and_others_fail_with_the_counterexample():
    def flip(x, size):
        return (discrete_laplace(1, size) + x).tolist()

    found = assert_private(flip, [(0, 1), (1, 0)], epsilon=1, samples=20_000)
    assert [audit.refuted for audit in found] == [False, False]
    with pytest.raises(AssertionError, match=r"is refuted: the outputs show ε ≥ .*\n  event"):
        assert_private(flip, [(0, 1), (0, 3)], epsilon=1, samples=20_000)


def test_pairs_that_are_no_pairs_are_refused():
    with pytest.raises(BadParameter, match="pairs"):
        assert_private(lambda x: x, [(0, 1, 2)], epsilon=1)


def test_samples_of_another_law_fail():
    def law(k):
        return discrete_laplace_pmf(k, 3)

    assert assert_law(lambda size: discrete_laplace(3, size), law, support=range(-40, 41), samples=50_000)
    with pytest.raises(AssertionError, match="contradict the law"):
        assert_law(lambda size: discrete_laplace("27/10", size), law, support=range(-40, 41), samples=50_000)


def test_a_pipeline_whose_sensitivities_are_right_passes_with_several_adaptive_calls():
    def pipeline(rows):
        first = noisy([len(rows)], sensitivity=1)
        if first[0] > 2:  # depends on what was released only
            noisy([sum(min(row, 5) for row in rows)], sensitivity=5)
        noisy(np.bincount(rows, minlength=10), sensitivity=1, public="histogram")

    assert assert_sensitivity(pipeline, [1, 2, 9, 4], [1, 2, 4], CALL) in (2, 3)


@pytest.mark.parametrize(
    ("pipeline", "text"),
    [
        (lambda rows: noisy([sum(rows)], sensitivity=5), "declares a sensitivity of 5"),
        (lambda rows: noisy([len(rows)], sensitivity=len(rows)), "other ways than its true answer"),
        (lambda rows: noisy([1], 1, public=max(rows)), "other ways than its true answer"),
        (lambda rows: noisy(rows, sensitivity=100), "different shapes"),
        (lambda rows: [noisy([1], 1) for _ in rows], "leads to 3 calls, the dataset to 4"),
        (lambda rows: [noisy([1], 1) for _ in range(9 - len(rows))], "one more call"),
        (lambda rows: len(rows), "made 0 calls"),
    ],
)
def test_a_pipeline_that_tells_more_than_it_declares_fails(pipeline, text):
    with pytest.raises(AssertionError, match=text):
        assert_sensitivity(pipeline, [1, 2, 9, 4], [1, 2, 4], CALL)


def test_norms_are_decided_exactly():
    def pipeline(shift):
        noisy([3.0 * shift, 4.0 * shift], 5)

    euclidean = NoiseCall(HERE, "values", "sensitivity", norm="l2")
    assert assert_sensitivity(pipeline, 0, 1, euclidean) == 1
    with pytest.raises(AssertionError, match="farther apart"):
        assert_sensitivity(pipeline, 0, np.nextafter(1.0, 2.0), euclidean)
    with pytest.raises(AssertionError, match="farther apart"):
        assert_sensitivity(pipeline, 0, 1, CALL)
    assert assert_sensitivity(pipeline, 0, 1, NoiseCall(HERE, "values", 4, norm="l∞")) == 1


def test_methods_are_recorded_with_the_sensitivity_of_their_object():
    mechanism = NoiseCall(f"{__name__}.Noise.randomise", "value", lambda given: given["self"].sensitivity)
    assert assert_sensitivity(lambda rows: Noise(1).randomise(len(rows)), [1, 2], [1], mechanism) == 1
    with pytest.raises(AssertionError, match="declares a sensitivity of 1"):
        assert_sensitivity(lambda rows: Noise(1).randomise(sum(rows)), [1, 2], [1], mechanism)
    with pytest.raises(AssertionError, match="other ways"):
        assert_sensitivity(lambda rows: Noise(len(rows)).randomise(1), [1, 2], [1], mechanism)


def test_the_function_is_put_back_also_after_a_failure():
    before = add_noise
    with pytest.raises(AssertionError):
        assert_sensitivity(lambda rows: noisy([sum(rows)], 1), [5], [7], CALL)
    assert sys.modules[__name__].add_noise is before


@pytest.mark.parametrize(
    "call", [lambda: NoiseCall(HERE, "values", 1, norm="l3"), lambda: assert_sensitivity(len, [], [])]
)
def test_bad_descriptions_are_refused(call):
    with pytest.raises(BadParameter):
        call()


def test_unknown_functions_and_parameters_are_refused():
    with pytest.raises(BadParameter, match="no such function"):
        assert_sensitivity(len, [], [], NoiseCall("leastnoise.nothing.here", "x", 1))
    with pytest.raises(BadParameter, match="no such parameter"):
        assert_sensitivity(lambda _: noisy([1], 1), [], [], NoiseCall(HERE, "nonsense", 1))


@pytest.mark.slow
def test_the_plugin_reports_a_seed_that_repeats_the_run(tmp_path):
    (tmp_path / "test_it.py").write_text("def test_it(leastnoise_seed):\n    assert leastnoise_seed == -1\n")

    def run(*options):
        named = ["-p", "no:leastnoise", "-p", "leastnoise.apps.pytest_plugin"]  # installed or not
        command = [sys.executable, "-m", "pytest", *named, "-p", "no:cacheprovider"]
        done = subprocess.run([*command, *options, "test_it.py"], cwd=tmp_path, capture_output=True, text=True)
        return done.stdout

    first = run()
    seed = first.split("--leastnoise-seed ")[1].split()[0]
    again = run("--leastnoise-seed", seed)
    assert first.split("assert ")[2].split()[0] == again.split("assert ")[2].split()[0]
    assert run("--leastnoise-seed", "7").split("assert ")[2].split()[0] != again.split("assert ")[2].split()[0]
