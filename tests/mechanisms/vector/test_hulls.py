"""Faces and lattices in whole numbers: what floating-point hulls only guess."""

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.matrices import RationalMatrix, coordinates, distinct_columns, lattice_basis
from leastnoise.mechanisms.vector import hulls
from leastnoise.mechanisms.vector.hulls import boundary, determinant


def faces_by_trying_all(columns):
    """Every plane a·y = 1 through as many corners as there are dimensions that has all corners on one side."""
    corners = {*columns, *(tuple(-e for e in c) for c in columns)}
    dimension, found = len(columns[0]), set()
    for chosen in combinations(sorted(corners), dimension):
        if determinant(chosen):
            normal = [row[0] for row in RationalMatrix(chosen).solve(RationalMatrix([[1]] * dimension)).rows]
            if max(sum(a * c for a, c in zip(normal, corner, strict=True)) for corner in corners) <= 1:
                found.add(max(tuple(normal), tuple(-a for a in normal)))
    return found


spanning = st.integers(2, 4).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-2, 2)] * d).filter(any), min_size=d, max_size=d + 3)
)


@pytest.mark.slow
@settings(max_examples=60)
@given(spanning)
def test_all_faces_are_found(columns):
    if np.linalg.matrix_rank(np.array(columns)) < len(columns[0]):
        return
    found = boundary(columns)
    assert {tuple(Fraction(a, found.scale) for a in face) for face in found.faces} == faces_by_trying_all(columns)


@pytest.mark.parametrize(("dimension", "volume"), [(1, 2), (2, 3), (3, 4), (4, 5), (5, 6)])
def test_the_volume_of_counting_queries_is_one_more_than_their_number(dimension, volume):
    columns = [c for c in product((0, 1), repeat=dimension) if any(c)]
    assert boundary(columns).volume == volume


def test_the_volume_of_independent_columns_is_that_of_the_cross_polytope_times_the_determinant():
    assert boundary([(2, 1, 0), (0, 3, 1), (1, 0, 1)]).volume == Fraction(2**3 * 7, 6)


def test_a_face_that_is_missing_is_noticed(monkeypatch):
    """The guess of the hull is spoilt: what is left does not close up, and nothing is built on it."""
    guess = hulls._normals

    def spoilt(corners, dimension):
        normals = guess(corners, dimension)
        return [n for n in normals if n not in (normals[0], tuple(-a for a in normals[0]))]

    monkeypatch.setattr(hulls, "_normals", spoilt)
    with pytest.raises(BadParameter, match="verified"):
        boundary([(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1)])


def test_simplices_counted_twice_are_noticed():
    square = boundary([(1, 0), (0, 1)])
    assert hulls._is_sphere(square.simplices)
    assert not hulls._is_sphere([*square.simplices, *square.simplices])
    assert not hulls._is_sphere(square.simplices[1:])


def test_columns_that_do_not_span_the_space_have_no_body():
    with pytest.raises(TooLarge):
        boundary([(1, 1), (2, 2)])


@given(st.lists(st.lists(st.integers(-9, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_determinants_are_exact(rows):
    assert determinant(tuple(map(tuple, rows))) == round(np.linalg.det(np.array(rows, dtype=float)))


matrices = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-4, 4), min_size=shape[1], max_size=shape[1]), min_size=shape[0], max_size=shape[0]
    )
)


@given(matrices)
def test_a_basis_generates_the_lattice_of_the_columns_and_no_more(matrix):
    columns = distinct_columns(matrix)
    if not columns:
        return
    basis = lattice_basis(columns)
    assert len(basis) == np.linalg.matrix_rank(np.array(matrix))
    whole = coordinates(columns, basis)
    again = [tuple(sum(k * b[i] for k, b in zip(c, basis, strict=True)) for i in range(len(matrix))) for c in whole]
    assert again == columns
    # The basis is made of whole combinations of the columns: their coordinates generate all of Z^r.
    minors = [abs(determinant(chosen)) for chosen in combinations(whole, len(basis))]
    assert np.gcd.reduce(np.array(minors, dtype=object)) == 1
