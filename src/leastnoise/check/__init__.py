"""Floor 3: a channel, certificate or sampler in; yes, or a counterexample, out. Trusts no solver."""
