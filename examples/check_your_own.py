"""Check a mechanism you bring: its matrix exactly, its sampler by an audit."""

import numpy as np

import leastnoise as ln


def random_rounding(base: int, largest: int) -> ln.Channel:
    """Counts are rounded to a multiple of the base, up or down at random, so that the expectation is right."""
    multiples = range(0, largest + base, base)
    rows = [
        [f"{max(0, base - abs(count - multiple))}/{base}" for multiple in multiples] for count in range(largest + 1)
    ]
    return ln.Channel(rows, outputs=list(multiples))


def main() -> None:
    """One mechanism that fails, one that holds, one that can only be run."""
    print("Random rounding to a multiple of 3, as it has long been used for tables:")
    rounding = random_rounding(3, 9)
    print(ln.check(rounding, ln.graphs.path(10), epsilon=1))
    print("the least δ at ε = 1:", ln.check(rounding, ln.graphs.path(10), epsilon=1, delta="1/100").tight_delta)
    print()

    print("The truncated geometric mechanism on the same counts:")
    geometric = ln.mechanisms.TruncatedGeometric("ln(3)", low=0, high=9).channel(range(10), range(10))
    print(ln.check(geometric, ln.graphs.path(10), epsilon="ln(3)"))
    print()

    print("A program that says ε = 1 and draws Laplace noise of scale 0.8:")
    noise = np.random.default_rng(0)
    print(ln.audit(lambda count, size: np.round(count + noise.laplace(0, 0.8, size)), 0, 1, epsilon=1))


if __name__ == "__main__":
    main()
