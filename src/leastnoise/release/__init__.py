"""Floor 5: plan for free, then debit, sample and record."""
