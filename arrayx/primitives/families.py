"""What whole families of primitives have in common, so that a member states its difference.

A family must shorten at least three operations, or it does not belong here.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from arrayx import dtypes, errors
from arrayx.config import config
from arrayx.core.array import SCALARS, is_scalar
from arrayx.core.aval import Aval, Undefined
from arrayx.core.interpreter import BASE, current
from arrayx.core.linear import Zero
from arrayx.core.primitive import Fault, Primitive
from arrayx.core.quiet import quiet

_current = current.get
_config = config.snapshot
_scalars = frozenset(SCALARS)
FLOAT = frozenset({"float"})
COMPLEX = frozenset({"complex"})
INEXACT = frozenset({"float", "complex"})
INTEGER = frozenset({"int", "uint"})
REAL = INTEGER | FLOAT
NUMERIC = REAL | COMPLEX
LOGICAL = frozenset({"bool"}) | INTEGER
ORDERED = frozenset({"bool"}) | REAL
ANY = frozenset({"bool"}) | NUMERIC
# Dtypes that only keep numbers, and all that elements can be copied of.
NARROW = frozenset({"narrow int", "narrow uint", "narrow float"})
STORED = ANY | NARROW
EVERYTHING = STORED | {"key"}


def is_linear(x: Any) -> bool:
    """True for the arguments whose cotangent a transpose rule is asked for."""
    return type(x) is Undefined


def array_avals(avals: Sequence[Any]) -> list[Aval]:
    """The types of the operands that are arrays, literals left out."""
    return [a for a in avals if type(a) is Aval]


def same_type(name: str, avals: Sequence[Any], kinds: frozenset[str]) -> Aval:
    """The common type of a primitive's operands; raises where they differ."""
    arrays = array_avals(avals)
    if not arrays:
        raise errors.DtypeError(f"{name} needs an array among its operands, got {list(avals)}")
    first = arrays[0]
    weak = first.weak_type
    for a in arrays[1:]:
        if a.shape != first.shape:
            raise errors.ShapeError(
                f"{name} needs operands of equal shape, got {', '.join(map(str, arrays))}"
            )
        if a.dtype != first.dtype:
            raise errors.DtypeError(
                f"{name} needs operands of equal dtype, got {', '.join(map(str, arrays))}"
            )
        weak = weak and a.weak_type
    if dtypes.kind(first.dtype) not in kinds:
        raise errors.DtypeError(
            f"{name} is not defined for {first}; it takes dtypes of kind {', '.join(sorted(kinds))}"
        )
    return Aval(first.shape, first.dtype, weak)


class NonDifferentiable(Primitive):
    """The result is piecewise constant, or not a number: its tangent is `Zero`."""

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        """The value, and no tangent."""
        result = self(*primals, **params)
        return result, (tuple(Zero for _ in result) if self.multiple else Zero)


