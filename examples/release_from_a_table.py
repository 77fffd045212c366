"""From a table to a published number: open, plan for nothing, release, see what is left."""

import csv
import random
import tempfile
from pathlib import Path

import leastnoise as ln

DICE = random.Random(1)
CITIES = ["Bonn", "Köln", "Ulm", "Worms"]  # public, not taken from the data; nobody lives in Worms


def make_visits(path: Path) -> None:
    """Visits of 2000 made-up people, one to four each."""
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["person", "city", "age", "spent"])
        for person in range(2000):
            city, age = DICE.choice(["Bonn", "Bonn", "Köln", "Ulm"]), DICE.randint(10, 90)
            for _ in range(DICE.randint(1, 4)):
                rows.writerow([person, city, age, round(DICE.expovariate(1 / 40), 2)])


def main() -> None:
    """Ask three questions."""
    with tempfile.TemporaryDirectory() as folder:
        make_visits(Path(folder) / "visits.csv")
        with ln.open(
            Path(folder) / "visits.csv",
            columns={"age": "integer", "spent": "decimal(8,2)"},  # the columns of a CSV are text unless declared
            privacy_unit="person",  # all visits of a person are protected together
            rows_per_unit=4,  # with at most four visits a person counts
            budget=2,
            ledger=Path(folder) / "ledger",
        ) as visits:
            by_city = visits.count(by="city", keys=CITIES, where="age >= 18")
            print(by_city.plan(epsilon=0.5))
            print()
            print(by_city.release(epsilon=0.5).non_negative())
            print()
            print(visits.sum("spent", bounds=(0, 200), step="1/100").release(epsilon=0.5))
            print()
            print(visits.median("age", bounds=(0, 120), step=1).release(epsilon=0.5))
            print()
            print("left:", visits.left)


if __name__ == "__main__":
    main()
