"""How many files one release passes through: what a reader has to open to follow it."""

import sys
import threading
from pathlib import Path

import leastnoise

ROOT = Path(leastnoise.__file__).parent
MOST_FILES = 42


def test_a_count_is_released_through_few_files(tmp_path):
    (tmp_path / "people.csv").write_text("person,city\n" + "".join(f"{i},{'AB'[i % 2]}\n" for i in range(100)))
    entered = set()

    def note(frame, event, _):
        if event == "call":
            entered.add(frame.f_code.co_filename)

    place = tmp_path / "people.csv"
    with leastnoise.open(place, privacy_unit="person", budget=1, ledger=tmp_path / "ledger") as people:
        threading.setprofile(note)
        sys.setprofile(note)
        try:
            people.count(by="city", keys=["A", "B"]).release(epsilon=0.5)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
    files = sorted(str(Path(name).relative_to(ROOT)) for name in entered if name.startswith(str(ROOT)))
    assert "release/transaction.py" in files
    assert len(files) <= MOST_FILES, files
