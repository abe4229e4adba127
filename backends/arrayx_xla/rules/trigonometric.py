"""Circular and hyperbolic functions."""

from __future__ import annotations

from typing import Any

from arrayx_xla.rules.forms import chlo, stable

RULES: dict[str, Any] = {
    "sin": stable("sine"),
    "cos": stable("cosine"),
    "tan": stable("tan"),
    "tanh": stable("tanh"),
    "atan2": stable("atan2"),
    **{
        name: chlo(name)
        for name in ("asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")
    },
}