class Linear(Primitive):
    """Linear in its one operand: the tangent goes through the operation itself."""

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        """The value, and the same operation on the tangents."""
        return self(primals[0], **params), self(tangents[0], **params)

    def linearize(self, tape: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        """The value; the operation itself goes on the tape."""
        result = self(primals[0], **params)
        tangent = tape.record(self, (tangents[0],), params, result.aval.strong())
        return result, tangent


class Elementwise(Primitive):
    """Works on each element alone; batching lines the batch axes up."""

    elementwise = True
    cheap = True
    kinds: ClassVar[frozenset[str]] = ANY
    # Result dtype from operand dtype, where they differ.
    result: ClassVar[staticmethod[[Any], Any] | None] = None

    def type_rule(self, *avals: Any, **params: Any) -> Aval:
        aval = same_type(self.name, avals, self.kinds)
        result = type(self).result
        return aval if result is None else aval.update(dtype=result(aval.dtype), weak_type=False)

    def vmap(self, size: int, args: Any, dims: Any, **params: Any) -> Any:
        """The same operation on whole batches, whose axes are brought to one place."""
        args, dim = aligned(size, args, dims)
        return self(*args, **params), dim


def aligned(size: int, args: Sequence[Any], dims: Sequence[int | None]) -> tuple[list[Any], int]:
    """Arrays with their batch axis at one common place; literals stay as they are."""
    dim = next(d for d in dims if d is not None)
    moved = [
        a if d == dim or is_scalar(a) else handed.move_batch_dim(size, a, d, dim)
        for a, d in zip(args, dims, strict=True)
    ]
    return moved, dim


class Handed:
    """Functions of the primitives above that the families need: handed up at import."""

    move_batch_dim: Callable[[int, Any, int | None, int], Any]
    mul: Callable[[Any, Any], Any]
    absorb_mul: Callable[[Any, Any], Any]
    add: Callable[[Any, Any], Any]
    # Writes what a debugger should report into the program, where a batching rule replaces
    # the primitive that would have been asked.
    report: Callable[[Sequence[Fault]], None]
    # The two halves of keys given as pairs of uint32.
    words_of: Callable[[Any], tuple[Any, Any]]
    # A value as one that varies over further mesh axes.
    varied: Callable[[Any, frozenset[Any]], Any]
    product_of_others: Callable[[Any, Any], Any]

    def __getattr__(self, name: str) -> Any:
        # What few programs need: importing the module hands it up.
        if name in RARE:
            importlib.import_module(RARE[name])
            return self.__dict__[name]
        raise AttributeError(name)


RARE = {
    "product_of_others": "arrayx.primitives.segments",
    "words_of": "arrayx.primitives.random",
}

handed = Handed()


def scaled(tangent: Any, factor: Any) -> Any:
    """`tangent * factor`, with zeros absorbing: 0 times inf or nan is 0.

    A literal factor that is finite and not zero cannot do harm: a plain product.
    """
    if is_scalar(factor):
        if factor == 1:
            return tangent
        if math.isfinite(abs(factor)) and factor != 0:
            return handed.mul(tangent, factor)
    if not _config().zeros_absorb:
        return handed.mul(tangent, factor)
    if is_scalar(factor):
        raise ValueError(f"the derivative factor {factor} is a literal that is 0, inf or nan")
    return handed.absorb_mul(tangent, factor)


def add_tangents(a: Any, b: Any) -> Any:
    """The sum of two tangents, either of which may be `Zero`."""
    if a is Zero:
        return b
    if b is Zero:
        return a
    return handed.add(a, b)


class Differentiable(Elementwise):
    """Elementwise with a derivative for each operand: `partials[i](*operands, out)`.

    A partial gives the factor of the operand's tangent: an array or a literal.
    """

    partials: ClassVar[tuple[Callable[..., Any], ...]] = ()

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        """The value, and the sum of each tangent times its partial."""
        result = self(*primals, **params)
        tangent: Any = Zero
        for partial, dx in zip(self.partials, tangents, strict=True):
            if dx is not Zero:
                tangent = add_tangents(tangent, scaled(dx, partial(*primals, result, **params)))
        return result, tangent


class OneOperand(Elementwise):
    """Calls the kernel directly where the operand is concrete: the eager fast path."""

    def __call__(self, x: Any) -> Any:
        interpreter = _current()
        if interpreter is BASE:
            try:
                kernel, out, array_type = self.direct[type(x), x.aval]
                return array_type(quiet.run(kernel, x.buffer), out)
            except (KeyError, AttributeError, RuntimeError):
                pass
        return interpreter.apply(self, (x,), {})


class TwoOperands(Elementwise):
    """Calls the kernel directly where the operands are concrete: the eager fast path."""

    def __call__(self, x: Any, y: Any) -> Any:
        interpreter = _current()
        if interpreter is BASE:
            tx, ty = type(x), type(y)
            try:
                if tx is ty:
                    kernel, out, array_type = self.direct[tx, x.aval, y.aval]
                    return array_type(quiet.run(kernel, x.buffer, y.buffer), out)
                if ty in _scalars:
                    kernel, out, array_type = self.direct[tx, x.aval, ty]
                    return array_type(quiet.run(kernel, x.buffer, y), out)
                if tx in _scalars:
                    kernel, out, array_type = self.direct[tx, ty, y.aval]
                    return array_type(quiet.run(kernel, x, y.buffer), out)
            except (KeyError, AttributeError, RuntimeError):
                pass
        return interpreter.apply(self, (x, y), {})


class Unary(OneOperand, Differentiable):
    """A function of one operand.  The factor goes straight onto the tape."""

    def linearize(self, tape: Any, primals: Any, tangents: Any, **params: Any) -> Any:
        """The value; the product with the one partial goes on the tape."""
        (x,) = primals
        result = self(x, **params)
        factor = self.partials[0](x, result, **params)
        if is_scalar(factor) and factor == 1:
            return result, tangents[0]
        plain = is_scalar(factor) or not _config().zeros_absorb
        product = handed.mul if plain else handed.absorb_mul
        return result, tape.product(product, tangents[0], factor)


def unary(
    name: str, kinds: frozenset[str], derivative: Callable[[Any, Any], Any], doc: str
) -> Unary:
    """A differentiable function of one operand; `derivative(x, out)` gives the factor."""
    return made(Unary, name, kinds, doc, partials=(derivative,))  # type: ignore[no-any-return]


def transcendental(
    name: str, kinds: frozenset[str], derivative: Callable[[Any, Any], Any], doc: str
) -> Unary:
    """`unary` for functions whose elements take several times as long as a sum."""
    return made(Unary, name, kinds, doc, partials=(derivative,), costly=True)  # type: ignore[no-any-return]


def binary(
    name: str,
    kinds: frozenset[str],
    by_x: Callable[[Any, Any, Any], Any],
    by_y: Callable[[Any, Any, Any], Any],
    doc: str,
) -> Differentiable:
    """A differentiable function of two operands; `by_x(x, y, out)` is its partial."""
    return made(_Binary, name, kinds, doc, partials=(by_x, by_y))  # type: ignore[no-any-return]


class _Binary(TwoOperands, Differentiable):
    """A differentiable function of two operands."""


def made(family: type, name: str, kinds: frozenset[str], doc: str, **members: Any) -> Any:
    """A primitive of a class of its own, defined where the caller of the caller is."""
    place = sys._getframe(2).f_globals["__name__"]
    members.update(name=name, kinds=kinds, __doc__=doc, __module__=place)
    return type(name.title().replace("_", ""), (family,), members)()


class Step(NonDifferentiable, Elementwise):
    """Elementwise and piecewise constant."""


def step(
    name: str,
    kinds: frozenset[str],
    doc: str,
    result: Callable[[Any], Any] | None = None,
) -> Step:
    """An elementwise function without derivative; `result` maps the operands' dtype."""
    more = {} if result is None else {"result": staticmethod(result)}
    return made(Step, name, kinds, doc, **more)  # type: ignore[no-any-return]
