"""The xla backend at work: where buffers are, what is compiled, what waits and what does not."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

pytest.importorskip("jaxlib", reason="the xla backend needs jaxlib: pip install 'arrayx[xla]'")

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend import dispatch
from arrayx.backend.registry import registry
from arrayx.primitives import arithmetic, numeric, trigonometric
from arrayx_xla.backend import MOST_HOST_ELEMENTS
from arrayx_xla.buffers import HostBuffer


@pytest.fixture(scope="module")
def backend():
    return registry.get("xla")


@pytest.fixture
def compilations(backend, monkeypatch):
    """The texts that are compiled during a test."""
    texts = []
    compile_ = type(backend.client).compile

    def counting(self, text, *args, **kwargs):
        texts.append(text)
        return compile_(self, text, *args, **kwargs)

    monkeypatch.setattr(type(backend.client), "compile", counting)
    return texts


def put(x):
    return ax.device_put(x, "xla")


def python(program, **environment):
    """The output of a program in a fresh interpreter."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# --------------------------------------------------------------------------- arrays


def test_a_device_is_found_by_its_name(backend):
    device = backend.devices()[0]
    assert str(device) == "xla:cpu:0"
    assert put(1.0).device is device
    assert ax.devices("xla")[0] is device
    assert backend.devices() is backend.devices()


@pytest.mark.parametrize("dtype", ["float64", "int64", "uint64", "complex128", "bfloat16", "bool"])
def test_wide_and_narrow_dtypes_are_kept(dtype):
    dtype = ax.dtypes.as_dtype(dtype)
    x = put(np.ones(3, dtype))
    y = ax.jit(lambda x: anp.where(x == x, x, x))(x)
    assert x.dtype == y.dtype == np.asarray(y).dtype == dtype


def test_float64_is_computed_in_64_bits():
    x = put(np.float64(1) / 3)
    assert float(ax.jit(lambda x: x * 3 - 1 + 1e-16)(x)) == pytest.approx(1e-16, rel=0.5)


def test_a_dtype_that_xla_lacks_is_refused_by_name():
    with pytest.raises(ax.errors.UnsupportedError, match="'xla' has no dtype"):
        put(np.zeros(3, ax.float0))


def test_a_small_array_stays_on_the_host_until_a_program_needs_it(backend):
    x = put(np.ones(3, np.float32))
    assert type(x.buffer) is HostBuffer
    assert x.buffer.placed is None
    double = ax.jit(lambda x: x + x)
    double(x)
    placed = x.buffer.placed
    assert placed is not None
    double(x)
    assert x.buffer.placed is placed
    large = put(np.ones(MOST_HOST_ELEMENTS + 1, np.float32))
    assert type(large.buffer) is not HostBuffer


@pytest.mark.parametrize("size", [3, MOST_HOST_ELEMENTS + 1])
def test_an_array_does_not_change_with_what_it_was_made_from(size):
    source = np.ones(size, np.float32)
    x = put(source)
    source[:] = 5
    assert (np.asarray(x) == 1).all()
    assert (np.asarray(ax.jit(lambda x: x * 1.5)(x)) == 1.5).all()


def test_what_comes_out_is_read_only():
    for x in (put(np.ones(3)), ax.jit(lambda x: x + 1)(put(np.ones(3))), put(np.ones(3)) + 1):
        with pytest.raises(ValueError, match="read-only"):
            np.asarray(x)[0] = 2


def test_deleting_a_buffer_leaves_its_views_alone(backend):
    x = ax.jit(lambda x: x + 1)(put(np.ones(3)))
    view = np.asarray(x)
    backend.delete(x.buffer)
    np.testing.assert_array_equal(view, [2, 2, 2])


# --------------------------------------------------------------------------- eager


def test_a_small_operation_compiles_nothing(compilations):
    x = put(np.linspace(0, 1, 7, dtype=np.float32))
    y = anp.sin(x) + 1
    assert not compilations
    assert type(y.buffer) is HostBuffer
    np.testing.assert_allclose(y, np.sin(np.asarray(x)) + 1, rtol=1e-6)


def test_a_large_operation_is_compiled(compilations):
    x = put(np.ones(MOST_HOST_ELEMENTS, np.float32))
    y = trigonometric.asinh(x)
    assert len(compilations) == 1
    assert type(y.buffer) is not HostBuffer


def test_the_setting_counts_at_each_call_also_for_operations_met_before(compilations):
    x = put(np.full(5, 0.5, np.float32))
    host = numeric.nextafter(x, x)
    assert not compilations
    with ax.config(eager_xla="compile"):
        compiled = numeric.nextafter(x, x)
        assert len(compilations) == 1
        assert type(compiled.buffer) is not HostBuffer
        numeric.nextafter(x, x)
        assert len(compilations) == 1
    numeric.nextafter(x, x)
    assert len(compilations) == 1
    np.testing.assert_array_equal(host, compiled)


