"""Floor 6: what people call."""
