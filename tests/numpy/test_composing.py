"""Functions called often become programs: the same results, to the bit, and the same errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors, tree
from arrayx.numpy import composing

X = np.random.default_rng(0).uniform(-2, 2, (3, 4)).astype(np.float32)
V = X[0]
HOLES = np.where(X > 1, np.float32(np.nan), X)
LINE = np.array([-1.0, 0.0, 0.5, 1.0], np.float32)

#: The arguments of every function that is composed: arrays, and what stands beside them.
CALLS: dict[str, tuple[Any, ...]] = {
    "allclose": (X, X),
    "append": (V, V),
    "argpartition": (X, 1),
    "argsort": (X,),
    "array_equal": (X, X),
    "array_equiv": (X, V),
    "average": (X, 1),
    "block": ([[X], [X]],),
    "clip": (X, -1.0, 1.5),
    "column_stack": ([V, V],),
    "convolve": (V, V),
    "corrcoef": (X,),
    "correlate": (V, V),
    "count_nonzero": (X,),
    "cov": (X,),
    "cross": (X[:, :3], X[:, 1:]),
    "cumulative_prod": (V,),
    "cumulative_sum": (V,),
    "diag": (V,),
    "diagflat": (V,),
    "diff": (X,),
    "make_diagonal": (X,),
    "dstack": ([X, X],),
    "ediff1d": (V,),
    "einsum": ("ij,ij->i", X, X),
    "fliplr": (X,),
    "flipud": (X,),
    "gradient": (X,),
    "histogram": (X,),
    "hstack": ([V, V],),
    "inner": (X, X),
    "interp": (V, LINE, V),
    "isin": (X, LINE),
    "isclose": (X, V),
    "kron": (X, X),
    "lexsort": ((V, V),),
    "linalg.norm": (X,),
    "matvec": (X, V),
    "mean": (X, 0),
    "median": (X,),
    "nan_to_num": (HOLES,),
    "nanargmax": (HOLES, 1),
    "nanargmin": (HOLES, 1),
    "nancumprod": (HOLES,),
    "nancumsum": (HOLES,),
    "nanmax": (HOLES,),
    "nanmean": (HOLES, 1),
    "nanmedian": (HOLES,),
    "nanmin": (HOLES,),
    "nanpercentile": (HOLES, 30),
    "nanprod": (HOLES,),
    "nanquantile": (HOLES, 0.3),
    "nanstd": (HOLES, 1),
    "nansum": (HOLES, 1),
    "nanvar": (HOLES, 1),
    "outer": (V, V),
    "partition": (X, 1),
    "percentile": (X, 30, 1),
    "ptp": (X, 1),
    "quantile": (X, 0.3, 1),
    "resize": (X, (2, 3)),
    "roll": (X, 1, 0),
    "rollaxis": (X, 1),
    "round": (X, 1),
    "searchsorted": (LINE, X),
    "sort": (X,),
    "stack": ([X, X], 1),
    "std": (X, 1),
    "tensordot": (X, X),
    "tile": (X, 2),
    "trace": (X,),
    "trapezoid": (X,),
    "tril": (X,),
    "triu": (X,),
    "var": (X, 1),
    "vdot": (X, X),
    "vecdot": (X, X),
    "vecmat": (V, X.T),
    "vstack": ([V, V],),
}
# They look at values of arrays, on which the shapes of their results depend, or an error.
ASKING: dict[str, tuple[Any, ...]] = {
    "argwhere": (X,),
    "digitize": (X, LINE),
    "flatnonzero": (X,),
    "nonzero": (X,),
    "unique": (X,),
}


def found(name: str) -> Any:
    function: Any = anp
    for part in name.split("."):
        function = getattr(function, part)
    return function


def arrays(args: Any) -> Any:
    return tree.map(lambda x: anp.asarray(x) if isinstance(x, np.ndarray) else x, args)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composing, "CALLS", 1)
    for name in (*CALLS, *ASKING):
        found(name).programs.clear()


def programs_of(function: Any) -> list[Any]:
    return [p for p in function.programs.values() if type(p) is not int]


def test_every_composed_function_is_in_the_table() -> None:
    spaces = {"": anp, "linalg.": anp.linalg}
    composed = {
        prefix + name
        for prefix, space in spaces.items()
        for name in space.__all__
        if hasattr(getattr(space, name), "programs")
    }
    again = {"around", "row_stack", "linalg.tensordot", "linalg.vecdot"}
    assert composed - again == {*CALLS, *ASKING}


@pytest.mark.parametrize("name", CALLS)
def test_a_program_gives_what_the_call_gives(name: str) -> None:
    function, args = found(name), arrays(CALLS[name])
    first, *rest = [function(*args) for _ in range(5)]
    (program,) = programs_of(function)
    assert type(program) is composing.Kept, f"{name} asks for a value"
    for other in rest:
        assert tree.structure(other) == tree.structure(first)
        for a, b in zip(tree.leaves(other), tree.leaves(first), strict=True):
            assert a.aval is b.aval
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


@pytest.mark.parametrize("name", ASKING)
def test_a_function_that_asks_for_values_has_no_program(name: str) -> None:
    function, args = found(name), arrays(ASKING[name])
    for _ in range(4):
        function(*args)
    assert programs_of(function) == [None]


@pytest.mark.parametrize("name", ["argwhere", "flatnonzero", "nonzero", "unique"])
def test_a_fixed_size_makes_programs_possible(name: str) -> None:
    function, x = found(name), anp.asarray(np.array([3, 0, 3, 1]))
    first, *rest = [function(x, size=3) for _ in range(5)]
    (program,) = programs_of(function)
    assert type(program) is composing.Kept
    for other in rest:
        np.testing.assert_array_equal(np.asarray(other), np.asarray(first))


def test_results_whose_shape_depends_on_values_are_right_when_called_often() -> None:
    draw = np.random.default_rng(1)
    for _ in range(12):
        x = draw.integers(0, 6, 8)
        for got, want in zip(
            anp.unique(anp.asarray(x), True, True, True),
            np.unique(x, True, True, True),
            strict=True,
        ):
            np.testing.assert_array_equal(got, want)
        np.testing.assert_array_equal(anp.bincount(anp.asarray(x)), np.bincount(x))
        np.testing.assert_array_equal(anp.nonzero(anp.asarray(x)), np.nonzero(x))


def test_errors_that_depend_on_values_stay() -> None:
    x, rising = anp.asarray(X), anp.asarray(LINE)
    for _ in range(4):
        anp.digitize(x, rising)
    with pytest.raises(errors.ArgumentError, match="digitize: bins must rise or fall"):
        anp.digitize(x, anp.asarray(np.array([0.0, 2.0, 1.0, 3.0], np.float32)))


def test_calls_of_other_kinds_have_other_programs() -> None:
    x = anp.asarray(X)
    for axis in (0, 1, None, (0, 1), -1, True):
        for _ in range(3):
            got = anp.sort(x, axis) if axis in (0, 1, None, -1) else anp.mean(x, (0, 1))
        want = np.sort(X, axis) if axis in (0, 1, None, -1) else np.mean(X)
        np.testing.assert_allclose(got, want, rtol=1e-6)
    for limit in (1, 1.0, 0.5, 0.0, -0.0):
        for _ in range(3):
            clipped = anp.clip(anp.asarray([-3, 3]), limit)
            assert clipped.dtype == anp.clip(anp.asarray([-3, 3]), limit).dtype
        assert clipped.dtype == ("int32" if type(limit) is int else "float32")


def test_settings_are_part_of_the_kind() -> None:
    x = anp.asarray(X)
    for _ in range(3):
        assert anp.argsort(x).dtype == "int32"
        assert anp.count_nonzero(x).dtype == "int32"
    with ax.config(default_dtype_bits=64):
        for _ in range(3):
            assert anp.argsort(x).dtype == "int64"
            assert anp.count_nonzero(x).dtype == "int64"


def test_a_wrong_call_is_refused_each_time() -> None:
    for _ in range(4):
        with pytest.raises(errors.ShapeError, match="vdot"):
            anp.vdot(anp.ones(2), anp.ones(3))
        with pytest.raises(errors.AxisError, match="mean"):
            anp.mean(anp.ones(2), 3)


def test_transformations_do_not_see_programs() -> None:
    x = anp.asarray(V)
    for _ in range(3):
        slope = ax.grad(lambda x: anp.std(x) ** 2)(x)
        batched = ax.vmap(anp.var)(anp.asarray(X))
    np.testing.assert_allclose(slope, 2 * (V - V.mean()) / V.size, rtol=1e-5)
    np.testing.assert_allclose(batched, X.var(1), rtol=1e-5)
    assert not programs_of(anp.std) and not programs_of(anp.var)


def test_disable_jit_means_no_programs() -> None:
    with ax.disable_jit():
        for _ in range(4):
            anp.var(anp.asarray(X))
    assert programs_of(anp.var) == [None]


def test_large_operands_are_not_worth_a_program() -> None:
    x = anp.zeros(composing.MOST_ELEMENTS + 1)
    for _ in range(4):
        anp.var(x)
    assert programs_of(anp.var) == [None]


def test_a_donated_array_is_refused_by_a_program_too() -> None:
    x = anp.asarray(X)
    for _ in range(4):
        anp.var(x)
    ax.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(errors.DonatedArrayError):
        anp.var(x)


def test_the_number_of_programs_is_bounded() -> None:
    for n in range(200):
        for _ in range(2):
            anp.tile(anp.ones(2), n % 190 + 1)
    assert len(anp.tile.programs) <= 128
