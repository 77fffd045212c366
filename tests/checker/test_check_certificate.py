import json
import subprocess
import sys
from dataclasses import replace
from fractions import Fraction

import pytest

from leastnoise.checker import check
from leastnoise.errors import BadCertificate
from leastnoise.exact.enclosures import Enclosure, exp_above, exp_below
from leastnoise.model import certificate as every_kind
from leastnoise.model.certificate import (
    Certificate,
    OptimalityCertificate,
    PrivacyCertificate,
    RefinementCertificate,
    TheoremCertificate,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, hypercube, integers, path
from leastnoise.model.privacy import Privacy
from support.certificates import Design, average, distance_loss, optimality_certificate, worst
from support.channels import geometric

HALF = Fraction(1, 2)


def exponential(graph, alpha):
    rows = [[alpha ** int(d) for d in row] for row in graph.distances()]
    return Channel([[weight / sum(row) for weight in row] for row in rows], graph.nodes, graph.nodes)


def theorem(graph, epsilon, channel=None, loss=None):
    degrees = graph.layer_degrees(graph.nodes[0])
    layers = sorted(set(zip(degrees.distance.tolist(), degrees.nearer.tolist(), degrees.further.tolist(), strict=True)))
    return TheoremCertificate(
        "exponential-of-distance",
        graph,
        Privacy(epsilon),
        channel,
        loss,
        tuple(tuple(row) for row in graph.automorphism_generators().tolist()),
        tuple((nearer, further) for _, nearer, further in layers),
    )


def irrational():
    """ε = 1 on a path: the channel for a λ just below e, the bound for one just above."""
    graph, below, above = path(3), exp_below(1, 20), exp_above(1, 20)
    loss, prior = distance_loss(graph), (Fraction(1, 3),) * 3
    primal = Design(graph, {Fraction(1): below}, loss, prior)
    dual = Design(graph, {Fraction(1): above}, loss, prior)
    factors = {Fraction(1): above}
    return optimality_certificate(graph, Privacy(1), factors, primal.channel, dual, loss, "average", primal.value)


def metric():
    """A metric with three lengths, ε = ln 2."""
    graph = from_distance([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    factors = {Fraction(length): Fraction(2**length) for length in (1, 2, 3)}
    loss = tuple(tuple(Fraction(w != x) for x in range(3)) for w in range(3))
    design = Design(graph, factors, loss, (Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)))
    return optimality_certificate(
        graph, Privacy("ln(2)"), factors, design.channel, design, loss, "average", design.value
    )


FIVE = cycle(5)
SAMPLES = {
    "privacy": PrivacyCertificate(path(3), Privacy("ln(4)"), geometric(2, Fraction(1, 4))),
    "approximate privacy": PrivacyCertificate(path(3), Privacy("ln(3)", "1/5"), geometric(2, Fraction(1, 4))),
    "average": average(path(3), Fraction(2)),
    "average on a cycle": average(FIVE, Fraction(3)),
    "average with a prior": average(path(3), Fraction(2), prior=(HALF, Fraction(1, 3), Fraction(1, 6))),
    "average with delta": average(path(3), Fraction(2), Fraction(1, 20)),
    "average, e^ε irrational": irrational(),
    "average on a metric": metric(),
    "worst": worst(path(3), Fraction(2)),
    "worst with delta": worst(path(3), Fraction(2), Fraction(1, 20)),
    "exponential": theorem(
        FIVE, "ln(3)", exponential(FIVE, Fraction(1, 3)), Enclosure(Fraction(10, 17), Fraction(10, 17))
    ),
    "exponential, e^ε irrational": theorem(
        hypercube(4), 1, None, Enclosure(Fraction("1.07576568"), Fraction("1.07576569"))
    ),
    "geometric": TheoremCertificate("truncated-geometric", path(4), Privacy("ln(2)"), geometric(3, HALF)),
    "geometric, e^ε irrational": TheoremCertificate("truncated-geometric", path(4), Privacy(1)),
    "refinement": RefinementCertificate(
        Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
        Channel([["5/8", "3/8"], ["3/8", "5/8"]]),
        Channel([["3/4", "1/4"], ["1/4", "3/4"]]),
    ),
}
NAMED = pytest.mark.parametrize("sample", SAMPLES.values(), ids=SAMPLES.keys())


@NAMED
def test_true_certificates_hold(sample):
    verdict = check(sample)
    assert verdict, verdict.reason
    assert verdict.reason is None
    assert "✗" not in str(verdict)


@pytest.mark.slow
@NAMED
def test_they_survive_json(sample):
    again = Certificate.from_json(sample.to_json())
    assert again == sample
    assert check(again)


@pytest.mark.parametrize("name", [name for name in SAMPLES if name.startswith(("average", "worst"))])
def test_optimal_means_no_gap(name):
    assert SAMPLES[name].value > 0
    assert (SAMPLES[name].gap == 0) is ("irrational" not in name)


def test_an_irrational_factor_leaves_a_gap_that_is_known():
    sample = SAMPLES["average, e^ε irrational"]
    assert 0 < sample.gap < Fraction(1, 10**5)


def test_the_closed_form_is_the_optimum_of_the_program():
    """Two kinds of proof of one number: Theorem 1 of Aldà and Simon, and the dual."""
    assert SAMPLES["average on a cycle"].value == SAMPLES["exponential"].loss.lower == Fraction(10, 17)


# Tampering


def leaves(data, place=()):
    if isinstance(data, dict | list):
        for key, part in data.items() if isinstance(data, dict) else enumerate(data):
            yield from leaves(part, (*place, key))
    else:
        yield place, data


def variants(leaf):
    """Every kind of small lie about a leaf."""
    if isinstance(leaf, bool) or leaf is None:
        return [not leaf, "1"]
    if isinstance(leaf, int):
        return [leaf + 1, leaf - 1, str(leaf), True]
    try:
        number = Fraction(leaf)
    except ValueError:
        return [leaf + " ", leaf + " + 1/1000", leaf + " - 1/1000", ""]
    step = Fraction(1, 997)
    return [str(number + step), str(number - step), f"{leaf}.0", f"{2 * number}/2", "0", "1/0", "nan"]


def with_leaf(data, place, value):
    copy = json.loads(json.dumps(data))
    target = copy
    for key in place[:-1]:
        target = target[key]
    target[place[-1]] = value
    return copy


def reason_of(text):
    """Why a document is refused, or found false; None if it is true."""
    try:
        return check(Certificate.from_json(text)).reason
    except BadCertificate as error:
        return str(error)


def weakened(sample, place, leaf, value):
    """Lies that are no lies: a weaker claim than a true one, or another name for what no claim speaks of."""
    field = place[0]
    if place[1:2] in (("inputs",), ("outputs",), ("nodes",)) and value == leaf:  # a label True is the label 1
        return True
    if field == "epsilon" and isinstance(sample, PrivacyCertificate):
        return "+ 1/1000" in value
    if field == "delta" and isinstance(sample, PrivacyCertificate):
        return Fraction(value) > sample.privacy.delta
    if field == "loss" and isinstance(sample, TheoremCertificate):
        return Fraction(value) < sample.loss.lower if place[1] == 0 else Fraction(value) > sample.loss.upper
    if place[:2] == ("channel", "outputs"):
        return not isinstance(sample, TheoremCertificate)
    if sample is SAMPLES["geometric, e^ε irrational"]:  # the theorem holds for all ε and all paths
        return field == "epsilon" or place == ("graph", "size")
    return False


def is_optimal_for_its_loss(sample, place, text):
    """Whether another loss, of an output that is never used, is one for which all that is claimed is true again."""
    if not isinstance(sample, OptimalityCertificate) or place[0] != "loss":
        return False
    other = Certificate.from_json(text)
    prior = None if other.objective == "worst" else other.prior
    return Design(other.graph, dict(other.factors), other.loss, prior, other.privacy.delta).value == other.value


@pytest.mark.slow
@NAMED
def test_a_tampered_leaf_anywhere_is_found(sample):
    data = json.loads(sample.to_json())
    tried = 0
    for place, leaf in leaves(data):
        for value in variants(leaf):
            if value == leaf and type(value) is type(leaf):
                continue
            tried += 1
            text = json.dumps(with_leaf(data, place, value))
            assert (
                reason_of(text) is not None
                or weakened(sample, place, leaf, value)
                or is_optimal_for_its_loss(sample, place, text)
            ), (place, leaf, value)
    assert tried > 20


@NAMED
def test_missing_and_unknown_fields_are_refused(sample):
    data = json.loads(sample.to_json())
    for field in data:
        with pytest.raises(BadCertificate):
            Certificate.from_json(json.dumps({key: part for key, part in data.items() if key != field}))
    with pytest.raises(BadCertificate, match="unknown field colour"):
        Certificate.from_json(json.dumps({**data, "colour": "red"}))
    if data.get("channel"):
        with pytest.raises(BadCertificate, match=r"channel\.colour"):
            Certificate.from_json(json.dumps({**data, "channel": {**data["channel"], "colour": "red"}}))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "leastnoise/other"}, "format"),
        ({"version": 2}, "version 2"),
        ({"version": True}, "one form"),
        ({"version": "1"}, "version"),
        ({"claim": "magic"}, "magic"),
        ({"claim": None}, "unknown"),
        ({"graph": None}, "read"),
        ({"graph": {"graph": "integers"}}, "fit"),
        ({"channel": [["1"]]}, "channel"),
        ({"epsilon": 1}, "text"),
        ({"epsilon": "exp(1)"}, "read"),
        ({"delta": "9" * 5000}, "read"),
    ],
)
def test_what_is_unknown_is_refused_with_the_reason(change, problem):
    text = json.dumps({**json.loads(SAMPLES["privacy"].to_json()), **change})
    assert problem in reason_of(text)


