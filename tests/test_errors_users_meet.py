"""Mistakes that users make: each error's class, and that it says what, where and what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors

PAGE = Path(__file__).parent.parent / "docs" / "errors.md"
X = np.arange(3, dtype=np.float32)
KEPT: list[Any] = []
NEEDS_XLA = pytest.mark.skipif(not ax.backends.installed("xla"), reason="needs jaxlib")

# name: (what is done, the class, parts of the message)
Mistake = tuple[Callable[[], Any], type[BaseException], list[str]]


def this_file(function: str) -> str:
    """A part of a message: a line of the function is named."""
    return f"({function})"


# ----------------------------------------------------------------- functions to go wrong with


def sign_of(params: Any) -> Any:
    slope = params["w"] * 2
    if slope > 0:
        return slope
    return -slope


def branch(left: Any, right: Any) -> Any:
    if left + 1 > right:
        return left
    return right


def with_axes(x: Any, axes: Any) -> Any:
    return anp.sum(x, axes)


def keep(x: Any) -> Any:
    KEPT.append(x)
    return x


def kept(transform: Any) -> Any:
    transform(keep)(anp.asarray(X[0] if transform is ax.grad else X))
    return KEPT.pop() + 1


def used_after_donation() -> Any:
    given = anp.ones(3)
    ax.jit(with_axes, donate_argnums=0, static_argnums=1)(given, None)
    return given + 1


def assigned(index: Any) -> None:
    anp.asarray(X)[index] = 1.0


def assigned_inside() -> Any:
    def fill(x: Any) -> Any:
        x[0] = 1.0
        return x

    return ax.jit(fill)(X)


def deleted() -> None:
    x = anp.asarray(X)
    del x[0]


# ----------------------------------------------------------------- what is no function

AT_ONCE: dict[str, Callable[[Any], Any]] = {
    "ax.jvp": lambda f: ax.jvp(f, (X,), (X,)),
    "ax.vjp": lambda f: ax.vjp(f, X),
    "ax.linearize": lambda f: ax.linearize(f, X),
    "ax.eval_shape": lambda f: ax.eval_shape(f, X),
    "ax.check_grads": lambda f: ax.check_grads(f, (X,), 1),
    "ax.backends.explain": lambda f: ax.backends.explain(f, X),
}
WRAPPING: dict[str, Callable[[Any], Any]] = {
    "ax.grad": ax.grad,
    "ax.value_and_grad": ax.value_and_grad,
    "ax.jacfwd": ax.jacfwd,
    "ax.jacrev": ax.jacrev,
    "ax.hessian": ax.hessian,
    "ax.vmap": ax.vmap,
    "ax.jit": ax.jit,
    "ax.make_graph": ax.make_graph,
    "ax.custom_jvp": ax.custom_jvp,
    "ax.custom_vjp": ax.custom_vjp,
}


@pytest.mark.parametrize("name", [*WRAPPING, *AT_ONCE])
def test_the_result_of_a_call_in_place_of_a_function(name: str) -> None:
    with pytest.raises(errors.NotCallableError) as caught:
        (WRAPPING.get(name) or AT_ONCE[name])(anp.square(X))
    message = str(caught.value)
    assert message.startswith(f"{name} takes a function, but got an array of shape (3,)")
    right = f"{name}(f)(x)" if name in WRAPPING else f"{name}(f, "
    assert f"pass the function itself: {right}" in message


# ----------------------------------------------------------------- everything else

OPERANDS: dict[str, Mistake] = {
    "add of unequal shapes": (
        lambda: anp.add(np.ones((2, 3)), np.ones(4)),
        errors.ShapeError,
        ["add", "x1 of shape (2, 3)", "x2 of shape (4,)", "lined up from the last"],
    ),
    "the operator + of unequal shapes": (
        lambda: anp.ones((2, 3)) + anp.ones(4),
        errors.ShapeError,
        ["add", "(2, 3)", "(4,)"],
    ),
    "add of an array of strings": (
        lambda: anp.add(X, np.array(["a"])),
        errors.DtypeError,
        ["add", "x2", "dtype <U1", ".astype"],
    ),
    "add of random keys": (
        lambda: anp.add(ax.random.key(0), 1),
        errors.TypePromotionError,
        ["add", "int32", "key<", "random keys are not numbers"],
    ),
    "lax.add of two dtypes": (
        lambda: ax.lax.add(anp.asarray(X), anp.arange(3)),
        errors.DtypeError,
        ["lax.add", "float32[3]", "int32[3]", "anp functions promote"],
    ),
    "dot of unequal lengths": (
        lambda: anp.dot(np.ones((2, 3)), np.ones(4)),
        errors.ShapeError,
        ["dot", "axis 1 of a (shape (2, 3))", "axis 0 of b (shape (4,))", "3 and 4", "b.T"],
    ),
    "matmul of unequal lengths": (
        lambda: anp.ones((2, 3)) @ anp.ones((2, 3)),
        errors.ShapeError,
        ["matmul", "(2, 3)", "3 and 2", "b.mT"],
    ),
    "dot of a string": (
        lambda: anp.dot(X, "abc"),
        errors.ArgumentError,
        ["dot", "the argument b is 'abc' of type str"],
    ),
    "concatenate of unequal lengths": (
        lambda: anp.concatenate([np.ones((2, 3)), np.ones((2, 4))]),
        errors.ShapeError,
        ["concatenate", "arrays[1] of shape (2, 4)", "arrays[0] of shape (2, 3)", "axis 0 only"],
    ),
    "concatenate of unequal ranks": (
        lambda: anp.concatenate([np.ones((2, 3)), np.ones(3)]),
        errors.ShapeError,
        ["arrays[1] of shape (3,)", "same number of axes", "anp.stack"],
    ),
    "concatenate of a string": (
        lambda: anp.concatenate([X, "abc"]),
        errors.ArgumentError,
        ["concatenate", "arrays[1] is 'abc' of type str"],
    ),
    "concatenate of nothing": (
        lambda: anp.concatenate([]),
        errors.ArgumentError,
        ["concatenate needs at least one array"],
    ),
    "reshape to another size": (
        lambda: anp.reshape(X, (2, 2)),
        errors.ShapeError,
        ["reshape", "3 elements", "(2, 2), which has 4", "-1"],
    ),
    "reshape that does not divide": (
        lambda: anp.reshape(X, (-1, 2)),
        errors.ShapeError,
        ["3 elements", "(-1, 2)", "a multiple"],
    ),
    "reshape with two lengths open": (
        lambda: anp.reshape(X, (-1, -1)),
        errors.ShapeError,
        ["(-1, -1)", "only one length"],
    ),
    "reshape by a float": (
        lambda: anp.reshape(X, (1.5, 2)),
        errors.ArgumentError,
        ["reshape", "integers", "(1.5, 2)"],
    ),
    "a string as an argument": (
        lambda: anp.sin("abc"),
        errors.ArgumentError,
        ["sin", "the argument x is 'abc' of type str", "neither an array nor a number"],
    ),
    "a list as an argument": (
        lambda: ax.lax.sin([1.0, 2.0]),
        errors.ArgumentError,
        ["lax.sin", "the argument x is a list", "anp.asarray(x)"],
    ),
    "a list of no numbers": (
        lambda: anp.sin([1.0, "a"]),
        errors.ArgumentError,
        ["sin", "no array can be made of the argument x, a list", "'a' of type str"],
    ),
    "a list of lists of different lengths": (
        lambda: anp.add(X, [[1.0], [2.0, 3.0]]),
        errors.ShapeError,
        ["add", "no array can be made of the argument x2, a list", "different lengths"],
    ),
    "no dtype": (lambda: anp.zeros(3, "float31"), errors.DtypeError, ["'float31'", "float32"]),
    "no axis": (lambda: anp.sum(X, 2), errors.AxisError, ["sum", "axis 2", "1 dimensions"]),
    "an index out of bounds": (
        lambda: anp.asarray(X)[5],
        errors.IndexOutOfBoundsError,
        ["index 5", "axis 0 of length 3", "mode="],
    ),
    "the truth of an array": (
        lambda: bool(anp.asarray(X)),
        errors.ArgumentError,
        ["bool()", "shape (3,)", "x.any()"],
    ),
}

GRAD: dict[str, Mistake] = {
    "grad of an array": (
        lambda: ax.grad(anp.sin)(X),
        errors.GradError,
        ["ax.grad", "sin returned float32[3]", "anp.sum", "ax.jacrev"],
    ),
    "grad of nothing": (
        lambda: ax.grad(lambda x: None)(1.0),
        errors.GradError,
        ["<lambda> returned nothing (None)", "return the scalar"],
    ),
    "grad of a pair": (
        lambda: ax.grad(lambda x: (x, x))(1.0),
        errors.GradError,
        ["<lambda> returned a tuple", "has_aux=True"],
    ),
    "grad of an integer result": (
        lambda: ax.grad(lambda x: anp.argmax(x))(X),
        errors.GradError,
        ["int32[]", "Compute it with floats"],
    ),
    "grad at an integer": (
        lambda: ax.grad(anp.square)(3),
        errors.GradError,
        ["ax.grad", "argument x is int32[]", "1.0 instead of 1", "allow_int=True"],
    ),
    "grad at integers in a tree": (
        lambda: ax.grad(lambda p: p["w"].sum())({"w": np.arange(3)}),
        errors.GradError,
        ["argument p['w'] is int64[3]", "x.astype(float)"],
    ),
    "grad of a complex result": (
        lambda: ax.grad(lambda z: z * z)(1j),
        errors.GradError,
        ["<lambda> returned complex64[]", "holomorphic=True"],
    ),
    "grad at a string": (
        lambda: ax.grad(lambda x: x)("abc"),
        errors.ArgumentError,
        ["ax.grad", "argument x is 'abc' of type str", "argnums"],
    ),
    "argnums beyond the arguments": (
        lambda: ax.grad(lambda x: x, argnums=2)(1.0),
        errors.ArgumentError,
        ["argnums=2", "1 positional argument"],
    ),
    "a tangent of another shape": (
        lambda: ax.jvp(anp.sin, (X,), (np.ones(4, np.float32),)),
        errors.ArgumentError,
        ["ax.jvp", "the tangent of x", "float32[3]", "float32[4] was given"],
    ),
    "a tangent of another dtype": (
        lambda: ax.jvp(anp.sin, (X,), (np.ones(3),)),
        errors.ArgumentError,
        ["the tangent of x", "float32[3]", "float64[3] was given"],
    ),
    "a tangent that is missing": (
        lambda: ax.jvp(anp.sin, (X,), ()),
        errors.ArgumentError,
        ["1 primals", "0 tangents", "one for each"],
    ),
    "tangents in no tuple": (
        lambda: ax.jvp(anp.sin, X, X),
        errors.ArgumentError,
        ["primals has to be a tuple or list", "ax.jvp(f, (x,), (dx,))"],
    ),
    "tangents in another tree": (
        lambda: ax.jvp(lambda p: p["w"], ({"w": X},), ({"v": X},)),
        errors.TreeError,
        ["ax.jvp", "missing ['w']", "unexpected ['v']"],
    ),
    "a tangent of an integer": (
        lambda: ax.jvp(lambda n: n, (3,), (1.0,)),
        errors.ArgumentError,
        ["the tangent of n", "int32[]", "np.zeros((), ax.float0)", "1.0 of type float"],
    ),
    "one cotangent for two results": (
        lambda: ax.vjp(lambda x: (x, x), X)[1](X),
        errors.TreeError,
        ["ax.vjp", "cotangents need the structure", "a tuple of length 2"],
    ),
    "cotangents in another tree": (
        lambda: ax.vjp(lambda x: {"a": x}, X)[1]({"b": X}),
        errors.TreeError,
        ["ax.vjp", "missing ['a']", "unexpected ['b']"],
    ),
    "a cotangent of another shape": (
        lambda: ax.vjp(anp.sin, X)[1](1.0),
        errors.ArgumentError,
        ["the cotangent of the result", "float32[3]", "1.0 of type float"],
    ),
}

AXES: dict[str, Mistake] = {
    "too many entries": (
        lambda: ax.vmap(lambda x: x, in_axes=(0, 0))(X),
        errors.ArgumentError,
        ["in_axes=(0, 0) has 2 entries", "1 positional argument"],
    ),
    "no tuple around a tree": (
        lambda: ax.vmap(lambda p: p, in_axes={"w": 0})({"w": X}),
        errors.ArgumentError,
        ["{'w': 0} of type dict", "in_axes=({'w': 0},)"],
    ),
    "another tree": (
        lambda: ax.vmap(lambda p: p, in_axes=({"w": 0},))({"v": X}),
        errors.TreeError,
        ["in_axes[0]={'w': 0}", "args[0]", "missing ['w']"],
    ),
    "no such axis": (
        lambda: ax.vmap(lambda x: x, in_axes=3)(X),
        errors.AxisError,
        ["args[0] has shape (3,)", "no axis 3", "-1 to 0"],
    ),
    "no integer": (
        lambda: ax.vmap(lambda x: x, in_axes=(1.5,))(X),
        errors.ArgumentError,
        ["in_axes[0]", "an int or None", "1.5 of type float"],
    ),
    "different lengths": (
        lambda: ax.vmap(anp.add)(X, np.ones(4)),
        errors.ShapeError,
        ["size 3: args[0] of shape (3,)", "size 4: args[1] of shape (4,)", "in_axes=None"],
    ),
    "nothing mapped": (
        lambda: ax.vmap(lambda x: x, in_axes=None)(X),
        errors.ArgumentError,
        ["no argument is mapped", "axis_size"],
    ),
    "a number": (
        lambda: ax.vmap(anp.sin)(1.0),
        errors.AxisError,
        ["args[0] has rank 0", "in_axes=None"],
    ),
    "a string": (
        lambda: ax.vmap(lambda x: x)("abc"),
        errors.ArgumentError,
        ["args[0] is 'abc' of type str", "in_axes=None"],
    ),
    "out_axes of another tree": (
        lambda: ax.vmap(lambda x: x, out_axes=(0, 0))(X),
        errors.TreeError,
        ["out_axes=(0, 0)", "<lambda>", "a tuple of length 2"],
    ),
    "out_axes None for what differs": (
        lambda: ax.vmap(lambda x: x, out_axes=None)(X),
        errors.ArgumentError,
        ["out_axes is None", "differs between the calls"],
    ),
    "a result that is a string": (
        lambda: ax.vmap(lambda x: "abc")(X),
        errors.ArgumentError,
        ["ax.vmap", "<lambda> returned 'abc' of type str"],
    ),
}

TRACED: dict[str, Mistake] = {
    "if under jit": (
        lambda: ax.jit(branch)(1.0, 2.0),
        errors.ConcretizationError,
        [
            "bool()",
            "under ax.jit of branch",
            f"asked at: {__file__}:",
            this_file("branch"),
            "from the arguments left, right",
            "ax.lax.cond",
            "anp.where",
            "static_argnums",
        ],
    ),
    "if under jit on a leaf of a tree": (
        lambda: ax.jit(sign_of)({"w": 1.0}),
        errors.ConcretizationError,
        ["under ax.jit of sign_of", this_file("sign_of"), "from the argument params['w']"],
    ),
    "if under vmap": (
        lambda: ax.vmap(sign_of)({"w": X}),
        errors.ConcretizationError,
        [
            "bool()",
            "under ax.vmap of sign_of",
            f"asked at: {__file__}:",
            this_file("sign_of"),
            "from the argument params['w']",
            "ax.lax.cond",
            "anp.where",
            "in_axes=None",
        ],
    ),
    "if under vmap of grad": (
        lambda: ax.vmap(ax.grad(branch), in_axes=(0, None))(X, 1.0),
        errors.ConcretizationError,
        ["under ax.vmap of branch", this_file("branch"), "from the argument left"],
    ),
    "range of an argument": (
        lambda: ax.jit(lambda n: list(range(n)))(3),
        errors.ConcretizationError,
        ["range", "it is the argument n", "ax.lax.fori_loop", "static_argnums"],
    ),
    "float() of an argument": (
        lambda: ax.jit(lambda t: float(t))(1.0),
        errors.ConcretizationError,
        ["float()", "it is the argument t", "arrayx.numpy"],
    ),
    "a mask as an index": (
        lambda: ax.jit(lambda x: x[x > 0])(X),
        errors.DynamicIndexError,
        ["bool[3]", "anp.where", "anp.nonzero"],
    ),
    "a traced end of a slice": (
        lambda: ax.jit(lambda x, n: x[:n])(X, 2),
        errors.DynamicIndexError,
        ["stop of a slice", "dynamic_slice"],
    ),
    "a ufunc of NumPy, refused by jit": (
        lambda: ax.jit(np.sin),
        errors.NotCallableError,
        ["ax.jit", "NumPy's 'sin'", "anp.sin"],
    ),
    "a ufunc of NumPy under vmap": (
        lambda: ax.vmap(np.sin)(X),
        errors.NumpyConversionError,
        ["np.sin", "float32[]", "ax.vmap of", "anp.sin"],
    ),
    "a ufunc of NumPy under grad": (
        lambda: ax.grad(lambda x: np.sin(x))(1.0),
        errors.NumpyConversionError,
        ["np.sin", f"asked at: {__file__}:", "anp.sin"],
    ),
    "a function of NumPy under jit": (
        lambda: ax.jit(lambda x: np.sort(x))(X),
        errors.NumpyConversionError,
        [f"asked at: {__file__}:", "it is the argument x", "arrayx.numpy"],
    ),
    "kept from jit": (
        lambda: kept(ax.jit),
        errors.LeakedTracerError,
        ["float32[3]", "ax.jit of keep", f"used at: {__file__}:", "the argument x", "return"],
    ),
    "kept from vmap": (
        lambda: kept(ax.vmap),
        errors.LeakedTracerError,
        ["float32[]", "ax.vmap of keep", f"used at: {__file__}:", "the argument x", "return"],
    ),
    "kept from grad": (
        lambda: kept(ax.grad),
        errors.LeakedTracerError,
        ["float32[]", "ax.grad of keep", f"used at: {__file__}:", "return"],
    ),
}

COMPILED: dict[str, Mistake] = {
    "a list as a static argument": (
        lambda: ax.jit(with_axes, static_argnums=1)(X, [0]),
        errors.StaticArgumentError,
        ["static argument 1 of with_axes is [0] of type list", "a tuple instead of a list"],
    ),
    "a dict as a static argument by name": (
        lambda: ax.jit(with_axes, static_argnames="axes")(X, axes={}),
        errors.StaticArgumentError,
        ["static argument 'axes' of with_axes is {} of type dict", "frozen dataclass"],
    ),
    "an array as a static argument": (
        lambda: ax.jit(with_axes, static_argnums=1)(X, anp.asarray(X)),
        errors.StaticArgumentError,
        ["static argument 1 of with_axes", "ordinary argument"],
    ),
    "a static argument of another name": (
        lambda: ax.jit(with_axes, static_argnames="axis"),
        errors.StaticArgumentError,
        ["'axis'", "no argument of with_axes(x: 'Any', axes: 'Any')"],
    ),
    "a static argument beyond the last": (
        lambda: ax.jit(with_axes, static_argnums=2),
        errors.StaticArgumentError,
        ["static_argnums has 2", "with_axes", "2 positional arguments"],
    ),
    "a string for jit": (
        lambda: ax.jit(lambda x, mode: x)(X, "fast"),
        errors.ArgumentError,
        ["argument mode of <lambda> is 'fast' of type str", "static_argnames"],
    ),
    "an object for jit": (
        lambda: ax.jit(lambda x: x)(object()),
        errors.ArgumentError,
        ["argument x of <lambda>", "of type object", "register_dataclass"],
    ),
    "a string from jit": (
        lambda: ax.jit(lambda x: {"a": "abc"})(X),
        errors.ArgumentError,
        ["<lambda> returned 'abc' of type str", "result['a']"],
    ),
    "a donated array": (
        used_after_donation,
        errors.DonatedArrayError,
        ["float32[3]", "donated to a compiled function with_axes", "pass a copy"],
    ),
    "backend and device": (
        lambda: ax.jit(anp.sin, backend="numpy", device="numpy"),
        errors.ArgumentError,
        ["backend= or device=, not both"],
    ),
}

ASSIGNMENT: dict[str, Mistake] = {
    "one element": (
        lambda: assigned(0),
        errors.ImmutableArrayError,
        ["x[0] = v", "x = x.at[0].set(v)", "x.at[0].add(v)"],
    ),
    "a slice": (
        lambda: assigned((slice(1, None), ...)),
        errors.ImmutableArrayError,
        ["x = x.at[1:, ...].set(v)"],
    ),
    "under jit": (assigned_inside, errors.ImmutableArrayError, ["x = x.at[0].set(v)"]),
    "deletion": (deleted, errors.ImmutableArrayError, ["cannot be deleted"]),
}

OVERFLOW: dict[str, Mistake] = {
    "a scalar type": (
        lambda: anp.int8(300),
        OverflowError,
        ["300", "int8, which holds -128 to 127", "int64 holds it"],
    ),
    "a negative number for an unsigned dtype": (
        lambda: anp.array(-1, "uint8"),
        OverflowError,
        ["-1", "uint8, which holds 0 to 255"],
    ),
    "an array": (lambda: anp.array([300], "int8"), OverflowError, ["300", "int8"]),
    "a literal": (
        lambda: anp.arange(3, dtype="int8") + 300,
        OverflowError,
        ["add", "300", "int8"],
    ),
    "a literal under jit": (
        lambda: ax.jit(lambda x: x + 300)(np.arange(3, dtype=np.int8)),
        OverflowError,
        ["add", "300", "int8"],
    ),
    "an argument of jit": (
        lambda: ax.jit(lambda x: x)(2**40),
        OverflowError,
        ["argument x of <lambda>", str(2**40), "int32", "default_dtype_bits = 64"],
    ),
    "a leaf of an argument of jit": (
        lambda: ax.jit(lambda p: p)({"n": [1, 2**40]}),
        OverflowError,
        ["argument p['n'][1] of <lambda>", str(2**40)],
    ),
}

BACKENDS: dict[str, Mistake] = {
    "an unknown name": (
        lambda: ax.device_put(X, "abacus"),
        errors.UnknownBackendError,
        ["no backend 'abacus'", "numpy", "xla", "arrayx.backends", "ax.backends.doctor()"],
    ),
    "a misspelt name": (
        lambda: ax.jit(anp.sin, backend="nunpy"),
        errors.UnknownBackendError,
        ["no backend 'nunpy'", "Did you mean 'numpy'?"],
    ),
    "an unknown name as the default": (
        lambda: ax.default_backend("abacus"),
        errors.UnknownBackendError,
        ["no backend 'abacus'"],
    ),
    "no such device": (
        lambda: ax.device_put(X, "numpy:cpu:7"),
        errors.BackendUnavailableError,
        ["'numpy:cpu:7'", "there are: numpy:cpu:0"],
    ),
}

EVERY = {
    f"{topic}: {name}": mistake
    for topic, mistakes in (
        ("operands", OPERANDS),
        ("grad", GRAD),
        ("in_axes", AXES),
        ("traced", TRACED),
        ("jit", COMPILED),
        ("assignment", ASSIGNMENT),
        ("overflow", OVERFLOW),
        ("backends", BACKENDS),
    )
    for name, mistake in mistakes.items()
}


@pytest.mark.parametrize("mistake", EVERY)
def test_a_mistake_is_told_with_what_where_and_what_to_do(mistake: str) -> None:
    call, kind, parts = EVERY[mistake]
    with pytest.raises(kind) as caught:
        call()
    assert type(caught.value) is kind
    for part in parts:
        assert part in str(caught.value), f"{part!r} is not in: {caught.value}"


def mixed_by_operator(other: Any) -> Any:
    return anp.asarray(X) + other


def mixed_by_jit(other: Any) -> Any:
    return ax.jit(anp.add)(anp.asarray(X), other)


def mixed_by_closure(other: Any) -> Any:
    x = anp.asarray(X)
    return ax.jit(lambda y: x + y)(other)


@NEEDS_XLA
@pytest.mark.parametrize("mix", [mixed_by_operator, mixed_by_jit, mixed_by_closure])
def test_arrays_of_two_backends_do_not_meet(mix: Any) -> None:
    with pytest.raises(errors.MixedBackendsError) as caught:
        mix(ax.device_put(X, "xla"))
    for part in ("float32[3] on numpy:cpu:0", "float32[3] on xla:cpu:0", "ax.device_put"):
        assert part in str(caught.value)


# The import of jaxlib is blocked as it is where it is not installed.
WITHOUT_JAXLIB = """
import sys
sys.modules["jaxlib"] = None
import arrayx as ax
for attempt in range(2):
    try:
        ax.device_put(1.0, "xla")
    except ax.errors.BackendUnavailableError as error:
        print(error)
