"""Primitives and functions from outside, on backends from outside, under everything."""

from __future__ import annotations

import ctypes
import itertools
import math
import pickle
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import extend, ffi
from arrayx.backend import KernelBackend
from arrayx_numpy.kernels import KERNELS

BACKENDS = [*ax.backends.available(), "third"]
POINTS = np.array([-2.0, -0.5, 0.25, 3.0])


class Boxed:
    """A buffer that arrayx cannot look into."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)


def boxed(kernel: Any) -> Any:
    def run(*operands: Any, **params: Any) -> Any:
        result = kernel(*[x.array if type(x) is Boxed else x for x in operands], **params)
        return tuple(map(Boxed, result)) if isinstance(result, tuple) else Boxed(result)

    return run


class Third(KernelBackend):
    """NumPy's kernels on buffers that are no arrays."""

    name = "third"
    quiet = True
    kernels = {name: boxed(kernel) for name, kernel in KERNELS.items()}

    def put(self, array: Any, device: Any) -> Any:
        return Boxed(np.array(array))

    def get(self, buffer: Any) -> Any:
        return buffer.array


@pytest.fixture(autouse=True)
def third() -> Iterator[None]:
    ax.backends.add(Third())
    yield
    ax.backends.remove("third")


class Gudermann(extend.Primitive):
    """The Gudermannian atan(sinh x), with rules, a kernel for one backend, and an expansion."""

    name = "tests.gudermann"

    def type_rule(self, x: Any) -> Any:
        return extend.same_type(self.name, (x,), extend.FLOAT)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return self(x), extend.scaled(dx, 1 / anp.cosh(x))

    def vmap(self, size: int, args: Any, dims: Any) -> Any:
        return self(args[0]), dims[0]

    def expand(self, x: Any) -> Any:
        return anp.arctan(anp.sinh(x))


gudermann = Gudermann()
ran: list[str] = []


@gudermann.implementation("third")
def gudermann_kernel(x: Any) -> Any:
    ran.append("third")
    return Boxed(np.arctan(np.sinh(x.array)))


def transformed(f: Any, value: Any, slope: Any, backend: str, rtol: float = 1e-12) -> None:
    """Checks a function of one array, elementwise, under every transformation and nesting."""

    def total(v: Any) -> Any:
        return anp.sum(f(v))

    with ax.default_backend(backend):
        x = anp.asarray(POINTS)
        close = {"rtol": rtol, "atol": rtol}
        for g in (f, ax.jit(f), ax.vmap(f), ax.jit(ax.vmap(f)), ax.vmap(ax.jit(f))):
            y = g(x)
            np.testing.assert_allclose(y, value(POINTS), **close)
            assert y.device.backend.name == backend and y.dtype == np.float64
        for g in (ax.grad(total), ax.jit(ax.grad(total)), ax.grad(ax.jit(total))):
            np.testing.assert_allclose(g(x), slope(POINTS), **close)
        for g in (ax.vmap(ax.grad(f)), ax.jit(ax.vmap(ax.grad(f))), ax.vmap(ax.grad(ax.jit(f)))):
            np.testing.assert_allclose(g(x), slope(POINTS), **close)
        matrix = np.diag(slope(POINTS))
        for jacobian in (ax.jacfwd(f), ax.jacrev(f), ax.jit(ax.jacrev(f))):
            np.testing.assert_allclose(jacobian(x), matrix, **close)
        _, tangent = ax.jvp(f, (x,), (anp.ones_like(x),))
        np.testing.assert_allclose(tangent, slope(POINTS), **close)
        _, summed = ax.lax.scan(lambda c, v: (c + f(v), f(v)), x[0] * 0, x)
        np.testing.assert_allclose(summed, value(POINTS), **close)
        taken = ax.jit(lambda v: ax.lax.cond(v[0] < 0, f, lambda w: w, v))(x)
        np.testing.assert_allclose(taken, value(POINTS), **close)
        remade = ax.grad(ax.checkpoint(total))(x)
        np.testing.assert_allclose(remade, slope(POINTS), **close)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_primitive_from_outside_works_under_everything(backend: str) -> None:
    ran.clear()
    transformed(gudermann, lambda x: np.arctan(np.sinh(x)), lambda x: 1 / np.cosh(x), backend)
    assert bool(ran) == (backend == "third"), "the kernel runs where it is one's own"


