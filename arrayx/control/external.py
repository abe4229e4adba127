"""`ffi_call`: a function from outside, known by its name, as one operation of a program.

What runs it is looked up by name and backend when a program is compiled, so that a graph that
holds one is data: it prints, hashes and parses like every other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.control.callback import HostCall, callback
from arrayx.core.aval import Aval
from arrayx.core.graph import param_class
from arrayx.core.linear import Zero

# The functions by name, then by backend; under None the one that takes NumPy arrays.
targets: dict[str, dict[str | None, Any]] = {}


@param_class
@dataclass(frozen=True)
class Number:
    """A static argument that is a NumPy scalar, or several of one dtype: a vector."""

    dtype: np.dtype[Any]
    values: Any

    def value(self) -> Any:
        """The NumPy value."""
        array = np.array(self.values, self.dtype)
        return array if array.ndim else array[()]


class External(HostCall):
    """What the function registered as `target` gives for the operands: arrays of `avals`.

    `attributes` are its static arguments, pairs of a name and a value; `vmap_method` says
    what a batch of calls is.  The function is taken for pure.
    """

    name = "ffi_call"
    multiple = True
    optional = True

    def type_rule(self, *operands: Any, avals: tuple[Aval, ...], **params: Any) -> Any:
        return avals

    def called(self, params: dict[str, Any]) -> str:
        return f"ax.ffi.call of {params['target']!r}"

    def jvp(self, primals: Any, tangents: Any, **params: Any) -> Any:
        avals = params["avals"]
        if any(dtypes.is_inexact(a.dtype) for a in avals):
            raise errors.GradError(
                f"{self.called(params)} cannot be differentiated: its derivative is not known. "
                "Put the call into a function with ax.custom_jvp (or ax.custom_vjp) and give it "
                "a rule, which may use another call."
            )
        return self(*primals, **params), (Zero,) * len(avals)

    def expand(
        self,
        *operands: Any,
        target: str,
        avals: tuple[Aval, ...],
        attributes: tuple[tuple[str, Any], ...],
        vmap_method: str | None,
    ) -> Any:
        function = targets.get(target, {}).get(None)
        if function is None:
            refuse_target(target)
        return callback(
            *operands,
            function=OnArrays(function, attributes),
            avals=avals,
            name=target,
            kind="pure",
            ordered=False,
            vmap_method=vmap_method,
        )


class OnArrays:
    """A registered function with its static arguments bound, its operands contiguous arrays."""

    def __init__(self, function: Callable[..., Any], attributes: Any) -> None:
        self.function = function
        self.attributes = keywords(attributes)

    def __call__(self, *arrays: Any) -> tuple[Any, ...]:
        result = self.function(*map(_contiguous, arrays), **self.attributes)
        return tuple(result) if isinstance(result, tuple | list) else (result,)


def _contiguous(array: Any) -> Any:
    # np.ascontiguousarray would give one axis to an array of rank 0.
    return np.asarray(array, order="C")


def keywords(attributes: tuple[tuple[str, Any], ...]) -> dict[str, Any]:
    """Static arguments as the function gets them."""
    return {k: v.value() if isinstance(v, Number) else v for k, v in attributes}


def attributes_of(given: Mapping[str, Any], word: str) -> tuple[tuple[str, Any], ...]:
    """Static arguments as params: numbers and vectors of NumPy keep their dtype."""
    found = []
    for name, value in sorted(given.items()):
        if isinstance(value, np.generic | np.ndarray):
            value = Number(value.dtype, _frozen(value.tolist()))
        elif isinstance(value, list | tuple):
            value = tuple(value)
        if not isinstance(value, bool | int | float | complex | str | tuple | Number):
            raise errors.ArgumentError(
                f"{word}: the static argument {name} takes a bool, a number, a string, a NumPy "
                f"scalar or vector, or a tuple of numbers, got {value!r} of type "
                f"{type(value).__name__}; arrays go in front, by position"
            )
        found.append((name, value))
    return tuple(found)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def refuse_target(target: str) -> NoReturn:
    """Raises the error for a name that nothing is registered for where it is to run."""
    known = sorted(str(backend) for backend in targets.get(target, {}))
    have = f"it is registered for: {', '.join(known)}" if known else "nothing is registered for it"
    raise errors.UnsupportedError(
        f"the external function {target!r} cannot run here: {have}. Register one for the backend, "
        f"ax.ffi.register({target!r}, function, backend=...), or, without backend=, a Python "
        "function of NumPy arrays that does for all"
    )


external = External()
