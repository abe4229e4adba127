"""Arrays and programs of many elements: blocks, tiles, planned memory, long rows.

Backends do large arrays in another way than small ones, which the rows of the table are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import arrayx as ax
import arrayx.numpy as anp
from arrayx import lax, nn
from arrayx.backend.registry import chosen
from arrayx.conformance.cases.sorting import sorted_together
from arrayx.conformance.item import Item
from arrayx.conformance.sections.statement import item
from arrayx.primitives.arithmetic import absorb_mul

Arrays = tuple[np.ndarray, ...]


def _draw(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    """Elements between -1 and 1, every seventh of them 0."""
    x = np.random.default_rng(seed).uniform(-1, 1, shape)
    x.reshape(-1)[::7] = 0
    return x.astype(dtype)


def _softmax(x: Any) -> Any:
    grown = np.exp(x - x.max(-1, keepdims=True))
    return grown / grown.sum(-1, keepdims=True)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


# ----------------------------------------------------------------- thousands of elements

_X, _Y = _draw(60, 70), _draw(60, 70, seed=1)
_KEYS = np.random.default_rng(2).integers(-3, 3, 700).astype(np.int32)
_FLOAT_KEYS = np.where(_KEYS == 2, np.float32(np.nan), _KEYS.astype(np.float32) * 0.5)
_PLACES = np.arange(700, dtype=np.int32)
_AT = np.random.default_rng(3).integers(0, 500, 4000).astype(np.int32)


def _sorted(*xs: np.ndarray) -> Any:
    return sorted_together(*xs, axis=0, num_keys=1)


def _added(x: Any, i: Any, y: Any) -> Any:
    total = np.array(x)
    np.add.at(total, i, y)
    return total


#: The function, its reference in float64, and the operands.
OPERATIONS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Arrays]] = {
    "where": (
        lambda x, y: (
            *(anp.where(x > y, x, y), anp.where(x > y, x, 0.0), anp.where(x > y, 0.0, y)),
            *(anp.where(x > y, x, 0.5) * 2, anp.where(x > y, 0.25, y) - x),
        ),
        lambda x, y: (
            *(np.where(x > y, x, y), np.where(x > y, x, 0), np.where(x > y, 0, y)),
            *(np.where(x > y, x, 0.5) * 2, np.where(x > y, 0.25, y) - x),
        ),
        (_X, _Y),
    ),
    "sums": (
        lambda x: (anp.sum(x, 1), anp.sum(x, 0), anp.sum(x), anp.max(x, 1), anp.sum(x, 1) * 2),
        lambda x: (x.sum(1), x.sum(0), x.sum(), x.max(1), x.sum(1) * 2),
        (_X,),
    ),
    "absorbing": (
        lambda x: absorb_mul(x * 2, 1 / (x * 3)) + 1,
        lambda x: np.where(x == 0, 1.0, 2 / 3 + 1),
        (_X,),
    ),
    "conversions": (
        lambda x: anp.where((x * 2).astype(bool), 1.0, x) + (x > 0).astype("float32"),
        lambda x: np.where(x != 0, 1.0, x) + (x > 0),
        (_X,),
    ),
    "cumulative": (
        lambda x: (anp.cumsum(x, 1), lax.cummax(x, 0), anp.cumsum(x[::-1], 0)),
        lambda x: (np.cumsum(x, 1), np.maximum.accumulate(x, 0), np.cumsum(x[::-1], 0)),
        (_X,),
    ),
    "products": (
        lambda x, y: (x @ y.T, x.T @ y, anp.einsum("ij,ij->i", x, y)),
        lambda x, y: (x @ y.T, x.T @ y, (x * y).sum(1)),
        (_X, _Y),
    ),
    "ties": (lambda *xs: lax.sort(xs, num_keys=1), _sorted, (_KEYS, _PLACES)),
    "ties_of_floats": (lambda *xs: lax.sort(xs, num_keys=1), _sorted, (_FLOAT_KEYS, _PLACES)),
    "adding_up": (
        lambda x, i, y: x.at[i].add(y),
        _added,
        (_draw(500), _AT, _draw(4000, seed=4)),
    ),
    "reading": (lambda x, i: x[i], lambda x, i: x[i], (_draw(500, 3), _AT)),
    "convolution": (
        lambda x, y: anp.convolve(x, y, mode="same"),
        lambda x, y: np.convolve(x, y, mode="same"),
        (_draw(3000), _draw(31)),
    ),
}

# ----------------------------------------------------------------- megabytes

_WIDE, _SCALE = _draw(1500, 700, seed=5), _draw(700, seed=6)


def _normalised(x: Any, s: Any) -> Any:
    y = anp.tanh(x * s + 0.5)
    centred = y - anp.mean(y, 1, keepdims=True)
    return centred / anp.sqrt(anp.mean(centred**2, 1, keepdims=True) + 1e-3), anp.sum(y * x, 0)


def _normalised_by_numpy(x: Any, s: Any) -> Any:
    y = np.tanh(x * s + 0.5)
    centred = y - y.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-3), (y * x).sum(0)


def _branches(x: Any, s: Any) -> Any:
    kept = anp.where(x > s, x * 2, anp.clip(x, -0.25, 0.5))
    gate = nn.sigmoid(kept * 3)
    return gate * kept + anp.sign(x), anp.max(gate, 0), anp.sum(x > 0), (kept != 0) * gate


def _branches_by_numpy(x: Any, s: Any) -> Any:
    kept = np.where(x > s, x * 2, np.clip(x, -0.25, 0.5))
    gate = _sigmoid(kept * 3)
    return gate * kept + np.sign(x), gate.max(0), (x > 0).sum(), (kept != 0) * gate


def _steps(x: Any, s: Any) -> Any:
    """Values that others still read after they were results."""
    a = x * s + 1
    b = anp.sin(a)
    c = b - a * 0.5
    total = anp.mean(c, 0)
    return a, c, b * total + c, (c.T + 1)[:5], anp.reshape(a + c, (-1, 2))


def _steps_by_numpy(x: Any, s: Any) -> Any:
    a = x * s + 1
    b = np.sin(a)
    c = b - a * 0.5
    total = c.mean(0)
    return a, c, b * total + c, (c.T + 1)[:5], np.reshape(a + c, (-1, 2))


def _late(x: Any, s: Any) -> Any:
    """Small values are made after large ones have begun, and are read beside them."""
    a = x * s
    weight = anp.sum(s**2) / 100
    shift = anp.cumsum(s)[::-1] / 100
    return (a + 1) * weight + shift, anp.max(a * weight, 1)


def _late_by_numpy(x: Any, s: Any) -> Any:
    a, weight, shift = x * s, (s**2).sum() / 100, np.cumsum(s)[::-1] / 100
    return (a + 1) * weight + shift, (a * weight).max(1)


def _square(x: Any, s: Any) -> Any:
    """As many rows as columns, so that a sum over rows has the length of a column."""
    a = x * s
    column = anp.sum(a, 0) * 0.01 + 1
    return a + column[:, None], column, a * anp.sum(a, 1)[:, None]


def _square_by_numpy(x: Any, s: Any) -> Any:
    a = x * s
    column = a.sum(0) * 0.01 + 1
    return a + column[:, None], column, a * a.sum(1)[:, None]


def _loss(x: Any, s: Any) -> Any:
    return anp.sum(anp.log1p(anp.exp(-(x * s))) * anp.cos(x))


def _slopes_by_numpy(x: Any, s: Any) -> Any:
    inner = x * s
    by_inner = -_sigmoid(-inner) * np.cos(x)
    by_x = by_inner * s - np.log1p(np.exp(-inner)) * np.sin(x)
    return by_x, (by_inner * x).sum(0)


def _half(x: Any, s: Any) -> Any:
    y = x.astype("float16")
    return (
        # What part of the rows adds up to is beyond 16 bits.
        anp.sum(anp.where(anp.arange(1500)[:, None] < 750, y * 0 + 200, y * 0 - 200), 0),
        anp.sum(anp.abs(y) * 0 + 5, 1),
        y * anp.float16(0.5) + y,
    )


def _cube(x: Any, s: Any) -> Any:
    y = anp.exp(-anp.abs(x * s)) + anp.mean(x, (1, 2), keepdims=True)
    return y * anp.max(y, 2, keepdims=True), anp.mean(y, (0, 1)), anp.prod(1 + 0.01 * x[:, 0, 0])


def _cube_by_numpy(x: Any, s: Any) -> Any:
    y = np.exp(-np.abs(x * s)) + x.mean((1, 2), keepdims=True)
    return y * y.max(2, keepdims=True), y.mean((0, 1)), np.prod(1 + 0.01 * x[:, 0, 0])


def _scattered(x: Any, s: Any) -> Any:
    """A division by zero whose branch is not taken, and its gradient."""
    safe = ax.grad(lambda a: anp.sum(anp.where(a == 0, 0.0, 1 / a) * s))(x)
    return anp.where(anp.abs(x) > 0.1, safe, 0.0)


def _scattered_by_numpy(x: Any, s: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.where(np.abs(x) > np.float64(np.float32(0.1)), -s / x**2, 0.0)


PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[..., Any], Arrays]] = {
    "normalised": (_normalised, _normalised_by_numpy, (_WIDE, _SCALE)),
    "branches": (_branches, _branches_by_numpy, (_WIDE, _SCALE)),
    "steps": (_steps, _steps_by_numpy, (_WIDE, _SCALE)),
    "late": (_late, _late_by_numpy, (_WIDE, _SCALE)),
    "square": (_square, _square_by_numpy, (_draw(1024, 1024), _draw(1024, seed=1))),
    "slopes": (lambda x, s: ax.grad(_loss, (0, 1))(x, s), _slopes_by_numpy, (_WIDE, _SCALE)),
    "half": (
        _half,
        lambda x, s: (np.zeros(700), np.full(1500, 3500.0), x.astype("f2") * 1.5),
        (_WIDE, _SCALE),
    ),
    "cube": (_cube, _cube_by_numpy, (_draw(900, 20, 50, seed=7), _draw(20, 50))),
    "scattered": (_scattered, _scattered_by_numpy, (_WIDE, _SCALE)),
    "softmax": (
        lambda x, s: nn.softmax(x * s, axis=1),
        lambda x, s: _softmax(x * s),
        (_WIDE, _SCALE),
    ),
}


def items(backend: str) -> Iterator[Item]:
    """Operations on thousands of elements at the level "core", megabytes at "full"."""
    for subject, table, core in (("operations", OPERATIONS, True), ("programs", PROGRAMS, False)):
        for name in table:
            yield item(
                "large", subject, check, subject, name, backend, detail=name, owed=core, core=core
            )
    yield item("large", "random_bits", blocks_of_random_bits, backend)


def check(subject: str, name: str, backend: str) -> None:
    """Eagerly and compiled, twice, it gives what float64 gives, within sums of roundings."""
    function, reference, given = {"operations": OPERATIONS, "programs": PROGRAMS}[subject][name]
    wide = [a.astype(np.float64) if a.dtype.kind == "f" else a for a in given]
    wanted = reference(*wide)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    with chosen(backend):
        xs = [ax.device_put(a, backend) for a in given]
        compiled = ax.jit(function)
        eager, first = function(*xs), compiled(*xs)
        # The first results are looked at after a run on other operands, and before the next.
        for how, run in (("eager", eager), ("compiled", first), ("compiled again", None)):
            if how == "compiled":
                compiled(*(x + x if x.dtype.kind == "f" else x for x in xs))
            found = compiled(*xs) if run is None else run
            found = found if isinstance(found, tuple | list) else (found,)
            assert len(found) == len(wanted), f"{name}, {how}: {len(found)} results"
            for i, (f, w) in enumerate(zip(found, wanted, strict=True)):
                near(np.asarray(f), np.asarray(w), f"{subject} {name!r}, {how}, result {i}")


def near(got: np.ndarray, wanted: np.ndarray, what: str) -> None:
    """Raises where they differ by more than a few roundings of sums of a thousand terms."""
    assert got.shape == wanted.shape, f"{what}: shape {got.shape}, expected {wanted.shape}"
    if got.dtype.kind != "f":
        assert np.array_equal(got, wanted), f"{what}: {(got != wanted).sum()} elements differ"
        return
    eps = float(np.finfo(got.dtype).eps)
    terms = 1000 if eps < 1e-5 else 4  # narrow sums here are exact
    allowed = eps * (terms + min(terms, 32) * np.abs(wanted))
    wrong = ~((np.abs(got - wanted) <= allowed) | (np.isnan(got) & np.isnan(wanted)))
    assert not wrong.any(), (
        f"{what}: {wrong.sum()} of {wrong.size} elements differ; the first is at "
        f"{tuple(int(i[0]) for i in np.nonzero(np.atleast_1d(wrong)))}"
    )


def blocks_of_random_bits(backend: str) -> None:
    """Many random bits are those of counters one after the other, in every part of the array."""
    n = 300_000
    with chosen(backend):
        key = ax.random.key(7)
        words = np.asarray(ax.jit(lambda k: ax.random.bits(k, (n,)))(key))
        eager = np.asarray(ax.random.bits(key, (n,)))
        assert np.array_equal(words, eager), "compiled bits differ from eager ones"
    counts = np.unique(words, return_counts=True)[1]
    # Of n words some n²/2³³ pairs are equal by chance; 64 would be a miracle.
    assert (counts - 1).sum() < 64, f"{(counts - 1).sum()} of {n} random words come twice"
