"""What every nest has to give under every transformation: that of the loop in plain Python.

A nest is a function of two vectors that gives a number, so all its derivatives to second order
are in a value, a gradient and a Hessian.  These are computed eagerly from the Python loop, at
each of a few points; what vmap, jit, forward mode and their compositions have to give is NumPy's
arithmetic on them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx.conformance.by_hand import BY_HAND, TRACED
from arrayx.conformance.nests import POINTS, Nest

N = POINTS[0][0].size
VECTORS = (0, 1)
# The batch axes of the two vectors.
ONE: Any = (None, None)
AXES: tuple[Any, ...] = ((0, 0), (0, None), (None, 0))
# Beyond this a program doubles rounding errors more often than a tolerance can follow.
LARGEST = 1e4


class Truth:
    """Value, gradient and Hessian of a nest at a point `z`, both vectors joined.

    In reverse mode if the Python loop has one; each is computed when it is asked for.
    """

    def __init__(self, nest: Nest, w: Any, x: Any) -> None:
        self.z = np.concatenate([w, x])
        self.reverse = "reverse" in nest.modes
        self.nest = nest
        self.basis = [anp.asarray(e) for e in np.eye(self.z.size)]

    def loop(self, z: Any) -> Any:
        """The Python loop."""
        return self.nest.run(BY_HAND, z[:N], z[N:])

    def slope(self, f: Any, e: Any) -> Any:
        """The derivative along `e`."""
        return lambda z: ax.jvp(f, (z,), (e,))[1]

    @cached_property
    def value(self) -> Any:
        with ax.default_backend("numpy"):
            return np.asarray(self.loop(anp.asarray(self.z)))

    @cached_property
    def gradient(self) -> Any:
        with ax.default_backend("numpy"):
            z = anp.asarray(self.z)
            if self.reverse:
                return np.asarray(ax.grad(self.loop)(z))
            return np.stack([self.slope(self.loop, e)(z) for e in self.basis])

    @cached_property
    def hessian(self) -> Any:
        with ax.default_backend("numpy"):
            z = anp.asarray(self.z)
            if self.reverse:
                pullback = ax.vjp(ax.grad(self.loop), z)[1]
                return np.stack([pullback(e)[0] for e in self.basis])
            slopes = [self.slope(self.loop, e) for e in self.basis]
            return np.stack([[self.slope(s, e)(z) for e in self.basis] for s in slopes])

    def largest(self) -> float:
        """The largest of the numbers that have been asked for."""
        known = [self.z, *(x for x in vars(self).values() if isinstance(x, np.ndarray))]
        return max(float(np.max(np.abs(x))) for x in known)


class Check(NamedTuple):
    """A composition of transformations, and what it has to give.

    `made(f)` takes the two vectors, or with `axes` batches of them; `wanted(truths)` is the
    result, from the truth of each element of the batch.
    """

    made: Callable[[Any], Any]
    wanted: Callable[[Sequence[Truth]], Any]
    modes: str = ""
    axes: tuple[Any, Any] = ONE


def gradient(f: Any) -> Any:
    """Reverse mode, in both vectors joined."""
    return lambda w, x: anp.concatenate(ax.grad(f, VECTORS)(w, x), axis=-1)


def slope(f: Any) -> Any:
    """Forward mode, along the cosines of both vectors."""
    return lambda w, x: ax.jvp(f, (w, x), (anp.cos(w), anp.cos(x)))[1]


def along(t: Truth) -> Any:
    """What `slope` is."""
    return t.gradient @ np.cos(t.z)


def second(outer: Any, inner: Any) -> Any:
    """The Hessian, by two transformations that make Jacobians."""

    def made(f: Any) -> Any:
        def joined(w: Any, x: Any) -> Any:
            parts = outer(inner(f, VECTORS), VECTORS)(w, x)
            return anp.concatenate([anp.concatenate(p, axis=-1) for p in parts], axis=-2)

        return joined

    return made


def curvature(f: Any) -> Any:
    """Reverse mode over reverse mode."""
    return gradient(lambda w, x: anp.sum(anp.sin(gradient(f)(w, x))))


def curved(t: Truth) -> Any:
    """What `curvature` is."""
    return t.hessian @ np.cos(t.gradient)


def product(f: Any) -> Any:
    """Forward mode over reverse mode, along the cosines."""
    return slope(gradient(f))


def first_of(what: Callable[[Truth], Any]) -> Any:
    """What is wanted at the first point."""
    return lambda truths: what(truths[0])


def each(what: Callable[[Truth], Any]) -> Any:
    """What is wanted at every point, stacked."""
    return lambda truths: np.stack([what(t) for t in truths])


def over(axes: Any, f: Any) -> Any:
    """The function batched over these axes."""
    return ax.vmap(f, axes)


def summed(f: Any) -> Any:
    """The sum of what the function gives."""
    return lambda *args: anp.sum(f(*args))


def batch_gradient(axes: Any, wrap: Any) -> Any:
    """The gradient of a batch's sum: per element, or added up for what all elements share."""

    def made(f: Any) -> Any:
        def flat(w: Any, x: Any) -> Any:
            parts = ax.grad(summed(wrap(over(axes, f))), VECTORS)(w, x)
            return anp.concatenate([p.reshape(-1) for p in parts])

        return flat

    return made


