"""Every question of `Dataset` is a command, its parameters are options, and no option of a question is ignored."""

import inspect
import re
from dataclasses import fields
from typing import get_type_hints

import pyarrow as pa
import pytest

from leastnoise.apps.public_values import Options
from leastnoise.apps.questions import OPTIONS_OF, QUESTIONS, make_question, takes
from leastnoise.apps.release import ask
from leastnoise.data import Contribution, open_table
from leastnoise.errors import LeastNoiseError
from leastnoise.ledger import Opening
from leastnoise.release import Batch, Dataset, Query
from leastnoise.release.calls import questions_of

OPTIONS = {item.name for item in fields(Options)}
COLUMNS = {"u": pa.int64(), "city": pa.string(), "age": pa.int64(), "pay": pa.float64(), "f": pa.bool_()}
SAID = {  # what each option may say
    "by": [["f"]],
    "keys": [["a,b"], ["city=a,b"]],
    "key": [["a"], ["city=a"]],
    "keys_from": [],
    "bins": [["age=0,10,20"], ["0,10,20"]],
    "where": ["age > 3"],
    "of": ["rows"],
    "bounds": [["0,7"], ["age=0,7", "pay=0,9"]],
    "step": [["2"], ["age=2"]],
    "grid": [["0,1,2"]],
    "level": [["0.25,0.75"]],
    "top": [2],
    "option": [["x: age < 3", "y: age > 5"]],
    "sum_of": ["age"],
    "matrix": [["1,2"]],
    "name": [["n"], ["n,m"], ["n,m,o"]],
    "ways": [["1"]],
    "goal": ["largest"],
    "tree": [["n,a"], ["n,a", "s,b"]],
    "weights": [["3"], ["3,1"], ["3,1,1"], ["city=2"]],
    "targets": [["2"], ["2,1"], ["2,1,1"], ["city=2,region=3,all=1"]],
    "expected_rows": [7],
    "at_least": [5],
    "at_most": [4],
    "prior": [["1,2,3,4"], ["1,2,3"]],
    "loss": ["squared"],
    "total": [50],
    "places": [],
    "squared": [True],
    "opening": [["3"], ["3,1,2,2"]],
    "groups_per_unit": ["2"],
    "rows_per_unit": ["3"],
    "rest": [True],
    "interval_share": ["1/3"],
    "interval_confidence": ["0.9"],
}
ASKED = {  # a complete question for each command, some with alternatives
    "most-common": [(("city",), {}), (("city",), {"keys": ["c,d,e"]}), (("age",), {"bins": ["0,1,2,3"]})],
    "count": [
        ((), {}),
        ((), {"by": ["city"]}),
        ((), {"by": ["city"], "keys": ["c,d"]}),
        ((), {"by": ["age"], "keys": ["1,2"]}),
    ],
    "count-distinct": [(("city",), {})],
    "sum": [
        (("age",), {"bounds": ["0,5"]}),
        (("age",), {"bounds": ["0,5"], "by": ["city"]}),
        (("age",), {"bounds": ["0,5"], "by": ["city"], "keys": ["c"]}),
    ],
    "proportion": [(("age > 1",), {}), (("age > 1",), {"by": ["city"], "keys": ["c"]})],
    "ratio": [(("age", "pay"), {"bounds": ["age=0,5", "pay=0,6"]})],
    "quantile": [
        (("age",), {"bounds": ["0,5"], "level": ["0.5"], "interval_share": "1/2"}),
        (("age",), {"bounds": ["0,5"], "level": ["0.5"]}),
        (("age",), {"grid": ["0,9"], "level": ["0.5"]}),
    ],
    "choose": [
        ((), {"option": ["x: age < 4", "y: age > 5"]}),
        (("city",), {"keys": ["c,d"]}),
        (("city",), {"keys": ["c,d"], "sum_of": "pay", "bounds": ["0,5"]}),
    ],
    "workload": [(("f",), {"matrix": ["1,1"]}), (("f",), {"matrix": ["1,1", "1,0"]})],
    "hierarchy": [(("region", "city"), {"tree": ["n,a", "n,b", "s,c"]})],
    "decision": [((), {"at_least": 3}), (("city",), {"keys": ["c,d"]})],
    "design": [((), {"at_most": 3}), (("city",), {"keys": ["c,d"], "at_most": 3})],
    "sorted-counts": [(("city",), {"total": 100})],
    **{
        answer: [(("age", "pay"), {"keys": ["1,2"]})]
        for answer in ("edges", "degrees", "components", "triangles", "cut", "cover")
    },
    "facilities": [(("age", "pay"), {"top": 1, "bins": ["age=0,1,2", "pay=0,5,9"]})],
}
VALUES = [
    (("age",), {"bounds": ["0,5"], "by": ["city"]}),
    (("age",), {"bounds": ["0,5"], "interval_share": "1/2"}),
    (("age",), {"bounds": ["0,5"]}),
    (("age",), {"bounds": ["0,5"], "by": ["city"], "keys": ["c"]}),
    (("age",), {"grid": ["0,9"]}),
]
KEYS = [
    (("city",), {}),
    (("city",), {"keys": ["c,d"]}),
    (("age",), {"bins": ["0,1,2"]}),
    (("city", "f"), {"keys": ["city=c,d"]}),
]


