"""Floor 2: one operation, one place."""
