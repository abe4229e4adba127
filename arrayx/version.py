"""The version of arrayx, in one place."""

__version__ = "0.1.0"