@pytest.mark.parametrize("text", ["", "{", "[]", "7", "null", '{"a": NaN}', '{"a": 1, "a": 2}', "[" * 100_000])
def test_what_is_no_certificate_is_refused(text):
    with pytest.raises(BadCertificate):
        Certificate.from_json(text)


def test_floats_have_no_place_in_a_certificate():
    with pytest.raises(BadCertificate, match="exact"):
        PrivacyCertificate(path(2), Privacy(1), Channel([[0.5, 0.5], [0.5, 0.5]]))
    data = json.loads(SAMPLES["privacy"].to_json())
    data["channel"]["rows"][0][0] = 0.8
    with pytest.raises(BadCertificate):
        Certificate.from_json(json.dumps(data))


# Lies told by whoever made the certificate


def reason(certificate):
    verdict = check(certificate)
    assert not verdict
    assert verdict.reason in str(verdict)
    return verdict.reason


def test_a_channel_that_is_not_private_is_found():
    lie = replace(SAMPLES["privacy"], privacy=Privacy("ln(3)"))
    assert "ln(4)" in reason(lie)


def test_a_factor_below_the_exponential_is_found():
    sample = SAMPLES["average, e^ε irrational"]
    low = exp_below(1, 200)
    design = Design(path(3), {Fraction(1): low}, sample.loss, sample.prior)
    lie = optimality_certificate(
        path(3), Privacy(1), {Fraction(1): low}, sample.channel, design, sample.loss, "average", sample.value
    )
    assert "too small" in reason(lie)


