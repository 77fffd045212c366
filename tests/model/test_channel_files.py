import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadChannel
from leastnoise.model.channel import Channel
from leastnoise.model.labels import decode_label, encode_label

THIRD = Fraction(1, 3)

labels = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.fractions() | st.floats(allow_nan=False),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=5,
)


@given(labels)
def test_labels_survive_json(label):
    read = decode_label(json.loads(json.dumps(encode_label(label))))
    assert read == label
    assert type(read) is type(label)


@pytest.mark.parametrize(
    "encoded", [[1], {"tuple": 1}, {"number": 3}, {"number": "x"}, {"float": "zz"}, {"a": 1, "b": 2}, 1.5]
)
def test_what_is_no_label_is_refused(encoded):
    with pytest.raises(ValueError, match=r"label|float"):
        decode_label(encoded)


def test_exact_numbers_are_text_in_json_and_floats_read_back_unchanged():
    exact = Channel([["3/20", "17/20"]], [(0, Fraction(1, 2))], ["a", "b"])
    data = json.loads(exact.to_json())
    assert data["rows"] == [["3/20", "17/20"]]
    assert (data["kind"], data["version"], data["exact"]) == ("leastnoise.channel", 1, True)
    assert Channel.from_dict(data) == exact
    floats = Channel([[0.1, 0.2, 0.7]])
    assert Channel.from_json(floats.to_json()) == floats
    assert Channel.from_json(floats.to_exact().to_json()) == floats.to_exact()
    assert Channel.from_json('[["1/2", "1/2"]]') == Channel([["1/2", "1/2"]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("3", "object with inputs"),
        ("{}", "object with inputs"),
        ('{"kind": "other", "rows": [[1]]}', "object with inputs"),
        ('{"version": 2, "rows": [[1]]}', "version 1 .* given: version 2"),
        ('{"rows": [[1]], "inputs": "a"}', "list of labels"),
        ('{"rows": [[1]], "inputs": [[1]]}', "form of a label"),
        ('{"rows": [[NaN]]}', "given: NaN"),
        ('{"rows": [["1/2", "1/3"]]}', "must sum to 1"),
        ('{"rows": [[{}]]}', "output 0 for input 0"),
        ('{"rows": [1]}', "a row per input"),
    ],
)
def test_bad_json_is_refused(text, message):
    with pytest.raises(BadChannel, match=message):
        Channel.from_json(text)


def test_csv_with_and_without_names(tmp_path):
    file = tmp_path / "channel.csv"
    file.write_text(",no,yes\n0,1/3,2/3\n1/2,0.25,0.75\n\nlast,1,0\n", encoding="utf-8")
    channel = Channel.read(file)
    assert channel.inputs == (0, Fraction(1, 2), "last")
    assert channel.outputs == ("no", "yes")
    assert channel.matrix().tolist() == [[THIRD, 2 * THIRD], [Fraction(1, 4), Fraction(3, 4)], [1, 0]]
    file.write_text("0.1, 0.9\n1e-3, 0.999\n", encoding="utf-8")
    assert Channel.read(file).row(1) == (Fraction(1, 1000), Fraction(999, 1000))
    assert Channel.read(str(file)).inputs == (0, 1)


def test_csv_printed_by_a_float_program_may_miss_one_by_rounding_but_not_by_more(tmp_path):
    file = tmp_path / "channel.csv"
    file.write_text(",".join(["0.333333333333333"] * 3), encoding="utf-8")
    channel = Channel.read(file)
    assert channel.is_exact
    assert not channel.sums_to_one
    assert channel.row(0)[0] == Fraction("0.333333333333333")
    for text in ("0.3333,0.3333,0.3333", "1/3,1/3,333333333333/1000000000000"):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(BadChannel, match="row of input 0 must sum to 1"):
            Channel.read(file)


def test_npy(tmp_path):
    file = tmp_path / "channel.npy"
    matrix = np.array([[0.25, 0.75], [1, 0]])
    np.save(file, matrix)
    assert Channel.read(file) == Channel(matrix)
    np.save(file, np.eye(3, dtype=np.int64))
    assert Channel.read(file) == Channel.identity(3)
    np.save(file, matrix.astype(np.float32))
    assert Channel.read(file) == Channel(matrix)
    np.save(file, np.array([[object()]]))  # a pickle inside
    with pytest.raises(BadChannel, match="no NPY file of numbers"):
        Channel.read(file)
    file.write_bytes(b"")
    with pytest.raises(BadChannel, match="no NPY file"):
        Channel.read(file)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadChannel, match=r"\.json, \.csv or \.npy; given: channel\.txt"):
        Channel.read(tmp_path / "channel.txt")
    with pytest.raises(BadChannel, match="cannot be read: No such file"):
        Channel.read(tmp_path / "absent.json")
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(BadChannel, match="UTF-8"):
        Channel.read(tmp_path / "bad.csv")
    (tmp_path / "empty.csv").write_text("", encoding="utf-8")
    with pytest.raises(BadChannel, match="a row per input"):
        Channel.read(tmp_path / "empty.csv")
    (tmp_path / "ragged.csv").write_text(",a,b\nx,1\n", encoding="utf-8")
    with pytest.raises(BadChannel, match="there are 1 outputs"):
        Channel.read(tmp_path / "ragged.csv")
    (tmp_path / "good.json").write_text(Channel.identity(2).to_json(), encoding="utf-8")
    assert Channel.read(tmp_path / "good.json") == Channel.identity(2)


def test_a_field_beyond_what_the_csv_reader_takes_is_refused(tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("0.5,0.5\n" + "1" * 200_000 + ",0\n")
    with pytest.raises(BadChannel, match="CSV"):
        Channel.read(path)
