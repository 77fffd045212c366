"""Channels: what a mechanism does, as a matrix p(output | input) with one distribution per input.

After section IV of Fernandes, McIver and Morgan, "The Laplace mechanism has optimal utility for differential privacy
over continuous queries" (LICS 2021, here FMM 2021), and Alvim et al., "The Science of Quantitative Information Flow".
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadChannel, shown
from leastnoise.exact import NumberLike, RationalMatrix, Size, Source, in_shape, system_source
from leastnoise.model.hyper import Hyper
from leastnoise.model.labels import read_labels, unknown_label
from leastnoise.model.losses import Loss
from leastnoise.model.priors import Prior, PriorLike, read_prior, read_prior_floats, uniform
from leastnoise.model.probability_input import Entries, check_size
from leastnoise.model.refinement import Remapping, proof_of, separating_loss
from leastnoise.model.stochastic_matrix import StochasticMatrix

__all__ = ["Channel", "Refinement"]


class Channel(StochasticMatrix):
    """A row-stochastic matrix with labelled inputs (rows) and outputs (columns), immutable.

    Text, whole numbers, `Fraction`s and `Decimal`s make an exact channel: its rows sum to exactly one and whatever is
    computed from it is exact. Floats make a float channel: every entry counts as exactly the number it is, rows sum to
    one within 1e-9, and what is computed from it is a float.

    Args:
        matrix: Rows of probabilities, or a two-dimensional array.
        inputs: A label per row; 0, 1, 2, … if left out.
        outputs: A label per column; 0, 1, 2, … if left out.
        rounded: Accept exact rows that miss a sum of one by at most 1e-9, such as printed floats.

    Raises:
        BadChannel: Not a matrix, a negative entry or no number, a row that is no distribution, repeated labels.

    >>> geometric = Channel([["4/5", "3/20", "1/20"], ["1/5", "3/5", "1/5"], ["1/20", "3/20", "4/5"]])
    >>> geometric.probability(1, given=0)
    Fraction(3, 20)
    >>> print(geometric.pixelate(lambda output: "low" if output == 0 else "high"))
        low   high
    0   4/5    1/5
    1   1/5    4/5
    2  1/20  19/20
    """

    __slots__ = ()

    @classmethod
    def from_rows(cls, rows: Mapping[Hashable, Mapping[Hashable, NumberLike]]) -> Channel:
        """A channel from {input: {output: probability}}; outputs that a row leaves out have probability zero.

        >>> Channel.from_rows({"rain": {"wet": 1}, "sun": {"wet": "1/10", "dry": "9/10"}}).row("rain")
        (Fraction(1, 1), Fraction(0, 1))
        """
        if not isinstance(rows, Mapping) or not all(isinstance(row, Mapping) for row in rows.values()):
            raise BadChannel("rows are given as {input: {output: probability}}", given=rows, fix="pass nested mappings")
        outputs = list(dict.fromkeys(output for row in rows.values() for output in row))
        return cls([[row.get(output, 0) for output in outputs] for row in rows.values()], rows, outputs)

    @classmethod
    def identity(cls, labels: Iterable[Hashable] | int) -> Channel:
        """The channel that tells everything: each input is its own output."""
        return cls.deterministic(lambda label: label, labels)

    @classmethod
    def uniform(cls, inputs: Iterable[Hashable] | int, outputs: Iterable[Hashable] | int) -> Channel:
        """The channel that tells nothing: every output equally likely for every input."""
        names, values = read_labels(inputs, "inputs"), read_labels(outputs, "outputs")
        check_size(len(names), len(values))
        return cls.of_entries(RationalMatrix([[Fraction(1, len(values))] * len(values)] * len(names)), names, values)

    @classmethod
    def deterministic(
        cls, function: Callable[[Any], Hashable] | Mapping[Any, Hashable], inputs: Iterable[Hashable] | int
    ) -> Channel:
        """The channel that answers function(input), or what the mapping says; outputs in order of first appearance.

        >>> Channel.deterministic(lambda n: n % 2, 3).outputs
        (0, 1)
        """
        names = read_labels(inputs, "inputs")
        if isinstance(function, Mapping):
            missing = next((name for name in names if name not in function), None)
            if missing is not None:
                raise unknown_label(missing, function, "label")
            values = [function[name] for name in names]
        else:
            values = [function(name) for name in names]
        outputs = read_labels(dict.fromkeys(values), "outputs")
        check_size(len(names), len(outputs))
        units = {output: [int(place == k) for k in range(len(outputs))] for place, output in enumerate(outputs)}
        return cls.of_entries(RationalMatrix([units[value] for value in values]), names, outputs)

    def to_exact(self, *, normalise: bool = False) -> Channel:
        """The same channel with every float as the rational it is; its rows sum to one only up to rounding.

        Args:
            normalise: Let the largest entry of each row take up what the row misses, so that it sums to exactly one.

        >>> Channel([[0.1, 0.9]]).to_exact().sums_to_one, Channel([[0.25, 0.75]]).to_exact().sums_to_one
        (False, True)
        """
        entries = self.rationals()
        sums = entries.row_sums()
        if normalise:  # dividing by the sums would do too, but make denominators that nobody wants to compute with
            entries = RationalMatrix([_made_whole(row, total) for row, total in zip(entries.rows, sums, strict=True)])
        to_one = normalise or all(total == 1 for total in sums)
        return Channel.of_entries(entries, self.inputs, self.outputs, sums_to_one=to_one)

    def then(self, other: Channel) -> Channel:
        """Post-processing: this channel, then `other` on its output; other's inputs are matched by label.

        The matrix product; exact if both are.

        >>> flip = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> flip.then(flip).row(0)
        (Fraction(5, 8), Fraction(3, 8))
        """
        second, first = other.restrict(self.outputs), self.entries
        if isinstance(first, RationalMatrix) and isinstance(second.entries, RationalMatrix):
            product: Entries = first @ second.entries
        else:
            product = self.floats() @ second.floats()
        to_one = self.sums_to_one and second.sums_to_one
        return Channel.of_entries(product, self.inputs, second.outputs, sums_to_one=to_one)

    def parallel(self, other: Channel) -> Channel:
        """Both channels on the same input, independently; the outputs are the pairs.

        >>> Channel.identity("ab").parallel(Channel.uniform("ab", "?")).outputs
        (('a', '?'), ('b', '?'))
        """
        for label in other.inputs:
            self.input_place(label)
        second = other.restrict(self.inputs)
        exact = self.is_exact and second.is_exact
        shape = len(self.inputs), len(self.outputs) * len(second.outputs)
        check_size(*shape, exact=exact)
        left, right = (self.matrix(), second.matrix()) if exact else (self.floats(), second.floats())
        product: NDArray[Any] = (left[:, :, None] * right[:, None, :]).reshape(shape)
        entries: Entries = RationalMatrix(product.tolist()) if exact else product
        pairs = [(one, two) for one in self.outputs for two in second.outputs]
        to_one = self.sums_to_one and second.sums_to_one
        return Channel.of_entries(entries, self.inputs, pairs, sums_to_one=to_one)

    def restrict(self, inputs: Iterable[Hashable]) -> Channel:
        """The channel on some of its inputs, in the order given."""
        chosen = read_labels(inputs, "inputs")
        return self if chosen == self.inputs else self.select({label: label for label in chosen})

    def select(self, inputs: Mapping[Hashable, Hashable]) -> Channel:
        """Pre-processing: the channel that treats each new input as one of its own, {new: own}.

        This is how a channel on a grid becomes one on finer inputs (FMM 2021, Definition 7).

        >>> Channel.identity(2).select({"low": 0, "middle": 0, "high": 1}).row("middle")
        (Fraction(1, 1), Fraction(0, 1))
        """
        new = read_labels(inputs, "inputs")
        places = [self.input_place(own) for own in inputs.values()]
        entries = self.entries
        chosen = entries.take_rows(places) if isinstance(entries, RationalMatrix) else entries[places]
        return Channel.of_entries(chosen, new, self.outputs, sums_to_one=self.sums_to_one)

    def pixelate(self, function: Callable[[Any], Hashable] | Mapping[Any, Hashable]) -> Channel:
        """Merge outputs: each becomes function(output), or what the mapping says, and probabilities add up."""
        merging = Channel.deterministic(function, self.outputs)
        if isinstance(self.entries, RationalMatrix):
            return self.then(merging)
        merged = np.zeros((len(self.inputs), len(merging.outputs)))
        np.add.at(merged.T, merging.floats().argmax(axis=1), self.entries.T)
        return Channel.of_entries(merged, self.inputs, merging.outputs)

    def joint_entries(self, prior: PriorLike) -> Entries:
        """π_x·p(y|x) in the form that computes."""
        if isinstance(self.entries, RationalMatrix):
            return self.entries.scaled_rows(read_prior(prior, self.inputs))
        return self.entries * read_prior_floats(prior, self.inputs)[:, None]

    def joint(self, prior: PriorLike) -> NDArray[Any]:
        """The joint distribution π_x·p(y|x), as an array laid out like `matrix`."""
        joint = self.joint_entries(prior)
        return joint if isinstance(joint, np.ndarray) else np.array(joint.rows, dtype=object)

    def output_marginal(self, prior: PriorLike) -> dict[Hashable, Any]:
        """How likely each output is: {output: Σ_x π_x·p(y|x)}."""
        joint = self.joint_entries(prior)
        sums = joint.sum(axis=0).tolist() if isinstance(joint, np.ndarray) else joint.transposed().row_sums()
        return dict(zip(self.outputs, sums, strict=True))

    def posteriors(self, prior: PriorLike) -> dict[Hashable, dict[Hashable, Any]]:
        """What each output that can happen makes of the prior: {output: {input: π_x·p(y|x) / p(y)}}.

        >>> Channel([["1/2", "1/2"], [0, 1]]).posteriors([0.5, 0.5])[1]
        {0: Fraction(1, 3), 1: Fraction(2, 3)}
        """
        marginal = self.output_marginal(prior)
        columns = zip(self.outputs, self.joint(prior).T.tolist(), strict=True)
        return {
            output: {label: entry / marginal[output] for label, entry in zip(self.inputs, column, strict=True)}
            for output, column in columns
            if marginal[output]
        }

    def hyper(self, prior: PriorLike) -> Hyper:
        """The distribution over posteriors that the prior and this channel produce, equal posteriors merged.

        >>> len(Channel.uniform(2, 5).hyper([0.5, 0.5]))
        1
        """
        return Hyper.of_joint(self.inputs, self.joint_entries(prior))

    def refines(self, other: Channel) -> Refinement:
        """Whether self ⊑ other: other = self·R for some channel R, so other tells at most as much and is as private.

        Read `a.refines(b)` as "a is refined by b" in the words of FMM 2021 and Alvim et al.: b loses at least as much
        as a for every prior and loss. The answer carries its proof, R or a prior and a loss that say no.

        Raises:
            BadChannel: A channel has floats, or rows that do not sum to exactly one.
            UnknownLabel: The two channels have different inputs.

        >>> noisy = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
        >>> Channel.identity(2).refines(noisy).remap == noisy
        True
        >>> answer = noisy.refines(Channel.identity(2))
        >>> from leastnoise.model.remapping import expected_loss
        >>> losses = [expected_loss(answer.prior, channel, answer.loss) for channel in (noisy, Channel.identity(2))]
        >>> answer.holds, losses[0] > losses[1]
        (False, True)
        """
        for label in other.inputs:
            self.input_place(label)
        left, right = _exact_entries(self), _exact_entries(other.restrict(self.inputs))
        proof = proof_of(left, right)
        if isinstance(proof, Remapping):
            return Refinement(True, Channel.of_entries(proof.matrix, self.outputs, other.outputs), None, None)
        loss = separating_loss(proof.matrix, self.inputs, other.outputs)
        return Refinement(False, None, uniform(self.inputs), loss)

    def sample(self, given: Hashable, size: Size = None, source: Source | None = None) -> Any:
        """Draw an output for an input, by its exact law; an array of outputs if `size` is given.

        A row of floats is drawn in proportion to the numbers that the floats are.

        >>> Channel.identity("ab").sample("b")
        'b'
        """
        sampler, row = self.sampler(), self.input_place(given)
        drawn = in_shape(partial(sampler.draw_from, row), size, source)
        return self.outputs[drawn] if size is None else self._named(drawn)

    def sample_each(self, given: Iterable[Hashable], source: Source | None = None) -> NDArray[Any]:
        """Draw an output for each of many inputs, independently, each by its exact law.

        >>> Channel.identity("ab").sample_each("abba").tolist()
        ['a', 'b', 'b', 'a']
        """
        rows = np.array([self.input_place(label) for label in given], dtype=np.int64)
        return self._named(self.sampler().draw(rows, source or system_source))

    def _named(self, places: NDArray[np.int64]) -> NDArray[Any]:
        labels = np.empty(len(self.outputs), dtype=object)
        for place, label in enumerate(self.outputs):  # one by one: a label may be a tuple
            labels[place] = label
        return labels[places]


class Refinement(NamedTuple):
    """The answer to a ⊑ b, with its proof.

    Attributes:
        holds: Whether b = a·R for some channel R.
        remap: R, with `a.then(R) == b` exactly; None if there is none.
        prior: If it does not hold, a prior for which b loses strictly less than a under `loss`.
        loss: That loss; its guesses are the outputs of b.
    """

    holds: bool
    remap: Channel | None
    prior: Prior | None
    loss: Loss | None

    def __bool__(self) -> bool:
        """Whether the refinement holds."""
        return self.holds


def _exact_entries(channel: Channel) -> RationalMatrix:
    if not channel.sums_to_one:
        raise BadChannel(
            "refinement is decided exactly, and needs exact rows that sum to one",
            given=shown(channel),
            fix="write the entries as fractions, or use channel.to_exact(normalise=True)",
        )
    return channel.rationals()


def _made_whole(row: Sequence[Fraction], total: Fraction) -> list[Fraction]:
    largest = row.index(max(row))
    return [entry + (1 - total) if place == largest else entry for place, entry in enumerate(row)]