def test_second_derivatives_of_a_primitive_from_outside() -> None:
    for backend in BACKENDS:
        with ax.default_backend(backend):
            x = anp.asarray(POINTS)
            twice = ax.vmap(ax.grad(ax.grad(gudermann)))(x)
        np.testing.assert_allclose(twice, -np.tanh(POINTS) / np.cosh(POINTS), rtol=1e-12)


def test_a_primitive_from_outside_is_data() -> None:
    graph = ax.make_graph(gudermann)(anp.ones(2))
    assert ax.parse_graph(str(graph)) == graph
    assert pickle.loads(pickle.dumps(gudermann)) is gudermann


def test_explain_says_whose_kernel_runs() -> None:
    said = ax.backends.explain(gudermann, ax.device_put(POINTS, "third"))
    assert f"tests.gudermann: kernel from {__name__}" in said
    said = ax.backends.explain(gudermann, ax.device_put(POINTS, "numpy"))
    assert "tests.gudermann: expanded, its table has no kernel 'tests.gudermann'" in said


def test_a_name_that_is_taken_is_refused() -> None:
    sin = ax.core.primitive.Primitive.named["sin"]
    with pytest.raises(ax.errors.GraphError, match=r"cannot be called 'sin'.*name of your package"):
        extend.unary("sin", extend.FLOAT, lambda x, out: x, "Another sine.")
    with pytest.raises(ax.errors.GraphError, match=r"'tests.gudermann'"):
        type("Other", (extend.Primitive,), {"name": "tests.gudermann"})()
    assert ax.core.primitive.Primitive.named["sin"] is sin


# ----------------------------------------------------------------- functions from outside


def cosine(x: Any) -> Any:
    """The C library's cosine, element by element."""
    return np.array([LIBM.cos(v) for v in x.ravel()]).reshape(x.shape).astype(x.dtype)


LIBM = ctypes.CDLL(None)
LIBM.cos.restype, LIBM.cos.argtypes = ctypes.c_double, [ctypes.c_double]
LIBM.sin.restype, LIBM.sin.argtypes = ctypes.c_double, [ctypes.c_double]


def sine(x: Any) -> Any:
    return np.array([LIBM.sin(v) for v in x.ravel()]).reshape(x.shape).astype(x.dtype)


def derived(name: str) -> Any:
    """The external sine with its derivative, which is another external function."""

    @ax.custom_jvp
    def f(x: Any) -> Any:
        return ffi.call(f"{name}_sin", x, vmap_method="expand_dims")(x)

    @f.defjvp
    def rule(primals: Any, tangents: Any) -> Any:
        (x,), (dx,) = primals, tangents
        return f(x), ffi.call(f"{name}_cos", x, vmap_method="expand_dims")(x) * dx

    return f


@pytest.mark.parametrize("backend", BACKENDS)
def test_an_external_function_works_under_everything(backend: str) -> None:
    ffi.register("tests_sin", sine)
    ffi.register("tests_cos", cosine)
    transformed(derived("tests"), np.sin, np.cos, backend)


@pytest.mark.parametrize("backend", ["numpy", "third"])
def test_an_external_function_of_a_backends_own_buffers(backend: str) -> None:
    calls: list[str] = []

    def counted(function: Any) -> Any:
        def run(x: Any) -> Any:
            calls.append(type(x).__name__)
            return Boxed(function(x.array)) if type(x) is Boxed else function(x)

        return run

    ffi.register("tests_own_sin", counted(sine), backend=backend)
    ffi.register("tests_own_cos", counted(cosine), backend=backend)
    transformed(derived("tests_own"), np.sin, np.cos, backend)
    assert set(calls) == {"Boxed" if backend == "third" else "ndarray"}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", ["sequential", "expand_dims", "broadcast_all"])
def test_batches_of_external_calls_are_what_vmap_method_says(backend: str, method: str) -> None:
    ffi.register("tests_sum_last", lambda x, y: np.sum(x * y, -1).astype(x.dtype))
    x, y = np.arange(12.0).reshape(3, 4), np.arange(4.0)
    f = lambda a, b: ffi.call(  # noqa: E731
        "tests_sum_last", ax.ShapeDtypeStruct((), "float64"), vmap_method=method
    )(a, b)
    with ax.default_backend(backend):
        for axis, given in ((0, x), (1, x.T)):
            mapped = ax.jit(ax.vmap(f, (axis, None)))
            np.testing.assert_allclose(mapped(anp.asarray(given), anp.asarray(y)), x @ y)


