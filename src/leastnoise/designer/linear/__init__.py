"""The linear program of a design: guessed in floating point, solved or repaired in rationals, proven by its dual."""
