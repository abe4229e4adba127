"""Functions from outside as operations: registered under a name for a backend, or for all."""

from arrayx.api.external import call, register

__all__ = ["call", "register"]
