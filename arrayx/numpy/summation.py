"""Einstein's convention for sums of products."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import Array
from arrayx.lazy import lazy
from arrayx.numpy.composing import composed
from arrayx.numpy.contraction import (
    contracted,
)
from arrayx.numpy.diagonals import diagonal
from arrayx.numpy.naming import refuse_out
from arrayx.numpy.promotion import as_array, as_type, promoted_arrays
from arrayx.numpy.reductions import sum
from arrayx.numpy.shapes import reshape, transpose

opt_einsum = lazy("opt_einsum")


@composed
def einsum(
    subscripts: Any,
    /,
    *operands: Any,
    out: None = None,
    optimize: Any = "optimal",
    precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:
    """Sums of products by Einstein's convention: `"ij,jk->ik"` is a matrix product.

    More than two operands are contracted in the cheapest order that opt_einsum finds.

    >>> import arrayx.numpy as anp
    >>> anp.einsum("ij,j->i", anp.eye(2), anp.array([3.0, 4.0])).tolist()
    [3.0, 4.0]
    """
    refuse_out(out, "einsum")
    if not isinstance(subscripts, str):
        operands = (subscripts, *operands)
        text, out_text, operands = opt_einsum.parser.parse_einsum_input(
            [o if isinstance(o, Sequence) else as_array(o, "einsum") for o in operands]
        )
        subscripts = f"{text}->{out_text}"
    arrays = [as_array(o, "einsum", f"operands[{i}]") for i, o in enumerate(operands)]
    try:
        text, out_text, _ = opt_einsum.parser.parse_einsum_input(
            [subscripts, *(_Shaped(a.shape) for a in arrays)]
        )
    except ValueError as error:
        raise errors.ArgumentError(f"einsum {subscripts!r}: {error}") from None
    names = [f"operands[{i}]" for i in range(len(arrays))]
    arrays = promoted_arrays(arrays, "einsum", names)
    terms = text.split(",")
    sizes: dict[str, int] = {}
    for term, x in zip(terms, arrays, strict=True):
        if len(term) != x.ndim:
            raise errors.ShapeError(f"einsum {subscripts!r}: {term!r} does not fit {x.shape}")
        for letter, n in zip(term, x.shape, strict=True):
            if sizes.setdefault(letter, n) != n:
                if 1 not in (n, sizes[letter]):
                    raise errors.ShapeError(
                        f"einsum {subscripts!r}: {letter!r} has lengths {sizes[letter]} and {n}"
                    )
                sizes[letter] = max(n, sizes[letter])
    work = [_plain_term(t, x, sizes) for t, x in zip(terms, arrays, strict=True)]
    for pair in _order(work, out_text, sizes, optimize):
        picked = [work.pop(i) for i in sorted(pair, reverse=True)]
        rest = set(out_text).union(*(t for t, _ in work))
        work.append(_together(picked[::-1], rest, precision, preferred_element_type))
    (term, x) = work[0]
    term, x = _summed(term, x, set(out_text))
    result = transpose(x, tuple(term.index(c) for c in out_text)) if term != out_text else x
    return (
        result
        if preferred_element_type is None
        else as_type(result, dtypes.as_dtype(preferred_element_type))
    )


class _Shaped:
    """What opt_einsum needs to know of an operand."""

    def __init__(self, shape: Any) -> None:
        self.shape = shape
        self.ndim = len(shape)


def _order(work: Any, out: str, sizes: dict[str, int], optimize: Any) -> Any:
    count = len(work)
    if count == 1:
        return []
    if count == 2:
        return [(0, 1)]
    if optimize is False:
        return [(0, 1)] + [(0, count - 2 - k) for k in range(count - 2)]
    if isinstance(optimize, list | tuple):
        return [p for p in optimize if not isinstance(p, str)]
    kind = "optimal" if optimize is True else optimize
    if kind == "optimal" and count > 6:
        kind = "auto"
    path, _ = opt_einsum.contract_path(
        ",".join(t for t, _ in work) + "->" + out,
        *[tuple(sizes[c] for c in t) for t, _ in work],
        shapes=True,
        optimize=kind,
    )
    return path


def _plain_term(term: str, x: Array, sizes: dict[str, int]) -> tuple[str, Array]:
    """An operand without repeated letters: those are its diagonals."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            i = term.index(letter)
            j = term.index(letter, i + 1)
            x = diagonal(x, 0, i, j)
            term = term[:i] + term[i + 1 : j] + term[j + 1 :] + letter
    # Length 1 stands for any: it is left out where another operand is longer.
    gone = [i for i, c in enumerate(term) if x.shape[i] != sizes[c]]
    if gone:
        x = reshape(x, tuple(n for i, n in enumerate(x.shape) if i not in gone))
        term = "".join(c for i, c in enumerate(term) if i not in gone)
    return term, x


def _summed(term: str, x: Array, keep: set[str]) -> tuple[str, Array]:
    gone = tuple(i for i, c in enumerate(term) if c not in keep)
    if not gone:
        return term, x
    return "".join(c for c in term if c in keep), sum(x, gone, x.dtype)


def _together(
    picked: list[tuple[str, Array]], rest: set[str], precision: Any, preferred: Any
) -> tuple[str, Array]:
    if len(picked) == 1:
        return _summed(*picked[0], rest)
    (s, x), (t, y), *more = picked
    both = rest.union(*(m for m, _ in more))
    s, x = _summed(s, x, both | set(t))
    t, y = _summed(t, y, both | set(s))
    shared = [c for c in s if c in t]
    batch = [c for c in shared if c in both]
    summed = [c for c in shared if c not in both]
    result = contracted(
        x,
        y,
        (tuple(s.index(c) for c in summed), tuple(t.index(c) for c in summed)),
        (tuple(s.index(c) for c in batch), tuple(t.index(c) for c in batch)),
        precision,
        preferred,
    )
    term = "".join([*batch, *(c for c in s if c not in shared), *(c for c in t if c not in shared)])
    if more:
        return _together([(term, as_type(result, x.dtype)), *more], rest, precision, preferred)
    return term, result


def einsum_path(
    subscripts: Any, /, *operands: Any, optimize: Any = "auto"
) -> tuple[list[tuple[int, ...]], Any]:
    """The order in which `einsum` would contract its operands, and a report on its cost.

    >>> import arrayx.numpy as anp
    >>> x = anp.ones((2, 2))
    >>> anp.einsum_path("ij,jk,k->i", x, x, anp.ones(2))[0]
    [(1, 2), (0, 1)]
    """
    if isinstance(optimize, bool):
        optimize = "optimal" if optimize else [tuple(range(len(operands)))]
    shapes = [
        o if isinstance(o, Sequence) else np.broadcast_to(np.float32(0), np.shape(o))
        for o in operands
    ]
    if isinstance(subscripts, str):
        return opt_einsum.contract_path(subscripts, *shapes, optimize=optimize)  # type: ignore[no-any-return]
    first = np.broadcast_to(np.float32(0), np.shape(subscripts))
    return opt_einsum.contract_path(first, *shapes, optimize=optimize)  # type: ignore[no-any-return]
