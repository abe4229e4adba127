"""Operations on bits."""

from __future__ import annotations

from typing import Any

from arrayx_xla.rules.forms import same

# XLA gives shifts by the width or more the values that arrayx promises.
RULES: dict[str, Any] = {
    "bitwise_and": same("and"),
    "bitwise_or": same("or"),
    "bitwise_xor": same("xor"),
    "bitwise_not": same("not"),
    "shift_left": same("shift_left"),
    "shift_right_logical": same("shift_right_logical"),
    "shift_right_arithmetic": same("shift_right_arithmetic"),
    "population_count": same("popcnt"),
    "clz": same("count_leading_zeros"),
}