def test_the_environment_chooses_compilation():
    program = """
        import numpy as np, arrayx as ax
        x = ax.device_put(np.ones(3), "xla") + 1
        print(type(x.buffer).__name__)
    """
    assert python(program) == "HostBuffer"
    assert python(program, ARRAYX_XLA_EAGER="compile") == "ArrayImpl"


def test_one_program_does_for_all_values_of_a_literal(compilations):
    x = put(np.arange(6, dtype=np.int32).reshape(2, 3))
    with ax.config(eager_xla="compile"):
        for value in (3, -4, 100):
            np.testing.assert_array_equal(arithmetic.mul(x, value), np.asarray(x) * value)
            np.testing.assert_array_equal(arithmetic.sub(value, x), value - np.asarray(x))
        which = put(np.asarray(x) > 2)
        for value in (7, 8):
            wanted = np.where(np.asarray(which), np.asarray(x), value)
            np.testing.assert_array_equal(arithmetic.select(which, x, value), wanted)
    assert len(compilations) == 3


def test_both_ways_of_eager_execution_agree():
    x = put(np.random.default_rng(0).normal(size=(4, 5)).astype(np.float32))
    functions = (
        lambda x: anp.sort(x, axis=1),
        lambda x: anp.cumsum(x, axis=0),
        lambda x: x[1:, ::2],
        lambda x: anp.argmax(x, axis=1),
        lambda x: anp.logaddexp(x, x * 2),
        lambda x: ax.grad(lambda x: anp.sum(anp.tanh(x) ** 2))(x),
    )
    for function in functions:
        host = np.asarray(function(x))
        with ax.config(eager_xla="compile"):
            compiled = np.asarray(function(x))
        assert host.dtype == compiled.dtype
        np.testing.assert_allclose(host, compiled, rtol=2e-6, atol=2e-6)


def test_random_keys_are_split_and_drawn_from_without_compiling(compilations):
    with ax.default_backend("xla"):
        key, other = ax.random.split(ax.random.key(3))
        small = ax.random.uniform(other, (4,))
    assert not compilations
    with ax.default_backend("numpy"):
        _, other = ax.random.split(ax.random.key(3))
        np.testing.assert_array_equal(small, ax.random.uniform(other, (4,)))
    with ax.default_backend("xla"):
        large = ax.random.bits(key, (MOST_HOST_ELEMENTS + 1,))
    assert len(compilations) >= 1
    assert large.shape == (MOST_HOST_ELEMENTS + 1,)


# --------------------------------------------------------------------------- programs


def test_a_call_returns_before_its_work_is_done():
    @ax.jit
    def chain(x):
        for _ in range(60):
            x = x @ x / 512
        return x

    x = put(np.full((512, 512), 1.0, np.float32))
    ax.block_until_ready(chain(x))
    y = chain(x)
    # A tenth of a second of products is under way: the call did not wait for it.
    assert not y.backend.is_ready(y.buffer)
    ax.block_until_ready(y)
    assert y.backend.is_ready(y.buffer)
    np.testing.assert_allclose(y, np.ones((512, 512)), rtol=1e-4)


def test_a_donated_argument_gives_its_memory_to_the_result():
    step = ax.jit(lambda x: x + 1, donate_argnums=0)
    x = ax.jit(lambda x: x * 2)(put(np.ones(MOST_HOST_ELEMENTS + 1, np.float32)))
    buffer = x.buffer
    y = step(x)
    assert buffer.is_deleted()
    assert (np.asarray(y) == 3).all()
    with pytest.raises(ax.errors.DonatedArrayError):
        x + 1


def test_an_array_on_the_host_can_be_donated_and_its_sharers_live_on():
    step = ax.jit(lambda x: x + 1, donate_argnums=0)
    x = put(np.ones(8, np.float32))
    ax.jit(lambda x: x * 2)(x)  # it has been placed once
    view = np.asarray(x)
    reshaped = x.reshape(2, 4)
    np.testing.assert_array_equal(step(x), np.full(8, 2.0))
    np.testing.assert_array_equal(view, np.ones(8))
    np.testing.assert_array_equal(reshaped + 1, np.full((2, 4), 2.0))


def test_long_constants_are_put_on_the_device_once(backend, monkeypatch):
    constant = put(np.arange(2000, dtype=np.float32))
    function = ax.jit(lambda x: x + constant)
    x = ax.jit(lambda x: x + 1)(put(np.zeros(2000, np.float32)))
    np.testing.assert_array_equal(function(x), np.arange(2000) + 1)
    puts = []
    put_ = type(backend.client).put
    monkeypatch.setattr(
        type(backend.client), "put", lambda self, *a, **k: puts.append(a) or put_(self, *a, **k)
    )
    np.testing.assert_array_equal(function(x), np.arange(2000) + 1)
    assert not puts


