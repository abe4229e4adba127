"""`check_grads`: derivatives compared with differences of values, for tests of rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.api.arguments import check_callable, name_of
from arrayx.api.autodiff import jvp, vjp
from arrayx.api.operands import as_array, float0_zeros, is_differentiable
from arrayx.api.placement import device_get
from arrayx.core.array import typeof
from arrayx.core.aval import Aval
from arrayx.tree_nodes import keystr
from arrayx.treedef import flatten, flatten_with_path, unflatten

# By the bits of a real number: the step of the difference, and the tolerance.
_STEPS = {16: 0.05, 32: 1e-2, 64: 1e-4}
_TOLERANCES = {16: 0.2, 32: 1e-2, 64: 1e-5}


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compares the derivatives of `f` at `args` with central differences, along random directions.

    Args:
        f: a function of trees of arrays.
        args: its positional arguments; integers among them are kept as they are.
        order: up to which order; derivatives of derivatives are checked the same way.
        modes: "fwd" checks `ax.jvp`, "rev" checks `ax.vjp`.
        atol, rtol: tolerances; by default they follow the least precise dtype.
        eps: the step of the differences.

    Raises:
        AssertionError: they differ.

    >>> import arrayx as ax, arrayx.numpy as anp
    >>> ax.check_grads(anp.sin, (0.3,), order=2)
    """
    check_callable(f, "ax.check_grads")
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    for mode in wanted:
        if mode not in ("fwd", "rev"):
            raise errors.ArgumentError(f"check_grads: modes are 'fwd' and 'rev', not {mode!r}")
    leaves, tree = flatten(tuple(args))
    arrays = unflatten(tree, [as_array(x) for x in leaves])
    _check(f, arrays, order, wanted, (atol, rtol, eps), np.random.default_rng(0), name_of(f))


def _check(
    f: Callable[..., Any],
    args: tuple[Any, ...],
    order: int,
    modes: Sequence[str],
    limits: tuple[float | None, float | None, float | None],
    random: np.random.Generator,
    name: str,
) -> None:
    if "fwd" in modes:
        _check_forward(f, args, limits, random, f"jvp of {name}")
        if order > 1:
            direction = _random_like(args, random)

            def tangent(*at: Any) -> Any:
                return jvp(f, at, direction)[1]

            _check(tangent, args, order - 1, modes, limits, random, f"the tangent of {name}")
    if "rev" in modes:
        _check_reverse(f, args, limits, random, f"vjp of {name}")
        if order > 1:
            ct = _random_like(f(*args), random)

            def cotangents(*at: Any) -> Any:
                found = vjp(f, *at)[1](ct)
                return [x for x in flatten(found)[0] if x.dtype != dtypes.float0]

            _check(cotangents, args, order - 1, modes, limits, random, f"the cotangent of {name}")


def _random_like(tree: Any, random: np.random.Generator) -> Any:
    leaves, treedef = flatten(tree)
    return unflatten(treedef, [_random(typeof(x), random) for x in leaves])


def _random(aval: Aval, random: np.random.Generator) -> Any:
    if not is_differentiable(aval):
        return float0_zeros(aval)
    x = random.standard_normal(aval.shape)
    if dtypes.kind(aval.dtype) == "complex":
        x = x + 1j * random.standard_normal(aval.shape)
    return np.asarray(x).astype(aval.dtype)


def _bits(*trees: Any) -> int:
    found = [
        int(dtypes.real_dtype(a.dtype).itemsize) * 8
        for a in map(typeof, flatten(trees)[0])
        if is_differentiable(a)
    ]
    return max(16, min(found, default=64))


def _wide(x: Any) -> np.ndarray:
    host: np.ndarray = np.asarray(device_get(x))
    return host.astype(np.complex128 if host.dtype.kind == "c" else np.float64)


def _difference(f: Any, args: Any, direction: Any, eps: float) -> list[np.ndarray]:
    """The central difference of the floating-point results along a direction."""

    def at(step: float) -> list[Any]:
        leaves, tree = flatten(args)
        moved = [
            (_wide(x) + step * _wide(d)).astype(typeof(x).dtype)
            if is_differentiable(typeof(x))
            else x
            for x, d in zip(leaves, flatten(direction)[0], strict=True)
        ]
        return [o for o in flatten(f(*unflatten(tree, moved)))[0] if is_differentiable(typeof(o))]

    pairs = zip(at(eps), at(-eps), strict=True)
    return [(_wide(a) - _wide(b)) / (2 * eps) for a, b in pairs]


def _check_forward(f: Any, args: Any, limits: Any, random: Any, what: str) -> None:
    atol, rtol, eps = limits
    direction = _random_like(args, random)
    value, tangent = jvp(f, args, direction)
    bits = _bits(args, value)
    expected = _difference(f, args, direction, eps or _STEPS[bits])
    found = [
        (path, t)
        for path, t in flatten_with_path(tangent)[0]
        if getattr(t, "dtype", None) != dtypes.float0
    ]
    for (path, t), e in zip(found, expected, strict=True):
        _compare(_wide(t), e, bits, atol, rtol, f"{what} at result{keystr(path)}")


def _check_reverse(f: Any, args: Any, limits: Any, random: Any, what: str) -> None:
    atol, rtol, eps = limits
    value, pullback = vjp(f, *args)
    ct = _random_like(value, random)
    direction = _random_like(args, random)
    bits = _bits(args, value)
    moving = [c for c in flatten(ct)[0] if c.dtype != dtypes.float0]
    differences = _difference(f, args, direction, eps or _STEPS[bits])
    expected = sum(np.sum(_wide(c) * d).real for c, d in zip(moving, differences, strict=True))
    found = 0.0
    pairs = zip(flatten(pullback(ct))[0], flatten(direction)[0], strict=True)
    for c, d in pairs:
        if c.dtype != dtypes.float0:
            found += np.sum(_wide(c) * _wide(d)).real
    _compare(np.asarray(found), np.asarray(expected), bits, atol, rtol, what)


def _compare(
    found: np.ndarray, expected: np.ndarray, bits: int, atol: Any, rtol: Any, what: str
) -> None:
    np.testing.assert_allclose(
        found,
        expected,
        rtol=_TOLERANCES[bits] if rtol is None else rtol,
        atol=_TOLERANCES[bits] if atol is None else atol,
        err_msg=f"{what} differs from the difference of values",
    )
