"""What holds every backend, and arrayx itself, to one table of cases (floor 7)."""
