"""The rows of public functions, one file for each topic."""
