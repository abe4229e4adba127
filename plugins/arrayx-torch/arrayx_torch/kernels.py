"""The table: a torch function for every core primitive, and for others that torch has."""

from __future__ import annotations

from typing import Any

from arrayx_torch.contraction import CONTRACTION
from arrayx_torch.elementwise import ELEMENTWISE
from arrayx_torch.indexing import INDEXING
from arrayx_torch.linalg import LINALG
from arrayx_torch.random import RANDOM
from arrayx_torch.reductions import REDUCTIONS
from arrayx_torch.structural import STRUCTURAL, WITHOUT_OPERANDS

KERNELS: dict[str, Any] = {
    **ELEMENTWISE,
    **STRUCTURAL,
    **INDEXING,
    **REDUCTIONS,
    **CONTRACTION,
    **RANDOM,
    **LINALG,
}

__all__ = ["KERNELS", "WITHOUT_OPERANDS"]
