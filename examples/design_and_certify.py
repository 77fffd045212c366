"""The best mechanism for a problem of your own, the proof that none is better, and a check that trusts nobody."""

import leastnoise as ln


def shortage(guess: int, beds: int) -> int:
    """A bed too few costs three times as much as a bed too many."""
    return 3 * max(0, beds - guess) + max(0, guess - beds)


def main() -> None:
    """Design, certify, check, compare, release."""
    loss = ln.channels.from_function(shortage)
    likely = ["1/20", "1/20", "1/10", "1/5", "1/4", "1/5", "3/20"]  # how many beds are taken, 0 to 6
    best = ln.design("path:7", epsilon="ln(3)", prior=likely, loss=loss)
    print(best)
    print(best.channel)
    print()

    document = best.certificate.to_json()
    print(f"the certificate has {len(document):,} characters; read from these alone:")
    print(ln.check(ln.Certificate.from_json(document)))
    print()

    print(ln.compare("path:7", "ln(3)", loss=loss, prior=likely))
    print()
    print("one private answer where 4 beds are taken:", best.release(4))


if __name__ == "__main__":
    main()
