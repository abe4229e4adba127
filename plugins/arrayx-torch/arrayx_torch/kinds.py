"""Dtypes: which one of torch's holds which of NumPy's, and how kernels get by with few of them.

Torch stores unsigned integers of 16, 32 and 64 bits and computes almost nothing with them.
Their bits are computed with as signed integers instead: `signed` for what does not depend on
the sign, `ordered` for what compares.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import ml_dtypes
import numpy as np
import torch

OF_NAME: dict[str, torch.dtype] = {
    "bool": torch.bool,
    "int8": torch.int8,
    "int16": torch.int16,
    "int32": torch.int32,
    "int64": torch.int64,
    "uint8": torch.uint8,
    "uint16": torch.uint16,
    "uint32": torch.uint32,
    "uint64": torch.uint64,
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "complex64": torch.complex64,
    "complex128": torch.complex128,
}
NAME_OF = {dtype: name for name, dtype in OF_NAME.items()}
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# The signed integers with the bits of unsigned ones that torch hardly computes with.
SIGNED = {torch.uint16: torch.int16, torch.uint32: torch.int32, torch.uint64: torch.int64}
ALL_SIGNED = {**SIGNED, torch.uint8: torch.int8}
BITS = {1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
NARROW = frozenset((torch.float16, torch.bfloat16))
PART_OF = {torch.complex64: torch.float32, torch.complex128: torch.float64}
WHOLE_OF = {part: whole for whole, part in PART_OF.items()}


def torch_dtype(dtype: Any) -> torch.dtype:
    """Torch's dtype for one of NumPy's."""
    return OF_NAME[np.dtype(dtype).name]


def numpy_dtype(dtype: torch.dtype) -> np.dtype[Any]:
    """NumPy's dtype for one of torch's."""
    return BFLOAT16 if dtype is torch.bfloat16 else np.dtype(NAME_OF[dtype])


def is_integer(dtype: torch.dtype) -> bool:
    """True for integers, signed or not."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is torch.bool)


def width(dtype: torch.dtype) -> int:
    """The bits of an integer."""
    return 8 * dtype.itemsize


def wide(dtype: torch.dtype) -> torch.dtype:
    """The dtype to accumulate in."""
    return torch.float32 if dtype in NARROW else dtype


def low(dtype: torch.dtype) -> int:
    """The least of signed integers, the only one with its sign bit alone set."""
    return -(1 << (width(dtype) - 1))


# ----------------------------------------------------------------- scalars


def scalar(value: Any, dtype: torch.dtype, device: Any) -> torch.Tensor:
    """A Python number as a tensor of rank 0; integers wrap around."""
    if is_integer(dtype):
        held = ALL_SIGNED.get(dtype, dtype)
        size = width(held)
        value = ((int(value) + (1 << (size - 1))) & ((1 << size) - 1)) - (1 << (size - 1))
        return torch.tensor(value, dtype=held, device=device).view(dtype)
    return torch.tensor(value, dtype=dtype, device=device)


def model(*operands: Any) -> torch.Tensor:
    """The last operand that is a tensor: literals have its dtype."""
    for x in reversed(operands):
        if isinstance(x, torch.Tensor):
            return x
    raise TypeError("a kernel needs an array among its operands")


def tensors(*operands: Any) -> list[torch.Tensor]:
    """The operands with literals as tensors."""
    like = model(*operands)
    return [
        x if isinstance(x, torch.Tensor) else scalar(x, like.dtype, like.device) for x in operands
    ]


def host_integer(x: Any) -> int:
    """An integer of rank 0 as one of Python's."""
    if not isinstance(x, torch.Tensor):
        return int(x)
    held = ALL_SIGNED.get(x.dtype)
    if held is None:
        return int(x.item())
    return int(x.view(held).item()) & ((1 << width(held)) - 1)


# ----------------------------------------------------------------- ways to run a kernel

Kernel = Callable[..., Any]


def literal(kernel: Kernel) -> Kernel:
    """The kernel, its literals given the dtype of the arrays."""

    @wraps(kernel)
    def run(*operands: Any, **params: Any) -> Any:
        return kernel(*tensors(*operands), **params)

    return run


def signed(kernel: Kernel) -> Kernel:
    """The kernel, unsigned integers taken for signed ones with the same bits."""

    @wraps(kernel)
    def run(*operands: Any, **params: Any) -> Any:
        xs = tensors(*operands)
        dtype = xs[-1].dtype
        held = SIGNED.get(dtype)
        if held is None:
            return kernel(*xs, **params)
        result = kernel(*[x.view(held) if x.dtype is dtype else x for x in xs], **params)
        return result.view(dtype) if result.dtype is held else result

    return run


def ordered(kernel: Kernel) -> Kernel:
    """The kernel, unsigned integers taken for signed ones in the same order."""

    @wraps(kernel)
    def run(*operands: Any, **params: Any) -> Any:
        xs = tensors(*operands)
        dtype = xs[-1].dtype
        held = SIGNED.get(dtype)
        if held is None:
            return kernel(*xs, **params)
        result = kernel(
            *[x.view(held) ^ low(held) if x.dtype is dtype else x for x in xs], **params
        )
        return (result ^ low(held)).view(dtype) if result.dtype is held else result

    return run


def in_float32(kernel: Kernel) -> Kernel:
    """The kernel, 16-bit floats by way of float32."""

    @wraps(kernel)
    def run(*operands: Any, **params: Any) -> Any:
        xs = tensors(*operands)
        dtype = xs[-1].dtype
        if dtype not in NARROW:
            return kernel(*xs, **params)
        return kernel(*[x.float() if x.dtype is dtype else x for x in xs], **params).to(dtype)

    return run


def in_float64(kernel: Kernel) -> Kernel:
    """The kernel, narrower floats by way of float64, which few of torch's devices lack."""

    @wraps(kernel)
    def run(*operands: Any, **params: Any) -> Any:
        xs = tensors(*operands)
        dtype = xs[-1].dtype
        if dtype is torch.float64 or xs[-1].device.type == "mps":
            return in_float32(kernel)(*xs, **params)
        return kernel(*[x.double() for x in xs], **params).to(dtype)

    return run
