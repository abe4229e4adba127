"""Operations on the bits of integers and on booleans."""

from __future__ import annotations

from arrayx.primitives.families import INTEGER, LOGICAL, step

bitwise_and = step("bitwise_and", LOGICAL, "Bits set in both `x` and `y`; logical and of bools.")
bitwise_or = step("bitwise_or", LOGICAL, "Bits set in `x` or `y`; logical or of bools.")
bitwise_xor = step("bitwise_xor", LOGICAL, "Bits set in one of `x` and `y` only; also of bools.")
bitwise_not = step("bitwise_not", LOGICAL, "Every bit of `x` turned; logical not of bools.")
shift_left = step(
    "shift_left",
    INTEGER,
    "`x` shifted left by `y` bits, zeros coming in.  The count is read as unsigned: by the "
    "width of the dtype or more, and so by a negative count, nothing is left but 0.",
)
shift_right_logical = step(
    "shift_right_logical",
    INTEGER,
    "`x` shifted right by `y` bits, zeros coming in.  The count is read as unsigned: by the "
    "width of the dtype or more, and so by a negative count, nothing is left but 0.",
)
shift_right_arithmetic = step(
    "shift_right_arithmetic",
    INTEGER,
    "`x` shifted right by `y` bits, copies of the highest bit coming in.  The count is read as "
    "unsigned: by the width of the dtype or more, and so by a negative count, every bit of the "
    "result is the highest bit of `x`.",
)
population_count = step(
    "population_count", INTEGER, "How many bits of `x` are set, in the dtype of `x`."
)
clz = step(
    "clz", INTEGER, "How many zeros stand before the highest set bit of `x`; the width for 0."
)
