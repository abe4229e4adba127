"""Floor 4: primitives that hold graphs."""
