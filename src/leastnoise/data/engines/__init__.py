"""One file per engine: how it is opened, locked down, asked about its columns, and made to run a query."""
