"""What an installed package must do: release from a table, design, check. Run with the interpreter that has it."""

import tempfile
from pathlib import Path

import leastnoise as ln

with tempfile.TemporaryDirectory() as folder:
    table = Path(folder) / "people.csv"
    table.write_text("\n".join(["person,city", *(f"{person},{('Lyon', 'Metz')[person % 2]}" for person in range(100))]))
    with ln.open(table, privacy_unit="person", budget=1, ledger=Path(folder) / "ledger") as people:
        release = people.count(by="city", keys=["Lyon", "Metz", "Nice"]).release(epsilon=1)
        assert release.table["city"] == ("Lyon", "Metz", "Nice")  # noqa: S101 - this is a test
assert ln.check(ln.design("path:4", epsilon="ln(2)").certificate)  # noqa: S101
