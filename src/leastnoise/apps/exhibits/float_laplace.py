"""Laplace noise of scale 1 in doubles, added to 0 and to 1: its octave, and whether it lies on a coarse grid."""

import json

import numpy as np

DRAWS = 100_000

generator = np.random.default_rng()
found = {}
for truth in (0.0, 1.0):
    released = truth + generator.laplace(scale=1.0, size=DRAWS)
    octave = np.clip(np.frexp(released)[1], -8, 4)
    on_the_grid = np.mod(released * 2.0**53, 1.0) == 0
    rows = zip((released < 0).tolist(), octave.tolist(), on_the_grid.tolist(), strict=True)
    found[f"{truth:g}"] = [f"{'-' * below}2^{o}{' on the grid' * grid}" for below, o, grid in rows]
print(json.dumps(found))
