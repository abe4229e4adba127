"""Rows of `arrayx.scipy.special`; the references are SciPy's functions unless others are given."""

from __future__ import annotations

from typing import Any

import numpy as np

from arrayx.conformance.case import COMPLEX, Case, Operand
from arrayx.conformance.public import public
from arrayx.lazy import lazy

scipy_special = lazy("scipy.special")
WIDE = ("float64", "float32")
SHAPE = (2, 3)


def row(name: str, *domains: tuple[float, float], **facts: Any) -> Case:
    """The row of a function of so many real operands, each from its own interval."""
    operands = tuple(Operand(SHAPE, domain=d) for d in domains)
    facts.setdefault("special", False)
    facts.setdefault("ulps", 32)
    facts.setdefault("scale", _scale(name, facts.get("reference")))
    return public(f"scipy.special.{name}", operands, **facts)


def _scale(name: str, reference: Any) -> Any:
    """Errors relative to the result, or to 1 where it is smaller: zeros are crossed."""

    def scale(*arrays: Any, **params: Any) -> Any:
        function = reference or getattr(scipy_special, name)
        results = function(*arrays, **params)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(1 + np.abs(r) for r in results)

    return scale


def _bessel_jn(z: Any, v: int, n_iter: int) -> Any:
    return np.stack([scipy_special.jv(k, z) for k in range(v + 1)])


def _numbers(n: int) -> Any:
    numbers = scipy_special.bernoulli(n)
    numbers[1] = -0.5
    return numbers.astype(np.float32)


POSITIVE = (0.3, 5.0)
UNIT = (0.05, 0.95)