print(float(ax.device_put(1.0, "numpy")))
"""


def test_without_jaxlib_the_message_says_what_to_install_and_numpy_works() -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_JAXLIB],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    message = "backend 'xla' needs jaxlib, which is not installed: pip install 'arrayx[xla]'."
    assert done.stdout.splitlines() == [message, message, "1.0"]


# ----------------------------------------------------------------- the page


@pytest.mark.parametrize("name", errors.__all__)
def test_the_page_has_a_section_and_a_line_for_each_class(name: str) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"\n## {name}\n" in text
    assert f"\n| [{name}](#{name.lower()}) |" in text


def branching(x: Any) -> Any:
    return x if x > 0 else -x


NESTS = {
    "ax.vmap of ax.jit of branching": lambda x: ax.vmap(ax.jit(branching))(x),
    "ax.grad of ax.vmap of branching": ax.grad(lambda x: anp.sum(ax.vmap(branching)(x))),
    "ax.jit of ax.value_and_grad of ax.jit of branching": lambda x: ax.jit(
        ax.value_and_grad(ax.jit(branching))
    )(x[0]),
    "ax.jvp of ax.lax.scan of branching": lambda x: ax.jvp(
        lambda x: ax.lax.scan(lambda c, e: (branching(e), e), x[0], x), (x,), (x,)
    ),
}


@pytest.mark.parametrize("nest", NESTS)
def test_a_message_names_the_transformations_from_the_outermost_in(nest: str) -> None:
    nest_of_names = nest.replace("branching", ".*") if "scan" in nest else nest
    with pytest.raises(errors.ConcretizationError, match=rf"\n  under: {nest_of_names}\n"):
        NESTS[nest](np.ones(3, np.float32))
