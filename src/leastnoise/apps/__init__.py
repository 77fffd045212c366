"""Floor 6: command line, service, pages, plots."""
