"""Floor 7: what holds every backend, and arrayx itself, to one table of cases."""
