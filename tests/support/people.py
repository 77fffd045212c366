"""A reproducible table of visits, for tests that need a real file."""

import random

import pyarrow as pa
import pyarrow.parquet as pq

from leastnoise.model.privacy import Privacy

CITIES = ("Lyon", "Metz", "Nice")
# Noise is zero but for a chance of about e^-40, whatever the sensitivity in these tests.
SURE = Privacy(4000, insist=True)
AMPLE = Privacy(10**6, "1/10", insist=True)  # a budget that no test uses up


def write_people(path):
    """2000 visits of about 700 people, reproducible; some ages and incomes are missing."""
    rng = random.Random(2024)
    rows = [
        {
            "person": rng.randrange(700),
            "city": rng.choice(CITIES),
            "age": None if rng.random() < 0.03 else rng.randrange(101),
            "income": rng.choice([None, float("nan")]) if rng.random() < 0.03 else rng.randrange(4001) / 4,
            "sex": rng.choice("mf"),
            "member": rng.random() < 0.3,
        }
        for _ in range(2000)
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    return rows