def test_multipliers_off_the_edges_below_zero_or_twice_are_found():
    sample = SAMPLES["average"]
    first = sample.multipliers[0]
    for wrong in (
        [first._replace(x=0, neighbour=2)],
        [first._replace(output=9)],
        [first._replace(value=-first.value)],
        [first, first],
    ):
        assert "multipliers" in reason(replace(sample, multipliers=(*wrong, *sample.multipliers[1:])))


def test_a_bound_that_is_too_good_is_found():
    sample = SAMPLES["average"]
    better = sample.lower_bound + Fraction(1, 10**9)
    assert "lower bound" in reason(replace(sample, lower_bound=better, gap=sample.value - better))
    assert "gap" in reason(replace(sample, gap=Fraction(1)))
    assert "loss of the channel" in reason(replace(sample, value=Fraction(0)))


def test_a_prior_that_is_none_is_found():
    sample = SAMPLES["average"]
    for prior in ((HALF, HALF), (HALF, HALF, HALF), (Fraction(-1), Fraction(1), Fraction(1))):
        assert "prior" in reason(replace(sample, prior=prior))


def test_factors_must_fit_the_lengths():
    sample = SAMPLES["average on a metric"]
    assert "factor" in reason(replace(sample, factors=sample.factors[1:]))
    assert "factor" in reason(replace(sample, factors=(*sample.factors, sample.factors[0])))
    assert "factor" in reason(replace(sample, factors=(*sample.factors, (Fraction(9), Fraction(1000)))))


