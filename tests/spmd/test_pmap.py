"""`pmap`: one compiled program for each element along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, lax

FOUR = 4 * ax.devices("numpy")
X = np.arange(8.0, dtype=np.float32).reshape(4, 2)


def test_it_means_vmap_with_an_axis_name() -> None:
    def lane(x: Any, y: Any) -> Any:
        return lax.psum(x, "i") * y, {"index": lax.axis_index("i")}

    got = ax.pmap(lane, "i", in_axes=(0, None), devices=FOUR)(X, 2.0)
    wanted = ax.vmap(lane, axis_name="i", in_axes=(0, None))(X, 2.0)
    np.testing.assert_array_equal(got[0], wanted[0])
    np.testing.assert_array_equal(got[1]["index"], [0, 1, 2, 3])


def test_results_stand_where_out_axes_says() -> None:
    got = ax.pmap(lambda x: (x, lax.psum(x, "i")), "i", out_axes=(1, None), devices=FOUR)(X)
    np.testing.assert_array_equal(got[0], X.T)
    np.testing.assert_array_equal(got[1], X.sum(0))


def test_static_arguments_stay_python_values() -> None:
    seen = []

    def lane(x: Any, options: Any, scale: Any) -> Any:
        seen.append(options)
        return x * scale if options["double"] else x

    class Options(dict):  # type: ignore[type-arg]
        def __hash__(self) -> int:
            return hash(tuple(self.items()))

    mapped = ax.pmap(lane, in_axes=(0, None, None), static_broadcasted_argnums=1, devices=FOUR)
    np.testing.assert_array_equal(mapped(X, Options(double=True), 2.0), 2 * X)
    simple = ax.pmap(lambda x, n: x * n, static_broadcasted_argnums=(1,), devices=FOUR)
    np.testing.assert_array_equal(simple(X, 3), 3 * X)
    assert seen == [{"double": True}]


def test_donated_arguments_are_gone_afterwards() -> None:
    x = anp.asarray(X)
    ax.pmap(lambda x: x + 1, donate_argnums=0, devices=FOUR)(x)
    with pytest.raises(errors.DonatedArrayError):
        x + 1


def test_it_is_compiled_once() -> None:
    traced = []

    def lane(x: Any) -> Any:
        traced.append(1)
        return x + lax.psum(x, "i")

    mapped = ax.pmap(lane, "i", devices=FOUR)
    mapped(X)
    mapped(X + 1)
    assert len(traced) == 1
    assert "add" in mapped.lower(X).as_text()


def test_more_elements_than_devices_are_an_error_that_says_how_many_there_are() -> None:
    count = ax.local_device_count()
    with pytest.raises(ValueError, match=f"size {count + 1}, but there .* {count} device"):
        ax.pmap(lambda x: x)(anp.arange(count + 1.0))
    with pytest.raises(errors.ArgumentError, match=r"8 \* ax.devices"):
        ax.pmap(lambda x: x, devices=FOUR)(anp.arange(5.0))


def test_errors_speak_of_pmap() -> None:
    with pytest.raises(errors.ShapeError, match=r"ax.pmap: the mapped axes have different sizes"):
        ax.pmap(lambda x, y: x, devices=FOUR)(anp.zeros(3), anp.zeros(4))
    with pytest.raises(errors.ArgumentError, match=r"ax.pmap: in_axes has to be"):
        ax.pmap(lambda x: x, in_axes="first", devices=FOUR)(anp.zeros(3))
    with pytest.raises(errors.NotCallableError, match=r"ax.pmap takes a function"):
        ax.pmap(X)  # type: ignore[arg-type]


def test_nested_pmaps_reach_both_axes() -> None:
    def lane(x: Any) -> Any:
        return lax.psum(x, "i"), lax.psum(x, "j"), lax.psum(x, ("i", "j"))

    inner = ax.pmap(lane, "j", devices=FOUR)
    got = ax.pmap(inner, "i", devices=FOUR)(X)
    np.testing.assert_array_equal(got[0], np.broadcast_to(X.sum(0), (4, 2)))
    np.testing.assert_array_equal(got[1], np.broadcast_to(X.sum(1, keepdims=True), (4, 2)))
    np.testing.assert_array_equal(got[2], np.full((4, 2), X.sum()))


def test_every_devices_output_counts() -> None:
    """`pmap(grad(f))` is `grad(sum∘pmap(f))`: what a lane does to all lanes is its derivative."""

    def loss(w: Any, x: Any) -> Any:
        share = lax.psum(w * x, "i")
        return anp.sum(anp.sin(share) * x) + anp.sum(lax.pmax(w, "i") * w)

    w = np.cos(X)
    inside = ax.pmap(ax.grad(loss), "i", devices=FOUR)(w, X)
    mapped = ax.pmap(loss, "i", devices=FOUR)
    outside = ax.grad(lambda w, x: anp.sum(mapped(w, x)))(w, X)
    np.testing.assert_allclose(inside, outside, rtol=1e-5)

    def everything(w: Any, x: Any) -> Any:
        share = anp.sum(w * x, 0)
        return anp.sum(anp.sin(share) * x) + anp.sum(anp.max(w, 0) * w)

    np.testing.assert_allclose(inside, ax.grad(everything)(w, X), rtol=1e-5)


def test_data_parallel_training_averages_gradients() -> None:
    rng = np.random.default_rng(0)
    data, target = rng.normal(size=(4, 5, 3)), rng.normal(size=(4, 5))
    w = anp.zeros(3, "float64")

    def loss(w: Any, x: Any, y: Any) -> Any:
        return anp.mean((x @ w - y) ** 2)

    def update(w: Any, x: Any, y: Any) -> Any:
        return w - 0.1 * lax.pmean(ax.grad(loss)(w, x, y), "batch")

    step = ax.pmap(update, "batch", in_axes=(None, 0, 0), out_axes=None, devices=FOUR)
    one = step(w, data, target)
    wanted = w - 0.1 * ax.grad(loss)(w, data.reshape(20, 3), target.reshape(20))
    np.testing.assert_allclose(one, wanted, rtol=1e-10)
