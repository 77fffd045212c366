"""Sources whose bits a test chooses."""

import numpy as np

from leastnoise.exact import SeededSource, Source


class ScriptedSource(Source):
    """Gives out prepared arrays of words, one per request, then seeded bits; remembers what it gave."""

    def __init__(self, *answers, seed=1):
        self.answers, self.rest, self.given = list(answers), SeededSource(seed), []

    def words(self, count, bits):
        words = (
            np.asarray(self.answers.pop(0), dtype=f"<u{bits // 8}") if self.answers else self.rest.words(count, bits)
        )
        assert len(words) == count, "the script does not fit the request"
        self.given.append((bits, words.copy()))
        return words
