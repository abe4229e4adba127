"""Factorisations and Fourier transforms."""
LINALG: dict = {}
