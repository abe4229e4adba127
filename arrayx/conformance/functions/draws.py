"""Rows of `arrayx.random`: what all backends must agree on for one key.

Laws and JAX's numbers are tested in the project's own tests; here the parameters that the draws
are differentiable in are operands, and all else is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np

from arrayx import random
from arrayx.conformance.case import Case, Operand
from arrayx.conformance.public import public
from arrayx.numpy.promotion import placed_like

WIDE = ("float64", "float32")
POSITIVE = (0.5, 3.0)


def keyed(function: Any, *operands: Any, **params: Any) -> Any:
    """Calls a function with a key in front, on the device of the operands."""
    with placed_like(operands[0]) if operands else nullcontext():
        key = random.key(7)
    return function(key, *operands, **params)


def words(function: Any, *operands: Any, **params: Any) -> Any:
    """`keyed`, of a function that gives keys: their words."""
    return random.key_data(function(random.key(7), *operands, **params))


def draws(name: str, params: Mapping[str, Any], *domains: Any, **facts: Any) -> Case:
    """The row of a function of a key, whose operands are drawn from these intervals."""
    operands = tuple(Operand((3,), domain=d) for d in domains)
    facts.setdefault("form", keyed)
    facts.setdefault("dtypes", WIDE if domains else ("float32",))
    facts.setdefault("ulps", 256)
    return public(f"random.{name}", operands, params, compare=False, special=False, **facts)


FOUR: dict[str, Any] = {"shape": (4,)}
CHANCES = np.array([0.2, 0.3, 0.5], np.float32)
COVARIANCE = np.array([[2, 0.5], [0.5, 1]], np.float32)
# The parameters of draws by rejection are no operands: their derivative keeps the probability,
# which is not what differences of the draws give.

CASES = (
    draws("key", {"seed": 5}, form=lambda f, seed: random.key_data(f(seed))),
    draws("PRNGKey", {"seed": 5}, form=lambda f, seed: f(seed)),
    draws("key_data", {}),
    draws("wrap_key_data", {}, form=lambda f: random.key_data(f(random.key_data(random.key(3))))),
    draws("split", {"num": 3}, form=words),
    draws("fold_in", {"data": 9}, form=words),
    draws("clone", {}, form=words),
    draws("bits", FOUR),
    draws("uniform", FOUR),
    draws("normal", FOUR),
    draws("truncated_normal", {}, (-2, -1), (1, 2), dtypes=("float32",)),
    draws("exponential", FOUR),
    draws("gumbel", FOUR),
    draws("laplace", FOUR),
    draws("cauchy", FOUR),
    draws("logistic", FOUR),
    draws("lognormal", {}, POSITIVE, dtypes=("float32",)),
    draws("pareto", {}, POSITIVE, dtypes=("float32",)),
    draws("rayleigh", {}, POSITIVE, dtypes=("float32",)),
    draws("weibull_min", {"shape": (3,)}, POSITIVE, POSITIVE, dtypes=("float32",)),
    draws("triangular", {}, (-2, -1), (-0.5, 0.5), (1, 2), dtypes=("float32",)),
    draws("wald", {}, POSITIVE, dtypes=("float32",)),
    draws("maxwell", FOUR),
    draws("double_sided_maxwell", {"loc": 1.0, "scale": 2.0, "shape": (4,)}),
    draws("geometric", {"p": 0.3, "shape": (4,)}),
    draws("bernoulli", {"p": 0.3, "shape": (4,)}),
    draws("rademacher", FOUR),
    draws("randint", {"shape": (4,), "minval": -3, "maxval": 90}),
    draws("permutation", {"x": 7}),
    draws("choice", {"a": 9, "shape": (4,)}),
    draws(
        "categorical",
        {"shape": (3,)},
        form=lambda f, shape: f(random.key(7), np.array([0.0, 1.0, 2.0], np.float32), shape=shape),
    ),
    draws("gamma", {"a": 0.7, "shape": (4,)}),
    draws("loggamma", {"a": 0.01, "shape": (4,)}),
    draws("chisquare", {"df": 3.0, "shape": (4,)}),
    draws("f", {"dfnum": 3.0, "dfden": 5.0, "shape": (4,)}),
    draws("t", {"df": 3.0, "shape": (4,)}),
    draws("beta", {"a": 0.5, "b": 2.0, "shape": (4,)}),
    draws(
        "dirichlet",
        {"shape": (3,)},
        form=lambda f, shape: f(random.key(7), np.array([0.5, 1.0, 2.0], np.float32), shape),
    ),
    draws("generalized_normal", {"p": 3.0, "shape": (4,)}),
    draws("ball", {"d": 3, "p": 2.0, "shape": (2,)}),
    draws("poisson", {"lam": 3.0, "shape": (4,)}),
    draws("poisson", {"lam": 30.0, "shape": (4,)}, label="many"),
    draws("poisson", {"lam": 1e6, "shape": (200,)}, label="very many"),
    draws("binomial", {"n": 10, "p": 0.3, "shape": (4,)}),
    draws("binomial", {"n": 100, "p": 0.3, "shape": (4,)}, label="many"),
    draws(
        "multinomial",
        {"n": 20, "shape": (2, 3)},
        form=lambda f, n, shape: f(
            random.key(7), n, np.array([0.2, 0.3, 0.5], np.float32), shape=shape
        ),
    ),
    draws(
        "multivariate_normal",
        {"shape": (3,)},
        form=lambda f, shape: f(
            random.key(7),
            np.array([1, 2], np.float32),
            np.array([[2, 0.5], [0.5, 1]], np.float32),
            shape,
        ),
    ),
    draws("orthogonal", {"n": 3, "shape": (2,)}, ulps=1024),
)