CASES = (
    row("erf", (-2, 2)),
    row("erfc", (-2, 2)),
    row("erfinv", (-0.9, 0.9)),
    row("erfcinv", (0.05, 1.95)),
    *(
        public(
            f"scipy.special.{name}",
            (SHAPE,),
            dtypes=COMPLEX,
            domain=(-2, 2),
            ulps=128,
            scale=_scale(name, None),
            special=False,
            label="complex",
        )
        for name in ("erf", "erfc")
    ),
    row("erfcx", (-2, 6)),
    row("dawsn", (-4, 4)),
    row("gamma", POSITIVE, ulps=64),
    row("gammaln", POSITIVE),
    row("loggamma", POSITIVE),
    row("gammasgn", (-3, 3), differentiable=()),
    row("digamma", POSITIVE, scale=lambda x: 3 + 1 / x, covers=("scipy.special.psi",)),
    row("rgamma", (-3.5, 5), ulps=64),
    public(
        "scipy.special.polygamma",
        (Operand(SHAPE, domain=POSITIVE),),
        {"n": 1},
        form=lambda f, x, n: f(n, x),
        ulps=32,
        special=False,
    ),
    row("gammainc", POSITIVE, POSITIVE),
    row("gammaincc", POSITIVE, POSITIVE),
    row("beta", POSITIVE, POSITIVE, ulps=64),
    row("betaln", POSITIVE, POSITIVE),
    row("betainc", POSITIVE, POSITIVE, UNIT),
    row("multigammaln", (3, 6), params={"d": 3}),
    row(
        "factorial",
        (0.5, 4),
        params={"exact": False},
        ulps=64,
        reference=lambda n, exact: scipy_special.gamma(n + 1),
    ),
    row("comb", (4, 7), (0.5, 3), ulps=128),
    row("poch", POSITIVE, (0.5, 2), ulps=128),
    row("zeta", (1.5, 6), POSITIVE),
    row("expit", (-4, 4)),
    row("logit", UNIT),
    row("ndtr", (-3, 3)),
    row("ndtri", (0.1, 0.9)),
    row("log_ndtr", (-8, 3)),
    row("entr", POSITIVE),
    row("rel_entr", POSITIVE, POSITIVE),
    row("kl_div", POSITIVE, POSITIVE),
    row("xlogy", POSITIVE, POSITIVE),
    row("xlog1py", POSITIVE, POSITIVE),
    row("boxcox", POSITIVE, POSITIVE, ulps=64),
    row("boxcox1p", POSITIVE, POSITIVE, ulps=64),
    row("i0", (-4, 4)),
    row("i0e", (-4, 4)),
    row("i1", (-4, 4)),
    row("i1e", (-4, 4)),
    row("j0", (-12, 12)),
    row("j1", (-12, 12)),
    row("y0", (0.3, 12)),
    row("y1", (0.3, 12)),
    *(
        row(name, (0, 14), (0.5, 30), differentiable=(1,), ulps=ulps, scale=scale, **covers)
        for name, ulps, scale, covers in (
            ("jv", 64, lambda v, x: 1 + 0 * x, {"covers": ("scipy.special.jn",)}),
            ("yv", 64, lambda v, x: 1 + np.abs(scipy_special.yv(v, x)), {}),
            # SciPy's own error is up to 6e-14, as rows against mpmath show.
            ("ive", 512, lambda v, x: scipy_special.ive(v, x), {}),
        )
    ),
    row(
        "iv",
        (0, 14),
        (0.5, 9),
        differentiable=(1,),
        ulps=512,
        scale=lambda v, x: 0.1 + scipy_special.iv(v, x),
    ),
    public(
        "scipy.special.yn",
        (Operand(SHAPE, dtype="int32", domain=(-4, 9)), Operand(SHAPE, domain=(0.5, 12))),
        dtypes=WIDE,
        ulps=64,
        scale=lambda n, x: 1 + np.abs(scipy_special.yn(n, x)),
        special=False,
    ),
    row("exp1", (0.1, 4)),
    row("expi", (0.5, 8)),
    public(
        "scipy.special.expn",
        (
            Operand(SHAPE, dtype="int32", domain=(0, 6)),
            Operand(SHAPE, dtype="float64", domain=(0.1, 4)),
        ),
        dtypes=("float64",),
        ulps=32,
        special=False,
    ),
    row("owens_t", (-2, 2), (-2, 2)),
    row("sici", (0.3, 7), ulps=64),
    row("fresnel", (-2.5, 2.5), ulps=64),
    row("spence", (0.1, 4)),
    row("hyp1f1", (0.3, 3), (0.5, 4), (-3, 3), ulps=64),
    row("hyp2f1", (0.3, 2), (0.3, 2), (0.5, 4), (-0.9, 0.7), ulps=64),
    public(
        "scipy.special.wofz",
        (SHAPE,),
        dtypes=COMPLEX,
        domain=(-2, 2),
        ulps=64,
        scale=lambda z: 1 + np.abs(scipy_special.wofz(z)),
        special=False,
    ),
    public("scipy.special.bernoulli", (), {"n": 12}, _numbers, ("float32",), ulps=4),
    row("bessel_jn", (-6, 6), params={"v": 3, "n_iter": 40}, reference=_bessel_jn, ulps=64),
    public(
        "scipy.special.sph_harm_y",
        (
            Operand((4,), dtype="int32", values=[0, 1, 3, 4]),
            Operand((4,), dtype="int32", values=[0, -1, 2, -4]),
            Operand((4,), domain=(0.2, 2.8)),
            Operand((4,), domain=(0, 6)),
        ),
        {"n_max": 4},
        reference=lambda n, m, theta, phi, n_max: scipy_special.sph_harm_y(n, m, theta, phi),
        dtypes=WIDE,
        ulps=64,
        scale=lambda n, m, theta, phi, n_max: np.ones(4),
        special=False,
    ),
    row("logsumexp", (-3, 3)),
    row("softmax", (-3, 3), params={"axis": -1}),
    row("log_softmax", (-3, 3), params={"axis": -1}),
    *(
        public(
            f"lax.{name}",
            tuple(Operand(SHAPE, domain=d) for d in domains),
            reference=reference,
            ulps=32,
            scale=lambda *xs, reference=reference: 1 + np.abs(reference(*xs)),
            special=False,
        )
        for name, reference, domains in (
            ("igamma", lambda a, x: scipy_special.gammainc(a, x), (POSITIVE, POSITIVE)),
            ("igammac", lambda a, x: scipy_special.gammaincc(a, x), (POSITIVE, POSITIVE)),
            ("betainc", lambda a, b, x: scipy_special.betainc(a, b, x), (POSITIVE, POSITIVE, UNIT)),
            ("zeta", lambda s, q: scipy_special.zeta(s, q), ((1.5, 6), POSITIVE)),
        )
    ),
    public(
        "lax.polygamma",
        (Operand((3,), values=[0.0, 1.0, 2.0]), Operand((3,), domain=POSITIVE)),
        reference=scipy_special.polygamma,
        dtypes=WIDE,
        differentiable=(1,),
        ulps=128,
        scale=lambda m, x: 1 + np.abs(scipy_special.polygamma(m, x)),
        special=False,
    ),
    *(
        public(
            f"lax.{name}",
            (Operand(SHAPE, domain=POSITIVE), Operand(SHAPE, domain=POSITIVE)),
            compare=False,
            dtypes=WIDE,
            ulps=512,
            special=False,
        )
        for name in ("igamma_grad_a", "random_gamma_grad")
    ),
)