def batch_curvature(axes: Any) -> Any:
    """Twice reverse mode over a batch."""

    def made(f: Any) -> Any:
        inner = batch_gradient(axes, lambda g: g)(f)

        def flat(w: Any, x: Any) -> Any:
            parts = ax.grad(lambda w, x: anp.sum(anp.sin(inner(w, x))), VECTORS)(w, x)
            return anp.concatenate([p.reshape(-1) for p in parts])

        return flat

    return made


def shared(axes: Any, count: int) -> Any:
    """The matrix that takes the joined vectors of all elements from those of a batch."""
    size = POINTS[0][0].size, POINTS[0][1].size
    parts = []
    for k in range(count):
        rows = []
        for n, axis in zip(size, axes, strict=True):
            here = np.eye(n) if axis is None else np.eye(count)[k][None, :, None]
            rows.append(here if axis is None else np.kron(np.eye(count)[k][None], np.eye(n)))
        left, right = rows
        zeros = np.zeros
        parts.append(
            np.block(
                [
                    [left, zeros((left.shape[0], right.shape[1]))],
                    [zeros((right.shape[0], left.shape[1])), right],
                ]
            )
        )
    return np.stack(parts)  # (count, 5, size of the batch's vectors)


def batch_gradient_of(axes: Any) -> Any:
    """The gradient of a batch's sum, from the gradients of its elements."""

    def wanted(truths: Sequence[Truth]) -> Any:
        places = shared(axes, len(truths))
        return sum(p.T @ t.gradient for p, t in zip(places, truths, strict=True))

    return wanted


def batch_curvature_of(axes: Any) -> Any:
    """The curvature of a batch's sum, from the curvatures of its elements."""

    def wanted(truths: Sequence[Truth]) -> Any:
        places = shared(axes, len(truths))
        gradient = sum(p.T @ t.gradient for p, t in zip(places, truths, strict=True))
        hessian = sum(p.T @ t.hessian @ p for p, t in zip(places, truths, strict=True))
        return hessian @ np.cos(gradient)

    return wanted


_VALUE, _GRADIENT, _HESSIAN = (
    lambda t: t.value,
    lambda t: t.gradient,
    lambda t: t.hessian,
)


def batched_checks(axes: Any) -> dict[str, Check]:
    """The compositions with vmap over these axes."""
    forward, reverse, both = "forward", "reverse", "forward and reverse"
    jacobians = second(ax.jacfwd, ax.jacrev)
    return {
        "vmap": Check(lambda f: over(axes, f), each(_VALUE), "", axes),
        "jit of vmap": Check(lambda f: ax.jit(over(axes, f)), each(_VALUE), "", axes),
        "vmap of grad": Check(lambda f: over(axes, gradient(f)), each(_GRADIENT), reverse, axes),
        "vmap of jit of grad": Check(
            lambda f: over(axes, ax.jit(gradient(f))), each(_GRADIENT), reverse, axes
        ),
        "grad of vmap": Check(
            batch_gradient(axes, lambda f: f), batch_gradient_of(axes), reverse, axes
        ),
        "grad of jit of vmap": Check(
            batch_gradient(axes, ax.jit), batch_gradient_of(axes), reverse, axes
        ),
        "vmap of jvp": Check(lambda f: over(axes, slope(f)), each(along), forward, axes),
        "jvp of vmap": Check(lambda f: slope(over(axes, f)), each(along), forward, axes),
        "vmap of grad of grad": Check(
            lambda f: over(axes, curvature(f)), each(curved), reverse, axes
        ),
        "grad of grad of vmap": Check(
            batch_curvature(axes), batch_curvature_of(axes), reverse, axes
        ),
        "vmap of jacfwd of jacrev": Check(
            lambda f: over(axes, jacobians(f)), each(_HESSIAN), both, axes
        ),
    }


