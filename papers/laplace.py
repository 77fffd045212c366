"""Fernandes, McIver and Morgan 2021: the Laplace mechanism has optimal utility for continuous queries."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path

from leastnoise.checker import check
from leastnoise.designer.continuous import continuous_loss
from leastnoise.exact import exp_enclosure
from leastnoise.mechanisms import TruncatedGeometric, TruncatedLaplace
from leastnoise.model.channel import Channel
from leastnoise.model.continuous_priors import ContinuousPrior
from leastnoise.model.graphs import from_edges
from leastnoise.model.kantorovich import earth_mover, kantorovich
from leastnoise.model.losses import Loss, absolute, from_function, is_legal, lipschitz_constant, squared, zero_one
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.remapping import expected_loss
from papers.claims import Claim, Paper, all_of

__all__ = ["PAPER", "draw_figures"]


def claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _mass_that_moves()
    yield _bayes_risk()
    yield _atoms()
    yield _pixelated_prior()
    yield _three_points()
    yield _five_points()
    yield _ratio_as_printed()
    yield _continuous_inputs()
    yield _steps()
    yield _continuous_and_steps()
    yield _geometric_is_best()
    yield _refinement()
    yield _finer_cells()
    yield _kantorovich_bound()
    yield _any_prior()
    yield _stepped_loss()
    yield _optimal()
    yield _legal_losses()


PAPER = Paper("laplace", "Fernandes, McIver and Morgan, The Laplace mechanism has optimal utility, LICS 2021", claims)


def geometric(steps: int, base: int | Fraction) -> Channel:
    """G on 0, 1/N, …, 1 with α = 1/base per step."""
    labels = _points(steps)
    whole = TruncatedGeometric(f"ln({base})", 0, steps).channel(range(steps + 1), range(steps + 1))
    return Channel(whole.matrix().tolist(), inputs=labels, outputs=labels)


def laplace(steps: int, cells: int, epsilon: str) -> Channel:
    """The truncated Laplace mechanism on the same inputs, its output seen through T cells."""
    mechanism = TruncatedLaplace(epsilon, 0, 1, 1, cells)
    return mechanism.channel(_points(steps), [Fraction(2 * cell + 1, 2 * cells) for cell in range(cells)])


def _points(steps: int) -> list[Fraction]:
    return [Fraction(k, steps) for k in range(steps + 1)]


def _rows(text: str) -> list[list[Fraction]]:
    return [[Fraction(entry) for entry in line.split()] for line in text.split(",")]


def _shown(rows: list[list[Fraction]]) -> str:
    return ", ".join(" ".join(map(str, row)) for row in rows)


def _mass_that_moves() -> Claim:
    stays = geometric(2, 3).probability(Fraction(1, 2), given=Fraction(1, 2))
    return Claim(
        "Section II-D",
        "what does not stay in place has mass 2α/(1 − α)",
        f"α = 1/3: {1 - stays}",
        1 - stays == Fraction(2, 3) / (1 - Fraction(1, 3)),
        "2α/(1 + α)",
    )


def _bayes_risk() -> Claim:
    rows = geometric(4, 2).restrict([Fraction(0), Fraction(1, 2), Fraction(1)])
    risk = expected_loss(uniform(rows.inputs), rows, zero_one)
    return Claim(
        "Section IV-C", "Bayes risk of the 3 × 5 channel, uniform prior: 1/3", str(risk), risk == Fraction(1, 3)
    )


def _atoms() -> Claim:
    def total(sign: int, epsilon: int, x: Fraction) -> Fraction:
        """Atoms at both ends and the mass in between; to within 10^-15."""
        ends: Fraction = sum(
            (exp_enclosure(sign * epsilon * distance).lower / 2 for distance in (x, 1 - x)), start=Fraction(0)
        )
        inside = 1 - sum((exp_enclosure(-epsilon * distance).lower / 2 for distance in (x, 1 - x)), start=Fraction(0))
        return ends + inside

    grid = list(product((1, 2), (Fraction(0), Fraction(1, 4))))
    right = all(abs(total(-1, *case) - 1) < Fraction(1, 10**12) for case in grid)
    printed = [(f"ε = {epsilon}, x = {x}", abs(total(1, epsilon, x) - 1) < Fraction(1, 10**12)) for epsilon, x in grid]
    instead = "½e^(−εx) at 0 and ½e^(−ε(1−x)) at 1" + (", with which they sum to one" if right else "")
    return all_of("Definition 4", "atoms e^(εx)/2 and e^(ε(1−x))/2 make the masses sum to one", printed, instead)


def _pixelated_prior() -> Claim:
    steps = 2
    masses = {k: Fraction(min(k + 1, steps) - min(k, steps), steps) for k in range(steps + 1)}  # [k/N, (k+1)/N) to k/N
    return Claim(
        "Section VI-A",
        "the uniform prior in N = 2 steps is 1/2 on 0 and on 1/2",
        ", ".join(f"{Fraction(k, steps)}: {mass}" for k, mass in masses.items()),
        masses == {0: Fraction(1, 2), 1: Fraction(1, 2), 2: Fraction(0)},
    )


def _three_points() -> Claim:
    rows = geometric(2, 4).matrix().tolist()
    printed = _rows("4/5 3/20 1/20, 1/5 3/5 1/5, 1/20 3/20 4/5")
    return Claim("Section VII, the 3 × 3 matrix", "α = 1/4", _shown(rows), rows == printed)


def _five_points() -> Claim:
    rows = geometric(4, 2).matrix().tolist()
    printed = _rows(
        "2/3 1/6 1/12 1/24 1/24, 1/3 1/3 1/6 1/12 1/12, 1/6 1/6 1/3 1/6 1/6, 1/12 1/12 1/6 1/3 1/3, "
        "1/24 1/24 1/12 1/6 2/3"
    )
    return Claim("Section VII, the 5 × 5 matrix", "α = 1/2", _shown(rows), rows == printed)


def _ratio_as_printed() -> Claim:
    channel = geometric(4, 2)
    first, second, third = (channel.probability(Fraction(0), given=x) for x in _points(4)[:3])
    return Claim(
        "Section VII, ratios of the 5 × 5 matrix",
        "2/3 ÷ 1/3 = 1/3 ÷ 1/2 = 2",
        f"the column has {first} ÷ {second} = {first / second}, {second} ÷ {third} = {second / third}",
        Fraction(1, 3) / Fraction(1, 2) == 2,
        "1/3 ÷ 1/6",
    )


def _continuous_inputs() -> Claim:
    """Inputs a quarter of a step apart, each with its own outputs: geometric noise in whole steps, cut to three."""
    noise = geometric(2, 4).matrix().tolist()[1]
    inputs = (Fraction(0), Fraction(1, 4))
    channel = Channel.from_rows({x: {x + i: mass for i, mass in zip((-1, 0, 1), noise, strict=True)} for x in inputs})
    verdict = check(channel, from_edges([inputs]), 100)
    return Claim(
        "Section II-F",
        "noise in whole steps on continuous inputs is not private for any ε: the outputs of near inputs do not meet",
        f"tight ε = {verdict.tight_epsilon}",
        verdict.tight_epsilon == math.inf,
    )


_PRIORS = {
    "even": ContinuousPrior(lambda x: x),
    "rising": ContinuousPrior.from_density([0, 1]),
    "in the middle": ContinuousPrior.from_density([0, 1, -1]),
    "two bins": ContinuousPrior.from_histogram([0, "1/3", 1], [4, 1]),
}
_FINE = 4  # points to a step where continuous inputs are tried


def _step_of(x: Fraction, steps: int) -> Fraction:
    """⌊x⌋_N, and (N − 1)/N for x = 1."""
    return Fraction(min(math.floor(x * steps), steps - 1), steps)


def _stepped(steps: int) -> Loss:
    """ℓ_N of the absolute error."""
    return from_function(lambda w, x: abs(w - _step_of(x, steps)), _points(steps))


def _steps() -> Claim:
    def holds(prior: ContinuousPrior, steps: int) -> bool:
        channel = geometric(steps, 2)
        rows = {x: channel.row(_step_of(x, steps)) for x in _points(steps * _FINE)}
        lifted = Channel(list(rows.values()), inputs=rows, outputs=channel.outputs)
        fine = expected_loss(prior.approximation(steps * _FINE), lifted, _stepped(steps))
        return fine == expected_loss(prior.approximation(steps), channel, absolute)

    cases = ((f"{name} prior, N = {steps}", holds(prior, steps)) for name, prior in _PRIORS.items() for steps in (1, 3))
    says = "an N-step mechanism loses the same under π (here in 4N pieces) and under π_N"
    return all_of("Lemma 8", says, cases)


def _continuous_and_steps() -> Claim:
    steps, cells, ratio = 3, 6, Fraction(5, 4)  # e^(ε/(4N)) = 5/4

    def holds(prior: ContinuousPrior) -> bool:
        epsilon = f"{steps * _FINE}*ln({ratio})"
        whole = laplace(steps * _FINE, cells, epsilon)
        fine = expected_loss(prior.approximation(steps * _FINE), whole, _stepped(steps))
        coarse = expected_loss(prior.approximation(steps), laplace(steps, cells, epsilon), absolute)
        return coarse / ratio**_FINE <= fine <= coarse * ratio**_FINE

    cases = ((f"{name} prior", holds(prior)) for name, prior in _PRIORS.items())
    return all_of("Lemma 9", "e^(−ε/N)·$(π_N, K_N) ≤ $(π, K) ≤ e^(ε/N)·$(π_N, K_N), K the Laplace in six cells", cases)


def _geometric_is_best() -> Claim:
    steps, base = 3, 4

    def others() -> Iterator[tuple[str, Channel]]:
        for cells in (1, 2, 3, 6):
            yield f"Laplace in {cells} cells", laplace(steps, cells, f"{2 * steps}*ln(2)")
        even = [[(p + Fraction(1, 4)) / 2 for p in row] for row in geometric(steps, base).matrix().tolist()]
        yield "half of it even", Channel(even, inputs=_points(steps))

    cases = (
        (
            f"{name} prior, {other}",
            expected_loss(prior.approximation(steps), geometric(steps, base), absolute)
            <= expected_loss(prior.approximation(steps), channel, absolute),
        )
        for name, prior in _PRIORS.items()
        for other, channel in others()
    )
    return all_of("Lemma 10", "under π_N the geometric mechanism loses no more than another private one", cases)


def _stepped_loss() -> Claim:
    steps = 4
    legal = is_legal(_stepped(steps), _points(steps))
    inside = is_legal(_stepped(steps), _points(steps)[:-1])
    return Claim(
        "Lemma 16",
        "ℓ_T is monotone on U_N if ℓ is, and N divides T",
        f"absolute loss, N = T = 4: {'yes' if legal else 'no, at x = 1'}; without x = 1: {'yes' if inside else 'no'}",
        bool(legal),
        "on U_N without 1, where ⌊x⌋_T = x; ℓ_T takes the value of (T − 1)/T at 1. As π_N(1) = 0, Theorem 5 stands",
    )


def _optimal() -> Claim:
    def holds(prior: ContinuousPrior, epsilon: int, loss: Loss) -> bool:
        known = continuous_loss(prior, epsilon, loss=loss, steps=4000)
        return known.least > 0 and known.laplace.upper <= Fraction(105, 100) * known.least

    cases = (
        (f"{name} prior, ε = {epsilon}, {loss.name} loss", holds(prior, epsilon, loss))
        for name, prior in _PRIORS.items()
        for epsilon in (1, 5)
        for loss in (absolute, squared)
    )
    says = "no private mechanism loses less than the truncated Laplace; here at N = 4000 none loses 5 % less"
    return all_of("Theorem 5", says, cases)


def _refinement() -> Claim:
    cases = (
        (
            f"N = {steps}, T = {cells}",
            bool(geometric(steps, 2**cells).refines(laplace(steps, cells, _epsilon(steps, cells)))),
        )
        for steps in (1, 2, 3)
        for cells in (1, 2, 3, 4, 6)
    )
    return all_of("Lemma 11", "the Laplace in T cells is a post-processing of the geometric in N steps", cases)


def _epsilon(steps: int, cells: int) -> str:
    """e^(−ε/(NT)) = 1/2: rational at every border of steps and of cells."""
    return f"{steps * cells}*ln(2)"


def _finer_cells() -> Claim:
    chain = [laplace(3, cells, "24*ln(2)") for cells in (8, 4, 2, 1)]
    cases = (
        (f"{len(fine.outputs)} and {len(coarse.outputs)} cells", bool(fine.refines(coarse)))
        for fine, coarse in pairwise(chain)
    )
    return all_of("Theorem 12", "fewer cells are a post-processing of more, and all of the geometric", cases)


def _gap(prior: Prior, steps: int, cells: int, loss: Loss) -> Fraction:
    far = expected_loss(prior, laplace(steps, cells, _epsilon(steps, cells)), loss)
    return Fraction(far - expected_loss(prior, geometric(steps, 2**cells), loss))


def _constant(steps: int, cells: int) -> Fraction:
    """The c of both theorems, 3/(1 − e^-ε)²."""
    return 3 / (1 - Fraction(1, 2 ** (steps * cells))) ** 2


def _kantorovich_bound() -> Claim:
    def holds(steps: int) -> bool:
        cells, even = 2 * steps, uniform(_points(steps))
        geometric_hyper = geometric(steps, 2**cells).hyper(even)
        laplace_hyper = laplace(steps, cells, _epsilon(steps, cells)).hyper(even)
        work = kantorovich(geometric_hyper, laplace_hyper, earth_mover(_points(steps)))
        return _gap(even, steps, cells, absolute) <= work.lower and work.upper <= _constant(steps, cells) / steps

    says = "loss of the Laplace − loss of the geometric ≤ κ·(Kantorovich distance) ≤ cκ/N, uniform prior"
    return all_of("Theorem 13", says, ((f"N = {steps}", holds(steps)) for steps in (2, 3, 4)))


def _any_prior() -> Claim:
    def holds(steps: int, prior: Prior, loss: Loss) -> bool:
        cells = 2 * steps
        kappa = lipschitz_constant(loss, _points(steps))
        return 0 <= _gap(prior, steps, cells, loss) <= _constant(steps, cells) * kappa / steps

    def priors(steps: int) -> Iterator[tuple[str, Prior]]:
        yield "peaked", Prior({x: 1 + 3 * (x == 0) for x in _points(steps)}, normalise=True)
        yield "ends", Prior({Fraction(0): "1/2", Fraction(1): "1/2"})

    cases = (
        (f"N = {steps}, {name} prior, {loss.name} loss", holds(steps, prior, loss))
        for steps in (2, 4)
        for name, prior in priors(steps)
        for loss in (absolute, squared)
    )
    return all_of("Theorem 14", "0 ≤ loss of the Laplace − loss of the geometric ≤ cκ/N for every prior", cases)


def _legal_losses() -> Claim:
    cases = (
        (f"{loss.name}, N = {steps}", bool(is_legal(loss, _points(steps))))
        for loss in (absolute, squared)
        for steps in (2, 5)
    )
    return all_of("Corollary 17", "absolute and squared loss are monotone, so Theorem 5 applies to them", cases)


def draw_figures(directory: str | Path) -> Path:
    """Figure 1b, the posteriors of the geometric and of the pixelated Laplace mechanism; returns its path."""
    from leastnoise.apps.plots import plot_simplex
    from leastnoise.release.pictures import make_picture_folder

    cell = Fraction(4, 3)  # e^(ε/8), rational so that both channels are exact
    channels = {"geometric": geometric(2, cell**4), "Laplace, seen through 8 cells": laplace(2, 8, f"8*ln({cell})")}
    hypers = {name: channel.hyper(uniform(_points(2))) for name, channel in channels.items()}
    target = make_picture_folder(directory) / "simplex.svg"
    plot_simplex(hypers, target, "what a reader believes about 0, 1/2 and 1 at ε = 8·ln(4/3)")
    return target