def test_every_question_of_the_api_is_a_command():
    assert {question.method for question in QUESTIONS.values()} == set(questions_of(Dataset)) - {"batch"}


def test_every_parameter_is_a_word_an_option_or_fixed():
    said = {}
    for name, question in QUESTIONS.items():
        parameters = set(inspect.signature(getattr(Dataset, question.method)).parameters) - {"self"}
        assert parameters >= {*question.words, *question.fixed}
        assert takes(name) <= OPTIONS, takes(name) - OPTIONS
        said.setdefault(question.method, set()).update(parameters - set(question.words) - set(question.fixed))
    assert {option for names in said.values() for name in names for option in OPTIONS_OF.get(name, (name,))} == OPTIONS


def test_the_command_has_all_these_options():
    parameters = inspect.signature(ask).parameters
    assert set(parameters) > OPTIONS
    listed = str(get_type_hints(ask, include_extras=True)["question"].__metadata__[0].help)
    assert set(re.split(r", | or |\.", listed)) - {""} == set(QUESTIONS)


@pytest.fixture(scope="module")
def dataset():
    with open_table(pa.table({name: pa.array([], kind) for name, kind in COLUMNS.items()})) as table:
        yield Dataset(table, None, "t", "a", "p", Contribution("u"), Opening(None, "u"))


def told(query):
    """All that a question is, also what only its plan shows."""
    return query.parameters(), getattr(query, "expected_rows", None), getattr(query, "names", None), query.question


def made(dataset, name, words, options):
    try:
        return told(make_question(dataset, None, name, words, Options(**options), unknown_keys=True))
    except LeastNoiseError:
        return None


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_option_is_ever_ignored(dataset, name):
    """Said beside a complete question, an option changes it or is refused; one that it takes changes it somewhere."""
    listed = ASKED.get(name, KEYS if QUESTIONS[name].words == ("by",) else VALUES)
    complete = [(words, options, found) for words, options in listed if (found := made(dataset, name, words, options))]
    assert complete
    for option in OPTIONS:
        outcomes = [
            (found, made(dataset, name, words, {**options, option: said}), options.get(option) == said)
            for words, options, found in complete
            for said in SAID[option]
        ]
        same = [one for one in outcomes if one[0] == one[1] and not one[2]]
        if option == "of":  # by unknown keys with one row of each unit, rows and units are the same question
            same = [one for one in same if "keys unknown" not in str(one)]
        assert not same, option
        if option not in takes(name):
            assert all(other is None for _, other, _ in outcomes), option
        elif complete and SAID[option] and option not in ("by", "keys", "key", "bins"):
            assert any(other is not None for _, other, _ in outcomes), option


@pytest.mark.parametrize(
    ("words", "options", "columns"),
    [
        (("age,pay",), {"bounds": ["age=0,7", "pay=0,9"]}, ["age", "pay"]),
        (("age", "pay"), {"bounds": ["age=0,7", "pay=private"]}, ["age", "pay"]),
        (("pay,f",), {"bounds": ["0,9"], "step": ["pay=2"]}, ["pay", "f"]),
        (("age,pay",), {"bounds": ["age=0,7", "pay=0,9"], "by": ["city"], "keys": ["a,b"]}, ["age", "pay"]),
    ],
    ids=str,
)
def test_a_list_of_columns_on_the_command_line(dataset, words, options, columns):
    asked = make_question(dataset, None, "mean", words, Options(**options), unknown_keys=False)
    assert isinstance(asked, Batch)
    assert [query.column for query in asked.queries] == columns


def test_a_list_of_columns_says_what_is_whose(dataset):
    for words, options in (
        (("age,pay",), {"bounds": ["0,7"]}),
        (("age,pay",), {"bounds": ["age=0,7"]}),
        (("age,nobody",), {"bounds": ["age=0,7", "nobody=0,9"]}),
        (("age,pay",), {"bounds": ["age=0,7", "pay=0,9", "u=0,9"]}),
        (("age,pay",), {"bounds": ["age=0,7", "pay=0,9"], "by": ["city"]}),
        ((), {"bounds": ["0,7"]}),
    ):
        assert made(dataset, "mean", words, options) is None


def test_a_list_of_columns_is_a_batch(dataset):
    assert isinstance(dataset.mean("age", bounds=(0, 9)), Query)
    both = dataset.mean(["age", "f"], bounds={"age": (0, 9)})
    assert isinstance(both, Batch)
    assert [query.question for query in both.queries] == ["mean of age", "mean of f"]