def test_static_arguments_keep_their_types() -> None:
    seen: list[dict[str, Any]] = []

    def note(x: Any, **static: Any) -> Any:
        seen.append(static)
        return x

    ffi.register("tests_note", note)
    given = {
        "flag": True, "count": 3, "rate": 0.5, "word": "a b", "axes": (0, 1),
        "small": np.float32(0.1), "byte": np.uint8(76), "row": np.array([1, 2], np.int16),
    }  # fmt: skip
    x = anp.ones(2)
    call = ffi.call("tests_note", x)
    graph = ax.make_graph(lambda v: call(v, **given))(x)
    assert ax.parse_graph(str(graph)) == graph
    for backend in BACKENDS:
        seen.clear()
        ax.jit(lambda v: call(v, **given), backend=backend)(np.ones(2, np.float32))
        (static,) = seen
        row = static.pop("row")
        assert row.dtype == np.int16 and row.tolist() == [1, 2]
        assert static == {k: v for k, v in given.items() if k != "row"}
        assert type(static["small"]) is np.float32 and type(static["byte"]) is np.uint8
    with pytest.raises(ax.errors.ArgumentError, match="static argument what takes a bool"):
        call(x, what=object())


def test_what_an_external_function_may_not_do_is_said() -> None:
    x = anp.ones(3)
    with pytest.raises(ax.errors.UnsupportedError, match=r"'tests_nobody' cannot run.*nothing is"):
        ffi.call("tests_nobody", x)(x)
    ffi.register("tests_elsewhere", sine, backend="elsewhere")
    with pytest.raises(ax.errors.UnsupportedError, match="registered for: elsewhere"):
        ax.jit(ffi.call("tests_elsewhere", x))(x)
    ffi.register("tests_sin", sine)
    with pytest.raises(ax.errors.GradError, match="'tests_sin' cannot be differentiated"):
        ax.grad(lambda v: anp.sum(ffi.call("tests_sin", v)(v)))(x)
    with pytest.raises(ax.errors.ArgumentError, match=r"ax.vmap came to ax.ffi.call of"):
        ax.vmap(lambda v: ffi.call("tests_sin", v)(v))(x)
    with pytest.raises(ax.errors.ArgumentError, match="vmap_method"):
        ffi.call("tests_sin", x, vmap_method="all")
    with pytest.raises(ax.errors.ArgumentError, match="name has to be a string"):
        ffi.register(3, sine)  # type: ignore[arg-type]
    for backend in (None, "numpy"):
        ffi.register("tests_wrong", lambda v: v[:2], backend=backend)
        for run in (ffi.call("tests_wrong", x), ax.jit(ffi.call("tests_wrong", x))):
            with pytest.raises(
                ax.errors.ShapeError, match="tests_wrong returned an array of shape"
            ):
                run(x)
        ax.control.external.targets["tests_wrong"].clear()


def test_errors_of_an_external_function_arrive_as_they_are() -> None:
    def fail(x: Any) -> Any:
        raise LookupError("no such row")

    ffi.register("tests_fail", fail)
    for backend in BACKENDS:
        with ax.default_backend(backend):
            x = anp.ones(2)
            for run in (ffi.call("tests_fail", x), ax.jit(ffi.call("tests_fail", x))):
                with pytest.raises(LookupError, match="no such row"):
                    run(x)


def test_several_results_come_as_a_tree() -> None:
    ffi.register("tests_divmod", lambda x, y: np.divmod(x, y))
    x = anp.asarray(np.array([7, 9], np.int32))
    for run in (
        ffi.call("tests_divmod", {"q": x, "r": x}),
        ax.jit(ffi.call("tests_divmod", {"q": x, "r": x})),
    ):
        result = run(x, x - 5)
        assert {k: v.tolist() for k, v in result.items()} == {"q": [3, 2], "r": [1, 1]}


# ----------------------------------------------------------------- compiled targets of XLA


def needs_xla() -> None:
    if "xla" not in BACKENDS:
        pytest.skip("no jaxlib")


