"""Small weighted graphs, and the truth about their cuts, one by one."""

import numpy as np
from hypothesis import strategies as st


def symmetric(count, upper):
    matrix = np.zeros((count, count), dtype=np.int64)
    matrix[np.triu_indices(count, 1)] = upper
    return matrix + matrix.T


@st.composite
def weighted_graphs(draw, most=7, largest=5):
    count = draw(st.integers(2, most))
    pairs = count * (count - 1) // 2
    return symmetric(count, draw(st.lists(st.integers(0, largest), min_size=pairs, max_size=pairs)))


def cut_sides(count):
    """Every cut as truth values, node 0 False, in the order of their bits."""
    return [np.array([False, *(bool(cut >> i & 1) for i in range(count - 1))]) for cut in range(1, 2 ** (count - 1))]


def cut_weights(matrix):
    return [int(matrix[side][:, ~side].sum()) for side in cut_sides(len(matrix))]
