"""The command line, the demonstration and the pictures."""
