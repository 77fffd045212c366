"""Floor 3: privacy events, accountants, the durable ledger."""
