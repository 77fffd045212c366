"""Floor 3: tables in their engines, contribution bounds, queries."""