def test_a_target_of_lapack_runs_inside_an_xla_program() -> None:
    needs_xla()
    from jaxlib import lapack

    lapack.prepare_lapack_call("potrf", np.dtype(np.float64))
    capsules = {name: target for name, target, _ in lapack.registrations()["cpu"]}
    ffi.register("tests_potrf", capsules["lapack_dpotrf_ffi"], backend="xla")
    types = (ax.ShapeDtypeStruct((3, 3), "float64"), ax.ShapeDtypeStruct((), "int32"))
    # Rows for columns: the lower triangle of a symmetric matrix is the upper one.
    factor = ax.jit(
        lambda a: ffi.call("tests_potrf", types)(a, uplo=np.uint8(ord("U")))[0], backend="xla"
    )
    root = np.tril(np.arange(1.0, 10.0).reshape(3, 3)) + 3 * np.eye(3)
    np.testing.assert_allclose(np.tril(factor(root @ root.T)), root, rtol=1e-12)
    with pytest.raises(ax.errors.UnsupportedError, match="registered for: xla"):
        factor_on_numpy = ax.jit(lambda a: ffi.call("tests_potrf", types)(a), backend="numpy")
        factor_on_numpy(root)


SOURCE = """
#include "xla/ffi/api/ffi.h"
namespace ffi = xla::ffi;
ffi::Error Run(double factor, ffi::Span<const int64_t> shift, ffi::Buffer<ffi::F64> x,
               ffi::ResultBuffer<ffi::F64> y) {
  for (size_t i = 0; i < x.element_count(); ++i)
    y->typed_data()[i] = factor * x.typed_data()[i] + shift[0];
  return ffi::Error::Success();
}
XLA_FFI_DEFINE_HANDLER_SYMBOL(scale, Run, ffi::Ffi::Bind().Attr<double>("factor")
    .Attr<ffi::Span<const int64_t>>("shift").Arg<ffi::Buffer<ffi::F64>>()
    .Ret<ffi::Buffer<ffi::F64>>());
"""


@pytest.mark.skipif(shutil.which("g++") is None, reason="no compiler")
def test_a_function_compiled_here_runs_inside_an_xla_program(tmp_path: Path) -> None:
    needs_xla()
    import jaxlib

    (tmp_path / "scale.cc").write_text(SOURCE)
    include = Path(jaxlib.__file__).parent / "include"
    subprocess.run(
        ["g++", "-std=c++17", "-O0", "-shared", "-fPIC", f"-I{include}", "scale.cc",
         "-o", "scale.so"], cwd=tmp_path, check=True,
    )  # fmt: skip
    library = ctypes.CDLL(str(tmp_path / "scale.so"))
    ffi.register("tests_scale", library.scale, backend="xla")
    x = ax.device_put(POINTS, "xla")

    @ax.custom_jvp
    def f(v: Any) -> Any:
        return ffi.call("tests_scale", v, vmap_method="broadcast_all")(v, factor=2.0, shift=(3,))

    f.defjvp(lambda p, t: (f(*p), 2.0 * t[0]))
    transformed(f, lambda v: 2 * v + 3, lambda v: 2 + 0 * v, "xla")
    # A second function under the name is another one.
    ffi.register("tests_scale", library.scale, backend="xla")
    assert f(x).device.backend.name == "xla"


def test_a_python_function_is_no_target_of_xla() -> None:
    needs_xla()
    ffi.register("tests_python", math.cos, backend="xla")
    said = ax.errors.UnsupportedError
    with pytest.raises(said, match="'tests_python' cannot run here: it is registered for: xla"):
        ax.jit(lambda v: ffi.call("tests_python", v)(v), backend="xla")(POINTS)


def test_all_orders_of_three_transformations_of_an_external_function() -> None:
    ffi.register("tests_sin", sine)
    ffi.register("tests_cos", cosine)
    f = derived("tests")
    wraps = {"grad": ax.grad, "vmap": ax.vmap, "jit": ax.jit}
    for order in itertools.permutations(wraps):
        g = f
        for name in order:
            g = wraps[name](lambda v, h=g: anp.sum(h(v))) if name == "grad" else wraps[name](g)
        x = anp.asarray(POINTS)
        np.testing.assert_allclose(g(x), np.cos(POINTS), rtol=1e-12, err_msg=str(order))
