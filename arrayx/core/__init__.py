"""Floor 1: what a program is."""
