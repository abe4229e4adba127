"""How each core primitive is written in StableHLO, in files named like those of the primitives.

`RULES` has a function for each name: `rule(emitter, *operands, **params)` gives the `Value` of the
result, or a tuple of them.  `WHEN` has the questions that `supports` asks of an equation besides:
`when(platform, equation)` gives True, or the reason why there is no rule for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from arrayx_xla.rules import (
    arithmetic,
    axes,
    bitwise,
    complex,
    contraction,
    control,
    conversion,
    convolution,
    creation,
    cumulative,
    exponential,
    external,
    fft,
    gather,
    linalg,
    numeric,
    reduction,
    reflections,
    slicing,
    sorting,
    special,
    trigonometric,
    windows,
)
from arrayx_xla.rules.complex_functions import COMPLEX_RULES, by_kind

_FILES = (
    arithmetic,
    numeric,
    exponential,
    trigonometric,
    bitwise,
    complex,
    special,
    conversion,
    creation,
    axes,
    slicing,
    gather,
    reduction,
    cumulative,
    sorting,
    contraction,
    convolution,
    windows,
    linalg,
    reflections,
    fft,
    control,
    external,
)

RULES: dict[str, Callable[..., Any]] = {}
for _file in _FILES:
    RULES.update(_file.RULES)
RULES.update({name: by_kind(name, RULES[name]) for name in COMPLEX_RULES})
WHEN: dict[str, Callable[..., Any]] = {
    **gather.WHEN,
    **linalg.WHEN,
    **reflections.WHEN,
    **control.WHEN,
    **external.WHEN,
}