def test_a_compiled_function_tells_its_text_and_costs():
    x = put(np.ones((4, 4), np.float32))
    lowered = ax.jit(lambda x: x @ x).lower(x)
    assert "stablehlo.dot_general" in lowered.as_text()
    compiled = lowered.compile()
    assert compiled.as_text().startswith("HloModule dot_general")
    assert compiled.cost_analysis()["flops"] > 0
    assert compiled.memory_analysis()["arguments"] == 64
    np.testing.assert_array_equal(compiled(x), np.full((4, 4), 4.0))


def test_programs_run_in_several_threads_at_a_time():
    function = ax.jit(lambda x: anp.sin(x) * 2)
    wrong = []

    def work(i):
        x = put(np.full(100, float(i), np.float32))
        for _ in range(50):
            if not np.allclose(function(x), 2 * np.sin(i), rtol=1e-5):
                wrong.append(i)
            if not np.allclose(anp.cos(x), np.cos(i), rtol=1e-5):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_arrays_of_two_backends_are_not_mixed_in_silence():
    with pytest.raises(ax.errors.MixedBackendsError, match="numpy:cpu:0"):
        put(np.ones(3)) + ax.device_put(np.ones(3), "numpy")


# --------------------------------------------------------------------------- transformations


def model(w, x):
    hidden = anp.tanh(x @ w)
    return anp.sum(anp.where(hidden > 0, hidden * 2, anp.exp(hidden)))


def batched_model(w, x):
    return ax.vmap(ax.jit(model), in_axes=(None, 0))(w, x)


TRANSFORMED = {
    "jit": ax.jit(model),
    "grad of jit": ax.grad(ax.jit(model)),
    "jit of grad": ax.jit(ax.grad(model)),
    "jit of grad of jit": ax.jit(ax.grad(ax.jit(model))),
    "grad of eager": ax.grad(model),
    "vmap of jit": batched_model,
    "jit of vmap of jit": ax.jit(batched_model),
    "nested jit": ax.jit(lambda w, x: ax.jit(lambda w: ax.jit(model)(w, x) * 2)(w)),
    "grad of grad": ax.grad(lambda w, x: anp.sum(ax.grad(ax.jit(model))(w, x) ** 2)),
    "vmap of grad of jit": ax.vmap(ax.grad(ax.jit(model)), in_axes=(None, 0)),
    "forward mode": lambda w, x: ax.jvp(ax.jit(model), (w, x), (w, x))[1],
}


@pytest.mark.parametrize("how", TRANSFORMED)
def test_transformed_programs_give_what_numpy_gives(how):
    rng = np.random.default_rng(0)
    w, x = rng.normal(size=(3, 2)), rng.normal(size=(4, 3))
    if "vmap" in how:
        x = np.stack([x, x * 2])
    got = TRANSFORMED[how](put(w), put(x))
    wanted = TRANSFORMED[how](ax.device_put(w, "numpy"), ax.device_put(x, "numpy"))
    assert got.dtype == np.float64
    assert got.device.backend.name == "xla"
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


# --------------------------------------------------------------------------- jaxlib


def test_jax_is_never_imported():
    program = """
        import sys
        import numpy as np, arrayx as ax, arrayx.numpy as anp
        x = ax.device_put(np.ones((4, 4), np.float32), "xla")
        y = ax.jit(ax.grad(lambda x: anp.sum(anp.sin(x @ x))))(x) + 1
        np.asarray(y), repr(y), ax.block_until_ready(y)
        print("jax" in sys.modules, "jaxlib" in sys.modules)
    """
    assert python(program) == "False True"


def test_importing_arrayx_does_not_import_jaxlib():
    program = "import sys, arrayx; print('jaxlib' in sys.modules)"
    assert python(program) == "False"


def test_without_jaxlib_the_error_says_what_to_install():
    program = """
        import sys
        import arrayx as ax

        class Blocker:
            def find_spec(self, name, path=None, target=None):
                if name.split(".")[0] == "jaxlib":
                    raise ModuleNotFoundError("No module named 'jaxlib'", name="jaxlib")

        sys.meta_path.insert(0, Blocker())
        try:
            ax.devices("xla")
        except ax.errors.BackendUnavailableError as error:
            print(error)
        print(ax.devices("numpy"))
    """
    message, devices = python(program).splitlines()
    assert "backend 'xla'" in message
    assert "pip install 'arrayx[xla]'" in message
    assert devices == "[numpy:cpu:0]"


def test_dispatch_keeps_what_it_found_for_an_operation(backend):
    x = put(np.ones(3, np.float32))
    arithmetic.add(x, x)
    entry = arithmetic.add.kernels[(type(x), x.aval, x.aval)]
    assert entry[2] is False
    assert dispatch.apply(arithmetic.add, (x, x), {}).aval is x.aval
