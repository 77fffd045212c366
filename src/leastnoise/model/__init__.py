"""Floor 2: what we talk about: dataset graphs, channels, priors, losses, hypers, refinement, certificates."""