def test_a_loss_of_the_wrong_shape_is_found():
    sample = SAMPLES["average"]
    assert "loss" in reason(replace(sample, loss=sample.loss[1:]))
    assert "loss" in reason(replace(sample, loss=tuple(row[1:] for row in sample.loss)))


@pytest.mark.parametrize("graph", [path(5), complete(1), integers(), from_distance([[0, 1], [1, 0]])])
def test_graphs_without_the_conditions_of_a_theorem_are_found(graph):
    lie = replace(SAMPLES["exponential"], graph=graph)
    assert not check(lie)


def test_generators_must_be_automorphisms_and_reach_every_node():
    sample = SAMPLES["exponential"]
    assert "generator 0" in reason(replace(sample, generators=((1, 0, 2, 3, 4),)))
    assert "1 of 5" in reason(replace(sample, generators=()))
    assert "1 of 5" in reason(replace(sample, generators=((0, 1, 2, 3, 4),)))
    assert "degrees" in reason(replace(sample, layer_degrees=((0, 2), (1, 1), (2, 0))))


def test_the_channel_must_be_the_one_of_the_theorem():
    sample = SAMPLES["exponential"]
    assert "differs" in reason(replace(sample, channel=exponential(FIVE, Fraction(1, 4))))
    assert "rational" in reason(replace(sample, channel=None))
    assert "expected distance" in reason(replace(sample, loss=None))
    assert "expected distance" in reason(replace(sample, loss=Enclosure(Fraction(0), HALF)))
    assert "differs" in reason(replace(SAMPLES["geometric"], channel=exponential(path(4), HALF)))
    assert "path" in reason(replace(SAMPLES["geometric"], graph=cycle(4)))
    assert "spare" in reason(replace(SAMPLES["geometric"], loss=Enclosure(HALF, HALF)))
    assert "δ" in reason(replace(SAMPLES["geometric"], privacy=Privacy("ln(2)", "1/10")))


def test_a_remap_that_does_not_lead_there_is_found():
    sample = SAMPLES["refinement"]
    assert "coarse" in reason(replace(sample, coarse=sample.fine))


def test_unknown_objectives_and_theorems_cannot_be_claimed():
    with pytest.raises(BadCertificate, match="objective"):
        replace(SAMPLES["average"], objective="luck")
    with pytest.raises(BadCertificate, match="theorem"):
        replace(SAMPLES["geometric"], theorem="luck")


def test_a_certificate_reads_like_a_document():
    text = SAMPLES["average"].to_json()
    assert text.startswith('{\n  "format": "leastnoise/certificate",\n  "version": 1,\n  "claim": "optimality",\n')
    assert '  "prior": ["1/3", "1/3", "1/3"],\n' in text
    assert isinstance(SAMPLES["average"], OptimalityCertificate)


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "from leastnoise import Certificate",
        "from leastnoise.model import Certificate",
        "from leastnoise.model import PrivacyCertificate as Certificate",
        "from leastnoise.model import MarginalsCertificate as Certificate",
        "from leastnoise.model.certificate import Certificate",
    ],
)
def test_every_kind_is_read_whoever_imports_what(line):
    script = f"{line}\nprint(*sorted(Certificate._kinds), sep=',')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    kinds = {name for name in vars(every_kind) if name.endswith("Certificate")} - {"Certificate"}
    assert done.stdout.strip().split(",") == sorted(getattr(every_kind, name).claim for name in kinds)
    assert len(kinds) == 11


def test_a_class_from_elsewhere_is_no_kind():
    class Forged(PrivacyCertificate):
        pass

    class Other(PrivacyCertificate):
        claim = "other"

    assert "other" not in Certificate._kinds
    assert Certificate._kinds["privacy"] is PrivacyCertificate is not Forged
    text = PrivacyCertificate(path(2), Privacy("ln(3)"), geometric(1, Fraction(1, 3))).to_json()
    assert type(Certificate.from_json(text)) is PrivacyCertificate
    with pytest.raises(BadCertificate, match="unknown"):
        Certificate.from_json(text.replace('"privacy"', '"other"', 1))
