"""The one significance level of all statistical tests, and the one test of fit they use."""

import numpy as np
from scipy.stats import chi2

ALPHA = 1e-6
_LEAST_EXPECTED = 10


def fits(samples, cdf, low, high):
    """Whether integer samples fit a law at level ALPHA: chi-square over cells of at least ten expected each.

    `cdf(x)` is P(X ≤ x); cells are single integers in low..high, merged where they are rare, and the two tails.
    """
    samples = np.asarray(samples)
    borders = np.arange(low, high + 1)
    cumulative = np.array([float(cdf(int(x))) for x in borders])
    shares = np.diff(np.concatenate([[0.0], cumulative, [1.0]]))
    assert shares.min() > -1e-9, "a distribution function never falls, and ends at one"
    cells = shares * len(samples)
    observed = np.bincount(np.searchsorted(borders, samples, side="left"), minlength=len(cells)).astype(float)
    merged_cells, merged_observed = [0.0], [0.0]
    for expected, seen in zip(cells, observed, strict=True):
        if merged_cells[-1] >= _LEAST_EXPECTED:
            merged_cells.append(0.0)
            merged_observed.append(0.0)
        merged_cells[-1] += expected
        merged_observed[-1] += seen
    if len(merged_cells) > 1 and merged_cells[-1] < _LEAST_EXPECTED:
        rare, seen_rare = merged_cells.pop(), merged_observed.pop()
        merged_cells[-1] += rare
        merged_observed[-1] += seen_rare
    expected, seen = np.array(merged_cells), np.array(merged_observed)
    assert len(expected) > 1, "one cell alone tests nothing"
    statistic = ((seen - expected) ** 2 / expected).sum()
    return chi2.sf(statistic, len(expected) - 1) >= ALPHA
