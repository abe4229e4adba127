"""Rows of bits packed into bytes, and of conversions between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx import dtypes
from arrayx.conformance.case import Case
from arrayx.conformance.public import rows

AXES: dict[str, dict[str, Any]] = {
    "": {},
    "axis": {"axis": 0},
    "little": {"axis": -1, "bitorder": "little"},
}
BYTE = ("uint8",)
BYTES = (0.0, 255.0)


def converted(x: Any, dtype: str) -> Any:
    """What a conversion makes of elements in range."""
    target = dtypes.as_dtype(dtype)
    if x.dtype.kind == "c" and not dtypes.is_complex(target):
        x = x.real
    return x.astype(target).astype(np.float64 if dtypes.kind(target) == "float" else target)


CASES: tuple[Case, ...] = (
    *rows(
        "numpy", "packbits", ((3, 10),), AXES, dtypes=("bool", "uint8", "int32"), domain=(0.0, 2.0)
    ),
    *rows("numpy", "packbits", ((0,),), {"none": {}}, dtypes=("bool",)),
    *rows(
        "numpy",
        "unpackbits",
        ((2, 3),),
        {
            **AXES,
            "count": {"axis": 1, "count": 5},
            "padded": {"axis": 1, "count": 30},
            "short": {"axis": 1, "count": -3},
        },
        dtypes=BYTE,
        domain=BYTES,
    ),
)
