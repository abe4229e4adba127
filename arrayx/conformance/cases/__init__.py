"""The case table: one file for each file of functions, one row for each function."""
