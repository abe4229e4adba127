"""How elementwise functions for users are made from primitives, with a short way for eager calls.

A function keeps a table from the types of its operands to what is to be done with them: for
operands that agree that is the primitive itself, so that the call costs one look-up more than
the primitive.  All else is worked out once (`promotion.Plan`) and put into the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.core.primitive import Primitive
from arrayx.lazy import lazy
from arrayx.numpy.naming import NAMED, at_home, name_error
from arrayx.numpy.promotion import (
    MOST_PLANS,
    SCALARS,
    Pair,
    Plan,
    as_numbers,
    as_type,
    broadcast_to_shape,
    check_ranks,
    key_of,
    plan_for,
    read,
    read_beside,
    same,
    scalar_array,
    settings,
)

Unary = Callable[[Any], Array]
Binary = Callable[[Any, Any], Array]


def described(function: Any, name: str, sentence: str, example: str, module: str) -> Any:
    """Gives a function its name and documentation."""
    function.__name__ = function.__qualname__ = name
    function.__module__ = module
    if example:
        example = f">>> import arrayx.numpy as anp\n{example.strip()}\n"
    function.__doc__ = f"{sentence}\n\n{example}"
    return function


def as_ufunc(function: Any, operands: int) -> Any:
    """Gives an elementwise function what an `__array_ufunc__` asks of NumPy's ufuncs."""
    function.nin, function.nout, function.signature = operands, 1, None
    return function


def taken_over(x: Any) -> bool:
    """Whether an operand says itself what elementwise functions give: labels around an array.

    That is a class with an `__array_ufunc__` whose objects hold an array of any library as
    `data`, as those of xarray do.  Series of pandas hold NumPy's alone, and are made arrays.
    """
    return (
        not isinstance(x, Array | np.ndarray | np.generic)
        and getattr(x, "__array_ufunc__", None) is not None
        and isinstance(getattr(x, "data", None), Array | np.ndarray)
    )


def hand_over(function: Any, operands: tuple[Any, ...]) -> Any:
    """What NumPy's protocol makes of a call whose operands `taken_over` is true of.

    The first operand that answers decides; where none does, they are made arrays.
    """
    for x in operands:
        if taken_over(x):
            answer = x.__array_ufunc__(function, "__call__", *operands)
            if answer is not NotImplemented:
                return answer
    return function(*(np.asarray(x) if taken_over(x) else x for x in operands))


def _whole(apply: Any) -> Any:
    """What is applied: a primitive as it is; what is made of several, where its operands lie."""
    return apply if isinstance(apply, Primitive) else at_home(apply)


def unary(
    name: str,
    apply: Callable[[Any], Any],
    sentence: str,
    example: str,
    *,
    result_of: Callable[[Any, bool], Pair] = same,
    by_kind: Mapping[str, Callable[[Any], Any]] | None = None,
    module: str = "arrayx.numpy",
) -> Unary:
    """A function of one array.

    `result_of` gives the dtype that the operand is converted to; `by_kind` names what is applied
    instead of `apply` to dtypes of some kinds.
    """
    table: dict[Any, Callable[[Any], Any]] = {}
    kinds = {kind: _whole(action) for kind, action in (by_kind or {}).items()}
    apply = _whole(apply)

    def function(x: Any, /) -> Any:
        found = table.get(getattr(x, "aval", None))
        if found is not None:
            return found(x)
        return prepared(x)

    def prepared(x: Any) -> Any:
        if taken_over(x):
            return hand_over(function, (x,))
        array = as_numbers(x, name, "x")
        aval = array.aval
        dtype, weak = result_of(aval.dtype, aval.weak_type)
        action = kinds.get(dtypes.kind(dtype), apply)
        try:
            result = action(as_type(array, dtype, weak))
        except NAMED as error:
            name_error(error, name)
            raise
        if dtype is aval.dtype and weak is aval.weak_type:
            if len(table) >= MOST_PLANS:  # the keys hold avals, so they are bounded
                table.clear()
            table[aval] = action
        return result

    return as_ufunc(described(function, name, sentence, example, module), 1)  # type: ignore[no-any-return]


def arrays_of(plan: Plan, args: list[Any]) -> list[Array]:
    """The planned operands with literals as arrays of the common shape."""
    ready = plan.apply(args)
    arrays = [a for a in ready if isinstance(a, Array)]
    shape = plan.shape
    return [
        a
        if isinstance(a, Array)
        else broadcast_to_shape(scalar_array(a, plan.dtype, plan.weak, arrays), shape)
        for a in ready
    ]


