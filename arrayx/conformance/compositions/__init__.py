"""Rows of whole programs: what only shows when several features meet, against plain Python.

Each file has a tuple `CASES` and is a section of the suite.  A row is a `Case` like that of a
primitive, so a program gets every check that a primitive gets.
"""
