"""A private vote, and the frequencies of the top passwords without the passwords."""

import tempfile
from pathlib import Path

import pyarrow

import leastnoise as ln

VOTES = {"park": 310, "library": 352, "pool": 55}


def vote(folder: Path) -> None:
    """Who won, with the odds that the answer is right."""
    ballots = pyarrow.table({"choice": [choice for choice, votes in VOTES.items() for _ in range(votes)]})
    with ln.open(ballots, name="ballots", budget=(1, "1e-6"), ledger=folder / "ledger") as box:
        question = box.decision(by="choice", keys=list(VOTES))
        print(question.plan(epsilon="1/2", delta="1e-7"))
        print("winner:", question.release(epsilon="1/2", delta="1e-7").value)


def passwords(folder: Path) -> None:
    """The ten largest counts among twenty thousand accounts."""
    counts = ln.combinatorial.zipf_counts(20_000)  # made up by Zipf's law
    words = [f"word {place}" for place, count in enumerate(counts) for _ in range(int(count))]
    accounts = pyarrow.table({"account": range(len(words)), "password": words})
    with ln.open(accounts, name="accounts", privacy_unit="account", budget=1, ledger=folder / "ledger") as leak:
        released = leak.sorted_counts(by="password", total=20_000, top=10).release(epsilon="1/2")
        print(released)
        print("true:", [int(count) for count in counts[:10]])


def main() -> None:
    """Both."""
    with tempfile.TemporaryDirectory() as folder:
        vote(Path(folder))
        print()
        passwords(Path(folder))


if __name__ == "__main__":
    main()