def binary(
    name: str,
    apply: Callable[[Any, Any], Any],
    sentence: str,
    example: str,
    *,
    result_of: Callable[[Any, bool], Pair] = same,
    by_kind: Mapping[str, Callable[[Any, Any], Any]] | None = None,
    literals: bool = True,
    module: str = "arrayx.numpy",
) -> Binary:
    """A function of two arrays, promoted to one dtype and broadcast to one shape.

    `literals` says that `apply` takes a Python number for one of its operands.
    """
    table: dict[Any, Callable[[Any, Any], Any]] = {}
    # What depends on the settings has an entry for each state of them.
    unsettled: dict[Any, Callable[[Any, Any], Any]] = {}
    kinds = {kind: _whole(action) for kind, action in (by_kind or {}).items()}
    apply = _whole(apply)
    names = ("x1", "x2")

    def function(x1: Any, x2: Any, /) -> Any:
        key = getattr(x1, "aval", None) or type(x1), getattr(x2, "aval", None) or type(x2)
        found = table.get(key)
        if found is not None:
            return found(x1, x2)
        found = unsettled.get((key, settings()))
        if found is not None:
            return found(x1, x2)
        return prepared(x1, x2)

    def prepared(x1: Any, x2: Any) -> Any:
        if taken_over(x1) or taken_over(x2):
            return hand_over(function, (x1, x2))
        args = read_beside((x1, x2), name, names)
        plan = plan_for(args, name, names, result_of)
        action = kinds.get(dtypes.kind(plan.dtype), apply)
        key = key_of(args[0]), key_of(args[1])

        def of_arrays(x: Any, y: Any) -> Any:
            return action(*arrays_of(plan, [x, y]))

        def planned(x: Any, y: Any) -> Any:
            try:
                ready = plan.apply((x, y))
            except OverflowError as error:
                raise OverflowError(f"{name}: {error}") from None
            return action(*ready)

        silent = check_ranks(plan, name)
        entry = planned if any(plan.steps) else action
        if not literals and (key[0] in SCALARS or key[1] in SCALARS):
            entry = of_arrays
        try:
            result = entry(*args)
        except NAMED as error:
            name_error(error, name)
            raise
        if not silent:
            return result
        where = table if plan.settled else unsettled
        if len(where) >= MOST_PLANS:
            where.clear()
        where[key if plan.settled else (key, settings())] = entry
        return result

    return as_ufunc(described(function, name, sentence, example, module), 2)  # type: ignore[no-any-return]


def refuse_complex(name: str) -> Callable[..., Any]:
    """What a function of real numbers does with others."""

    def refuse(*args: Any) -> Any:
        raise errors.DtypeError(f"{name} takes real numbers, got complex ones")

    return refuse


def array_of(x: Any, function: str, result_of: Callable[[Any, bool], Pair] = same) -> Array:
    """The one operand of a function as an array of the dtype that `result_of` asks for."""
    x = as_numbers(read(x, function, "x"), function)
    dtype, weak = result_of(x.aval.dtype, x.aval.weak_type)
    return as_type(x, dtype, weak)


# ----------------------------------------------------------------- methods of elementwise functions

ufuncs = lazy("arrayx.numpy.ufuncs")
# The functions with methods, and whether they may be combined in any order.
WITH_METHODS: dict[Any, bool] = {}


class _Method:
    """`reduce`, `accumulate`, … of an elementwise function, made when first needed."""

    def __init__(self, function: Any, name: str) -> None:
        self.function, self.__name__ = function, name

    @property
    def __wrapped__(self) -> Any:
        return getattr(ufuncs.ufunc_of(self.function), self.__name__)

    @property
    def __doc__(self) -> str | None:  # type: ignore[override]
        return self.__wrapped__.__doc__  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


def with_methods(
    *functions: Any, identity: Any = None, associative: bool = False, operands: int = 2
) -> None:
    """Gives elementwise functions the methods that NumPy's have, `add.reduce` and its kin."""
    for function in functions:
        WITH_METHODS[function] = associative
        function.nin, function.nout, function.nargs = operands, 1, operands + 1
        function.identity = identity
        for name in ("reduce", "accumulate", "reduceat", "outer", "at"):
            setattr(function, name, _Method(function, name))
