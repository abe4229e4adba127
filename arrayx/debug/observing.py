"""Interpreters that look at every operation of a program, inside what holds graphs too."""

from __future__ import annotations

from typing import Any

from arrayx.backend.concrete import ConcreteArray
from arrayx.control.call import call
from arrayx.control.cond import cond
from arrayx.control.layout import runs
from arrayx.control.while_loop import while_loop
from arrayx.core.interpreter import Interpreter, installed
from arrayx.core.primitive import Primitive
from arrayx.transforms.evaluate import evaluate


class Observer(Interpreter):
    """Hands operations to `see`, having opened those that hold graphs.

    It makes no tracers: what it is given and gives are values of its parent.
    """

    __slots__ = ()

    def apply(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if not primitive.holds_graphs:
            return self.see(primitive, args, params)
        if primitive is call:
            return tuple(evaluate(params["graph"], args))
        return self.open(primitive, args, params)

    def see(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result of an operation without graphs inside."""
        return self.under(primitive, args, params)

    def under(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result that the parent gives."""
        assert self.parent is not None
        with installed(self.parent):
            return self.parent.apply(primitive, args, params)

    def open(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The result of a primitive that holds graphs, whose operations are seen."""
        if primitive is not while_loop and primitive.expand is not None:
            return primitive.expand(*args, **params)
        return self.under(primitive, args, params)


class Stepper(Observer):
    """Runs programs on concrete values, branch by branch and step by step."""

    __slots__ = ()

    def open(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if all(not hasattr(a, "aval") or isinstance(a, ConcreteArray) for a in args):
            if primitive is while_loop:
                return steps(*args, **params)
            if primitive is cond:
                return cond.evaluate(*args, **params)
        return super().open(primitive, args, params)


def steps(*args: Any, cond: Any, body: Any, n_cond: int, n_body: int) -> tuple[Any, ...]:
    """A loop of concrete values, step by step."""
    tests, constants, carry = runs(args, n_cond, n_body)
    while bool(evaluate(cond, [*tests, *carry])[0]):
        carry = evaluate(body, [*constants, *carry])
    return tuple(carry)
