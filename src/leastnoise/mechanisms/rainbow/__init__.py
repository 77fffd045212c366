"""Optimal (ε, δ)-private answers from a few colours, each dataset with its own preference: `leastnoise.rainbow`."""
