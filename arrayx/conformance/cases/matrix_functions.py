"""Rows for functions of matrices and for equations between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

from arrayx.conformance.cases.linalg import far_from_singular, matrices, regular
from arrayx.conformance.cases.reflections import each
from arrayx.conformance.cases.spectral import hermitian
from arrayx.control import matrix_functions, sylvester
from arrayx.primitives import polar
from arrayx.primitives.matrices import of_lower

UNIT: dict[str, Any] = {"domain": (-1.0, 1.0)}
SHAPES = (("square", (3, 3)), ("stack", (2, 2, 2)))


def frechet(a: Any, e: Any, *, max_squarings: int) -> Any:
    batch = np.broadcast_shapes(a.shape[:-2], e.shape[:-2])
    found = [
        scipy.linalg.expm_frechet(a[index], e[index], compute_expm=False)
        for index in np.ndindex(*batch)
    ]
    return np.stack(found).reshape(a.shape)


def solutions(a: Any, b: Any, c: Any) -> Any:
    return solutions_of(far_from_singular(a), far_from_singular(b), c)


def hermitian_solutions(h: Any, c: Any) -> Any:
    h = far_from_singular(hermitian(h))
    return solutions_of(h, h, c)


def solutions_of(a: Any, b: Any, c: Any) -> Any:
    found = [
        scipy.linalg.solve_sylvester(a[index], b[index], c[index])
        for index in np.ndindex(*c.shape[:-2])
    ]
    return np.stack(found).reshape(c.shape)


CASES = (
    *(
        matrices(
            "expm",
            matrix_functions.expm,
            (shape,),
            {"max_squarings": 16},
            lambda x, max_squarings: scipy.linalg.expm(x),
            label=label,
            ulps=1000.0,
        )
        for label, shape in SHAPES
    ),
    matrices(
        "expm_frechet",
        matrix_functions.expm_frechet,
        ((2, 2), (2, 2)),
        {"max_squarings": 16},
        frechet,
        ulps=1000.0,
    ),
    *(
        matrices(
            "square_root_of_matrix",
            lambda x: matrix_functions.square_root_of_matrix(regular(x)),
            (shape,),
            {},
            lambda x: np.asarray(
                each(lambda m: (scipy.linalg.sqrtm(m).astype(complex),))(far_from_singular(x))[0]
            ),
            label=label,
            ulps=1000.0,
            **UNIT,
        )
        for label, shape in SHAPES
    ),
    *(
        matrices(
            "sylvester",
            lambda a, b, c: sylvester.sylvester(regular(a), regular(b), c),
            operands,
            {},
            solutions,
            label=label,
            ulps=1000.0,
            **UNIT,
        )
        for label, operands in (
            ("wide", ((2, 2), (3, 3), (2, 3))),
            ("stack", ((2, 2, 2), (2, 1, 1), (2, 2, 1))),
        )
    ),
    matrices(
        "lyapunov",
        lambda h, c: polar.lyapunov(regular(of_lower(h)), c),
        ((3, 3), (3, 3)),
        {},
        hermitian_solutions,
        ulps=1000.0,
        **UNIT,
    ),
    *(
        matrices(
            "polar_factor",
            polar.polar_factor,
            (shape,),
            {},
            lambda x: each(lambda m: (scipy.linalg.polar(m)[0],))(x)[0],
            ulps=5000.0,
            label=label,
        )
        for label, shape in (
            ("square", (3, 3)),
            ("tall", (4, 2)),
            ("wide", (2, 3)),
            ("stack", (2, 3, 2)),
        )
    ),
)
