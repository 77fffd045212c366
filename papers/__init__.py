"""The source texts, claim by claim: what each says, what comes out when computed, and whether that agrees."""
