"""Derivative rules of the user's own, under their public names."""

from __future__ import annotations

from arrayx.api.custom_backward import CustomPrimal, closure_convert, custom_gradient, custom_vjp
from arrayx.api.custom_forward import custom_jvp
from arrayx.api.custom_rules import SymbolicZero

__all__ = [
    "CustomPrimal",
    "SymbolicZero",
    "closure_convert",
    "custom_gradient",
    "custom_jvp",
    "custom_vjp",
]
