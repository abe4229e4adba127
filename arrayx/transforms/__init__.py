"""Floor 3: programs from programs."""
