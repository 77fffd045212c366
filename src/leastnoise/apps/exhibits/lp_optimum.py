"""The linear program of the best mechanism on a path of 20 counts at ε = 1, solved in doubles by SciPy's HiGHS."""

import json

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import lil_matrix

N = 20
values = np.arange(N)
private = lil_matrix((2 * (N - 1) * N, N * N))
row = 0
for x in range(N - 1):
    for z in range(N):
        for first, second in ((x, x + 1), (x + 1, x)):
            private[row, first * N + z], private[row, second * N + z] = 1.0, -np.e
            row += 1
sums = lil_matrix((N, N * N))
for x in range(N):
    sums[x, x * N : (x + 1) * N] = 1.0
loss = np.abs(values[:, None] - values[None, :]).ravel() / N
best = linprog(loss, private.tocsr(), np.zeros(row), sums.tocsr(), np.ones(N), method="highs")
channel = np.clip(best.x.reshape(N, N), 0, None)
print(json.dumps((channel / channel.sum(axis=1, keepdims=True)).tolist()))
