"""What we talk about: dataset graphs, channels, priors, losses, hypers, refinement, certificates."""
