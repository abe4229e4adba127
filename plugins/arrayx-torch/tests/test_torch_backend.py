"""The plugin as arrayx finds it: installed, known by its entry point alone."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx.backend import core_set
from arrayx.conformance.checks import CHECKS
from arrayx.conformance.table import cases

torch = pytest.importorskip("torch", reason="needs PyTorch: pip install torch==2.13.0")
if "torch" not in ax.backends.names():
    pytest.skip(
        "needs the plugin: pip install --no-deps ./plugins/arrayx-torch", allow_module_level=True
    )

ROWS = [case for case in cases() if {case.name, *case.covers} & set(core_set())]
EVERY_BITS = {f"{sign}int{n}" for sign in ("", "u") for n in (8, 16, 32, 64)}


def on_cpu(x: Any) -> Any:
    """An array on torch's CPU device, which is not the first where there is a GPU."""
    (cpu,) = [d for d in ax.devices("torch") if d.platform == "cpu"]
    return ax.device_put(x, cpu)


def test_it_is_known_by_its_entry_point_and_owes_nothing() -> None:
    (record,) = [r for r in ax.backends.doctor() if r.name == "torch"]
    assert record.state == "ready", record
    assert record.origin == "arrayx_torch of arrayx-torch 0.1.0"
    declared = ax.backends.capabilities("torch")
    assert declared.missing == {}
    assert declared.refused["schur"] == "PyTorch has no Schur factorisation"


def test_programs_run_on_it() -> None:
    def loss(w: Any, x: Any) -> Any:
        return anp.mean(anp.logaddexp(0.0, -anp.tanh(x @ w)))

    w, x = np.linspace(-1, 1, 3), np.arange(12.0).reshape(4, 3)
    got = ax.jit(ax.grad(loss), backend="torch")(w, x)
    assert isinstance(got.buffer, torch.Tensor)
    np.testing.assert_allclose(got, ax.grad(loss)(w, x), rtol=1e-12)
    with ax.default_backend("torch"):
        draws = ax.random.normal(ax.random.key(0), (3,))
        sums = ax.lax.fori_loop(0, 4, lambda i, v: v + i, anp.zeros(2))
    np.testing.assert_allclose(draws, ax.random.normal(ax.random.key(0), (3,)), rtol=1e-6)
    assert sums.tolist() == [6.0, 6.0]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint32", "complex64", "bool"])
@pytest.mark.parametrize("writeable", [True, False])
@pytest.mark.filterwarnings("error")
def test_arrays_go_in_and_out_without_copies(dtype: str, writeable: bool) -> None:
    backend = ax.devices("torch")[0].backend
    (cpu,) = [d for d in backend.devices() if d.platform == "cpu"]
    host = np.ones((2, 3), getattr(ml_dtypes, dtype, dtype))[:, 1:]
    host.flags.writeable = writeable
    buffer = backend.share(host, cpu)
    assert buffer.data_ptr() == host.__array_interface__["data"][0]
    back = backend.get(buffer)
    assert back.dtype == host.dtype and np.shares_memory(back, host)
    np.testing.assert_array_equal(back, host)


def test_what_is_put_is_a_copy() -> None:
    host = np.zeros(3)
    x = on_cpu(host)
    host[:] = 1
    assert x.tolist() == [0.0, 0.0, 0.0]


def test_a_tensor_comes_in_by_dlpack_on_its_own_memory() -> None:
    tensor = torch.arange(4.0)
    (cpu,) = [d for d in ax.devices("torch") if d.platform == "cpu"]
    x = anp.from_dlpack(tensor, device=cpu)
    np.testing.assert_array_equal(x, tensor.numpy())
    assert torch.from_dlpack(x).tolist() == [0.0, 1.0, 2.0, 3.0]


def test_of_several_updates_for_one_place_the_last_stays() -> None:
    x, updates = on_cpu(np.zeros((3, 2), np.float32)), on_cpu(np.arange(6.0).reshape(3, 2))
    got = x.at[np.array([1, 2, 1])].set(updates)
    assert got.tolist() == [[0.0, 0.0], [4.0, 5.0], [2.0, 3.0]]


@pytest.mark.parametrize("dtype", sorted(EVERY_BITS))
def test_integers_at_their_limits_divide_and_shift_as_on_numpy(dtype: str) -> None:
    limits = np.iinfo(dtype)
    edges = [limits.min, limits.min + 1, limits.max - 1, limits.max, limits.max // 2 + 1, 0, 1, 7]
    values = np.array([*edges, -1 if limits.min else 3], dtype)
    x, y = (a.ravel() for a in np.meshgrid(values, values))
    for f in (ax.lax.div, ax.lax.rem, ax.lax.max, ax.lax.lt, ax.lax.shift_left,
              ax.lax.shift_right_logical, ax.lax.shift_right_arithmetic, ax.lax.pow):  # fmt: skip
        np.testing.assert_array_equal(f(on_cpu(x), on_cpu(y)), f(x, y), err_msg=f.__name__)


@pytest.mark.filterwarnings("ignore")
def test_torch_compile_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = ax.devices("torch")[0].backend
    monkeypatch.setattr(backend, "compiles", True)
    x = np.linspace(0, 1, 7, dtype=np.float32)
    f = ax.jit(lambda x: anp.cumsum(anp.sin(x) * 2), backend="torch")
    np.testing.assert_allclose(f(x), np.cumsum(np.sin(x) * 2), rtol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("case", ROWS, ids=lambda case: case.id)
def test_every_row_of_the_core_set_has_the_right_values(case: Any) -> None:
    """The suite's own runner does every check, in every dtype."""
    for check in CHECKS:
        if check.name == "value":
            for dtype in check.dtypes(case):
                try:
                    check.function(case, dtype, "torch")
                except ax.errors.UnsupportedDtypeError as refusal:
                    assert "float8" in str(refusal), refusal
