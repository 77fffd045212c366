"""Floor 3: one mechanism per file."""
