"""What JAX keeps in its module of this name, and arrayx has."""

from arrayx.api.effects import io_callback

__all__ = ["io_callback"]
