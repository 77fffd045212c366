"""A made-up table of doctors' visits, the same on every machine: nobody's data, but shaped like somebody's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CITIES", "DIAGNOSES", "MOST_VISITS", "Visits", "make_visits"]

CITIES = (
    "Ashford", "Brook", "Carrow", "Dunmere", "Elmhurst", "Fallow", "Greyholt", "Harrow Hill", "Inverley", "Juniper",
    "Kestrel", "Larkfield", "Mossgate", "Northam", "Oakley", "Pinewell", "Quarry", "Rosemead", "Stonebridge", "Thorn",
)  # fmt: skip
DIAGNOSES = (
    "cold", "back pain", "allergy", "check-up", "injury", "headache", "fever", "asthma", "diabetes", "eczema",
    "insomnia", "migraine", "anaemia", "gout", "arthritis",
)  # fmt: skip
MOST_VISITS = 8
_SEED = 20240229


@dataclass(frozen=True)
class Visits:
    """The columns, one entry per visit."""

    columns: Mapping[str, NDArray[Any]]

    def __len__(self) -> int:
        """How many visits."""
        return len(self.columns["person_id"])

    def persons_by_city(self) -> dict[str, int]:
        """The true answer to the demonstration's histogram."""
        first = np.unique(self.columns["person_id"], return_index=True)[1]
        names, counts = np.unique(self.columns["city"][first], return_counts=True)
        found = dict(zip(names.tolist(), counts.tolist(), strict=True))
        return {city: found.get(city, 0) for city in CITIES}

    def most_common_diagnoses(self, k: int) -> list[str]:
        """The diagnoses that most persons had."""
        places = {name: place for place, name in enumerate(DIAGNOSES)}
        codes = np.array([places[name] for name in self.columns["diagnosis"]])
        pairs = np.unique(self.columns["person_id"].astype(np.int64) * len(DIAGNOSES) + codes)
        counts = np.bincount(pairs % len(DIAGNOSES), minlength=len(DIAGNOSES))
        return [DIAGNOSES[place] for place in np.argsort(-counts, kind="stable")[:k]]


def make_visits(rows: int = 1_000_000) -> Visits:
    """Visits of persons who live in one town each and come one to eight times; a few entries are missing or absurd."""
    visits_each = 1 + (_uniform("visits", rows) ** 2 * MOST_VISITS).astype(np.int64)
    person = np.repeat(np.arange(rows), np.minimum(visits_each, MOST_VISITS))[:rows]
    persons = int(person[-1]) + 1
    town = (_uniform("town", persons) ** 2.2 * len(CITIES)).astype(np.int64)
    age = 100 * (_uniform("age", persons) * 0.6 + _uniform("age again", persons) * 0.4)
    sick = (_uniform("diagnosis", rows) ** 1.7 * len(DIAGNOSES)).astype(np.int64)
    cost = np.round(20 + 60 * -np.log1p(-_uniform("cost", rows)) + 3 * sick, 2)
    odd = _uniform("odd", rows)
    cost[odd < 0.001] = np.nan
    cost[odd > 0.9995] = 1e9
    return Visits(
        {
            "person_id": person + 100_000,
            "city": np.array(CITIES, dtype=object)[town[person]],
            "age": age.astype(np.int64)[person],
            "diagnosis": np.array(DIAGNOSES, dtype=object)[sick],
            "cost": cost,
            "seen": np.datetime64("2023-01-01", "us") + (_uniform("seen", rows) * 365 * 86400).astype("timedelta64[s]"),
        }
    )


def _uniform(what: str, size: int) -> NDArray[np.float64]:
    """Numbers in [0, 1) by SplitMix64 (Steele, Lea & Flood 2014), seeded by a name: for made-up data only."""
    seed = np.uint64(int.from_bytes(what.encode().ljust(8, b".")[:8], "little") ^ _SEED)
    with np.errstate(over="ignore"):
        state = seed + np.arange(1, size + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((state ^ (state >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53