CHECKS: dict[str, Check] = {
    "value": Check(lambda f: f, first_of(_VALUE)),
    "jit": Check(ax.jit, first_of(_VALUE)),
    "grad": Check(gradient, first_of(_GRADIENT), "reverse"),
    "jit of grad": Check(lambda f: ax.jit(gradient(f)), first_of(_GRADIENT), "reverse"),
    "grad of jit": Check(lambda f: gradient(ax.jit(f)), first_of(_GRADIENT), "reverse"),
    "jvp": Check(slope, first_of(along), "forward"),
    "jit of jvp": Check(lambda f: ax.jit(slope(f)), first_of(along), "forward"),
    "grad of grad": Check(curvature, first_of(curved), "reverse"),
    "jit of grad of grad": Check(lambda f: ax.jit(curvature(f)), first_of(curved), "reverse"),
    "jvp of jvp": Check(
        lambda f: slope(lambda w, x: anp.sin(slope(f)(w, x))),
        first_of(
            lambda t: (
                np.cos(along(t))
                * ((t.hessian @ np.cos(t.z) - t.gradient * np.sin(t.z)) @ np.cos(t.z))
            )
        ),
        "forward",
    ),
    "jvp of grad": Check(
        product, first_of(lambda t: t.hessian @ np.cos(t.z)), "forward and reverse"
    ),
    "grad of jvp": Check(
        lambda f: gradient(slope(f)),
        first_of(lambda t: t.hessian @ np.cos(t.z) - t.gradient * np.sin(t.z)),
        "forward and reverse",
    ),
    "jacfwd of jacrev": Check(
        second(ax.jacfwd, ax.jacrev), first_of(_HESSIAN), "forward and reverse"
    ),
    "jacrev of jacfwd": Check(
        second(ax.jacrev, ax.jacfwd), first_of(_HESSIAN), "forward and reverse"
    ),
    "jit of jacfwd of jacrev": Check(
        lambda f: ax.jit(second(ax.jacfwd, ax.jacrev)(f)),
        first_of(_HESSIAN),
        "forward and reverse",
    ),
    "jacrev of jacrev": Check(second(ax.jacrev, ax.jacrev), first_of(_HESSIAN), "reverse"),
    "jacfwd of jacfwd": Check(second(ax.jacfwd, ax.jacfwd), first_of(_HESSIAN), "forward"),
    **{f"{name} {axes}": check for axes in AXES for name, check in batched_checks(axes).items()},
}


def possible(nest: Nest) -> list[str]:
    """The checks that a nest can be differentiated for."""
    return [
        name
        for name, check in CHECKS.items()
        if all(m in nest.modes for m in ("forward", "reverse") if m in check.modes)
    ]


class Truths:
    """The truths of a nest, computed where they are needed."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.known: dict[tuple[int, int], Truth] = {}

    def at(self, i: int, j: int) -> Truth:
        """The truth at the `w` of point number i and the `x` of point number j."""
        if (i, j) not in self.known:
            self.known[i, j] = Truth(self.nest, POINTS[i][0], POINTS[j][1])
        return self.known[i, j]

    def of(self, axes: Any) -> list[Truth]:
        """Those of a batch with these axes; of the first point alone where there is none."""
        if axes == ONE:
            return [self.at(0, 0)]
        return [self.at(*(0 if a is None else k for a in axes)) for k in range(len(POINTS))]


def given(axes: Any) -> list[Any]:
    """The operands for these batch axes."""
    return [
        POINTS[0][i] if axis is None else np.stack([p[i] for p in POINTS])
        for i, axis in enumerate(axes)
    ]


def verify(nest: Nest, name: str, backend: str, truths: Truths | None = None) -> None:
    """Raises AssertionError where a nest does not give what the Python loop gives.

    Nothing is asked of programs whose numbers grow beyond measure.
    """
    check = CHECKS[name]
    found = (truths or Truths(nest)).of(check.axes)
    wanted = check.wanted(found)
    scale = max(1.0, *(t.largest() for t in found))
    if not scale < LARGEST:
        return
    with ax.default_backend(backend):
        got = check.made(lambda w, x: nest.run(TRACED, w, x))(*given(check.axes))
    # Rounding errors grow with what is added up on the way.
    np.testing.assert_allclose(
        np.asarray(got), wanted, rtol=1e-8, atol=1e-9 * scale, err_msg=f"{name} on {backend}"
    )
