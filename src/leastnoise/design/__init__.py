"""Floor 4: a problem in; the best mechanism and its certificate out."""
