"""Elementwise kernels: torch's functions, and what StableHLO says where torch leaves it open."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from arrayx_torch.kinds import (
    ALL_SIGNED,
    BITS,
    NARROW,
    PART_OF,
    SIGNED,
    Kernel,
    in_float32,
    in_float64,
    is_integer,
    literal,
    low,
    ordered,
    scalar,
    signed,
    tensors,
    torch_dtype,
    width,
)

# ----------------------------------------------------------------- products and choice


@signed
def absorb_mul(x: Any, y: Any) -> Any:
    """Product in which zeros absorb."""
    product = x * y
    if is_integer(product.dtype):
        return product
    absorbed = (product != product) & ((x == 0) | (y == 0))
    return torch.where(absorbed, torch.zeros((), dtype=x.dtype, device=x.device), product)


def select(which: Any, x: Any, y: Any) -> Any:
    if not isinstance(which, torch.Tensor):
        x, y = tensors(x, y)
        return x if which else y
    return signed(lambda a, b: torch.where(which, a, b))(x, y)


# ----------------------------------------------------------------- division


def below(x: Any, y: Any) -> Any:
    """Whether one integer is less than another, both unsigned ones with these bits."""
    return (x ^ low(x.dtype)) < (y ^ low(x.dtype))


def divided(x: Any, y: Any) -> Any:
    """Quotient of integers towards zero: by 0 all bits are set, and the least by -1 wraps."""
    dtype = x.dtype
    held = SIGNED.get(dtype)
    if held is None:
        plain = (y != 0) & (y != -1) if dtype.is_signed else y != 0
        one = scalar(1, dtype, x.device)
        quotient = torch.div(x, torch.where(plain, y, one), rounding_mode="trunc")
        every = scalar(-1, dtype, x.device)
        if dtype.is_signed:
            quotient = torch.where(y == -1, -x, quotient)
        return torch.where(y == 0, every, quotient)
    if held is not torch.int64:
        return to_dtype(divided(to_dtype(x, torch.int64), to_dtype(y, torch.int64)), dtype)
    x, y = x.view(held), y.view(held)
    # Half of x is not negative; a divisor of 2**63 or more is met once at most.
    safe = torch.where(y > 0, y, torch.ones_like(y))
    half = torch.div((x >> 1) & ~low(held), safe, rounding_mode="trunc") << 1
    quotient = half + (~below(x - half * safe, safe)).to(held)
    quotient = torch.where(y < 0, (~below(x, y)).to(held), quotient)
    return torch.where(y == 0, scalar(-1, held, x.device), quotient).view(dtype)


@literal
def div(x: Any, y: Any) -> Any:
    if is_integer(x.dtype):
        return divided(x, y)
    return torch.true_divide(x, y)


@literal
def rem(x: Any, y: Any) -> Any:
    """Remainder with the sign of `x`; of integers by 0, `x`."""
    if not is_integer(x.dtype):
        return torch.fmod(x, y)
    quotient = divided(x, y)
    return signed(lambda a, b, q: a - b * q)(x, y, quotient)


# ----------------------------------------------------------------- order and rounding


@literal
def clamp(low: Any, x: Any, high: Any) -> Any:
    return minimum(maximum(x, low), high)


def absolute(x: Any) -> Any:
    if x.dtype in SIGNED or x.dtype in (torch.uint8, torch.bool):
        return x
    return torch.abs(x)


def sign(x: Any) -> Any:
    dtype = x.dtype
    if dtype.is_floating_point:
        whole = (x == 0) | (x != x)
        return torch.where(whole, x, torch.copysign(torch.ones_like(x), x))
    if dtype.is_complex:
        return torch.where(x == 0, x, x / torch.abs(x))
    if dtype in ALL_SIGNED:
        return signed(lambda a: (a != 0).to(a.dtype))(x)
    return torch.sign(x)


@literal
def nextafter(x: Any, y: Any) -> Any:
    dtype = x.dtype
    bits = BITS[dtype.itemsize]
    one = torch.ones((), dtype=bits, device=x.device)
    step = torch.where((y > x) == (x > 0), one, -one)
    moved = (x.view(bits) + step).view(dtype)
    least = torch.copysign(one.expand(x.shape).view(dtype), y)
    moved = torch.where(x == 0, least, moved)
    return torch.where(x == y, y, torch.where((x != x) | (y != y), x + y, moved))


def compared(name: str) -> Kernel:
    """Which of two elements comes first; complex numbers by their parts, the real ones first."""
    function, strictly = getattr(torch, name), getattr(torch, name[0] + "t")

    def kernel(x: Any, y: Any) -> Any:
        if not x.dtype.is_complex:
            return function(x, y)
        return strictly(x.real, y.real) | ((x.real == y.real) & function(x.imag, y.imag))

    return ordered(kernel)


def extremum(function: Kernel) -> Kernel:
    """The larger or smaller element; of equal ones, zeros of both signs, the second.

    Torch's choice between these changes with the length of the array.
    """

    @ordered
    def kernel(x: Any, y: Any) -> Any:
        found = function(x, y)
        return torch.where(x == y, y, found) if found.dtype.is_floating_point else found

    return kernel


maximum, minimum = extremum(torch.maximum), extremum(torch.minimum)


# ----------------------------------------------------------------- exponentials and powers


@in_float64
def cbrt(x: Any) -> Any:
    size = torch.abs(x)
    root = torch.pow(size, 1 / 3)
    root = root - (root - size / (root * root)) / 3
    plain = (size == 0) | ~torch.isfinite(size)
    return torch.copysign(torch.where(plain, size, root), x)


@literal
def power(x: Any, y: Any) -> Any:
    dtype = x.dtype
    if not is_integer(dtype):
        return complex_power(x, y) if dtype.is_complex else torch.pow(x, y)
    if dtype in ALL_SIGNED:
        # By squares, for all bits of the exponent, taken for signed ones.
        held = ALL_SIGNED[dtype]
        base, exponent = x.view(held), y.view(held)
        result = torch.ones((), dtype=held, device=x.device)
        for i in range(width(held)):
            result = torch.where((exponent >> i) & 1 != 0, result * base, result)
            base = base * base
        return result.view(dtype)
    result = torch.pow(x, torch.clamp(y, min=0))
    odd = 1 - 2 * (y & 1)
    # 1 / 0 is -1, as in `div`.
    tiny = torch.where(x == -1, odd, torch.where(x == 0, -1, (x == 1).to(dtype)).to(dtype))
    return torch.where(y < 0, tiny, result)


def complex_power(x: Any, y: Any) -> Any:
    result = torch.exp(y * torch.log(x))
    zero = x == 0
    at_zero = torch.where(y == 0, torch.ones_like(result), torch.zeros_like(result))
    return torch.where(zero, at_zero, result)


# ----------------------------------------------------------------- bits


def integers(kernel: Kernel) -> Kernel:
    """A kernel of integers, which sees the signed ones with the same bits."""

    def run(*operands: Any) -> Any:
        xs = tensors(*operands)
        dtype = xs[-1].dtype
        held = ALL_SIGNED.get(dtype, dtype)
        return kernel(*[x.view(held) for x in xs]).view(dtype)

    return run


def counts_of(y: Any) -> tuple[Any, Any]:
    """Which shifts are by less than the width, and their counts, 0 for the others."""
    inside = (y >= 0) & (y < width(y.dtype))
    return inside, torch.where(inside, y, torch.zeros_like(y))


@integers
def shift_left(x: Any, y: Any) -> Any:
    inside, counts = counts_of(y)
    return torch.where(inside, x << counts, torch.zeros_like(x))


def shifted_right(x: Any, counts: Any) -> Any:
    """Signed integers shifted right with zeros, by less than their width."""
    # Ones where bits of the sign come in: -1 shifted by the width, in two steps.
    gone = (torch.full_like(x, -1) << (width(x.dtype) - 1 - counts)) << 1
    return (x >> counts) & ~gone


@integers
def shift_right_logical(x: Any, y: Any) -> Any:
    x, y = torch.broadcast_tensors(x, y)
    inside, counts = counts_of(y)
    return torch.where(inside, shifted_right(x, counts), torch.zeros_like(x))


@integers
def shift_right_arithmetic(x: Any, y: Any) -> Any:
    inside, counts = counts_of(y)
    most = torch.full_like(y, width(y.dtype) - 1)
    return x >> torch.where(inside, counts, most)


def ones_in(x: Any) -> Any:
    """The number of bits that are set in signed integers, as int64."""
    size = width(x.dtype)
    x = x.to(torch.int64)
    if size < 64:
        x = x & ((1 << size) - 1)
    x = x - ((x >> 1) & 0x5555555555555555)
    x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
    x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (x * 0x0101010101010101) >> 56


@integers
def population_count(x: Any) -> Any:
    return ones_in(x).to(x.dtype)


@integers
def clz(x: Any) -> Any:
    dtype, size = x.dtype, width(x.dtype)
    distance = 1
    while distance < size:
        x = x | shifted_right(x, torch.full_like(x, distance))
        distance *= 2
    return (size - ones_in(x)).to(dtype)


# ----------------------------------------------------------------- complex numbers


def real(x: Any) -> Any:
    return x.real if x.dtype.is_complex else x


def imag(x: Any) -> Any:
    return x.imag if x.dtype.is_complex else torch.zeros_like(x)


@literal
def complex_(re: Any, im: Any) -> Any:
    return torch.complex(*torch.broadcast_tensors(re, im))


# ----------------------------------------------------------------- special functions


@in_float64
def polygamma(x: Any, *, order: int) -> Any:
    """A multiple of Hurwitz's zeta function; torch's own of order 1 has half of the digits."""
    if order == 0:
        return torch.digamma(x)
    factor = math.factorial(order) * (1.0 if order % 2 else -1.0)
    return factor * torch.special.zeta(torch.full_like(x, order + 1), x)


@in_float64
def digamma(x: Any) -> Any:
    return torch.where(x == -math.inf, math.nan, torch.digamma(x))


@in_float64
def lgamma(x: Any) -> Any:
    return torch.where(torch.isinf(x), torch.abs(x), torch.lgamma(x))


@in_float64
def erf_inv(x: Any) -> Any:
    return torch.erfinv(x)


# ----------------------------------------------------------------- conversion


def convert(x: Any, *, dtype: Any, weak_type: bool) -> Any:
    return to_dtype(x, torch_dtype(dtype))


def to_dtype(x: Any, want: torch.dtype) -> Any:
    """Elements in another dtype: integers wrap around, floats saturate."""
    have = x.dtype
    if have is want:
        return x
    if want is torch.bool:
        return x.view(SIGNED[have]) != 0 if have in SIGNED else x != 0
    if have.is_complex and not want.is_complex:
        return to_dtype(x.real, want)
    if have.is_floating_point and is_integer(want):
        return saturated(x, want)
    held = SIGNED.get(have)
    if held is not None:
        bits = x.view(held)
        if is_integer(want) and want.itemsize <= have.itemsize:
            return narrowed(bits, want)
        if held is not torch.int64:
            return to_dtype(bits.to(torch.int64) & ((1 << width(held)) - 1), want)
        # Half of it with the lowest bit kept, so that it is rounded once.
        half = ((bits >> 1) & ~low(held)) | (bits & 1)
        target = PART_OF.get(want, want)
        wide = torch.float32 if target in NARROW else target
        result = torch.where(bits < 0, half.to(wide) * 2, bits.to(wide))
        return result.to(want)
    if want in SIGNED:
        return narrowed(x, want)
    return x.to(want)


def narrowed(x: Any, want: torch.dtype) -> Any:
    """Signed integers, or bools, as others of any width; they wrap around."""
    held = SIGNED.get(want)
    return x.to(want) if held is None else x.to(held).view(want)


def saturated(x: Any, want: torch.dtype) -> Any:
    """Floats as integers: cut towards zero, at the bounds outside of them, 0 for nan."""
    x = x.float() if x.dtype in NARROW else x
    size = width(want)
    least, most = (-(2 ** (size - 1)), 2 ** (size - 1)) if want.is_signed else (0, 2**size)
    inside = (x > float(least)) & (x < float(most))
    safe = torch.where(inside, x, torch.zeros_like(x))
    if size == 64 and not want.is_signed:
        large = safe >= 2.0**63
        rest = torch.where(large, safe - 2.0**63, safe).to(torch.int64)
        whole = torch.where(large, rest ^ low(torch.int64), rest).view(want)
    else:
        whole = narrowed(safe.to(torch.int64), want)
    top, bottom = scalar(most - 1, want, x.device), scalar(least, want, x.device)

    @signed
    def bounded(whole: Any, top: Any, bottom: Any) -> Any:
        return torch.where(x >= float(most), top, torch.where(x <= float(least), bottom, whole))

    return bounded(whole, top, bottom)


def bitcast(x: Any, *, dtype: Any) -> Any:
    want = torch_dtype(dtype)
    have_size, want_size = x.dtype.itemsize, want.itemsize
    if have_size == want_size:
        return x.view(want)
    shape = x.shape[:-1] if have_size < want_size else (*x.shape, have_size // want_size)
    if 0 in shape:
        return torch.empty(shape, dtype=want, device=x.device)
    if have_size > want_size:
        return x.contiguous().unsqueeze(-1).view(want)
    return x.contiguous().view(want).squeeze(-1)


def table() -> dict[str, Callable[..., Any]]:
    """The kernels that are functions of torch's by name, wrapped as they need to be."""
    found: dict[str, Callable[..., Any]] = {}
    for name in ("add", "sub", "mul"):
        found[name] = signed(getattr(torch, name))
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_not"):
        found[name] = signed(getattr(torch, name))
    for name in ("eq", "ne"):
        found[name] = signed(getattr(torch, name))
    for name in ("lt", "le", "gt", "ge"):
        found[name] = compared(name)
    functions = (
        "exp expm1 log log1p sqrt sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
        "floor ceil round atan2 erf erfc exp2 rsqrt"
    )
    for name in functions.split():
        found[name] = in_float32(getattr(torch, name))
    return found


ELEMENTWISE: dict[str, Callable[..., Any]] = {
    **table(),
    "neg": signed(torch.neg),
    "absorb_mul": absorb_mul,
    "select": select,
    "div": div,
    "rem": rem,
    "max": maximum,
    "min": minimum,
    "clamp": clamp,
    "abs": absolute,
    "sign": sign,
    "is_finite": torch.isfinite,
    "nextafter": nextafter,
    "cbrt": cbrt,
    "logistic": in_float32(torch.sigmoid),
    "pow": in_float32(power),
    "shift_left": shift_left,
    "shift_right_arithmetic": shift_right_arithmetic,
    "shift_right_logical": shift_right_logical,
    "population_count": population_count,
    "clz": clz,
    "real": real,
    "imag": imag,
    "complex": complex_,
    "conj": torch.conj_physical,
    "erf_inv": erf_inv,
    "lgamma": lgamma,
    "digamma": digamma,
    "polygamma": polygamma,
    "bessel_i0e": in_float64(torch.special.i0e),
    "bessel_i1e": in_float64(torch.special.i1e),
    "convert": convert,
    "bitcast": bitcast,
}
