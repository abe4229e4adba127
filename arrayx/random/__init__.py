"""Random numbers from explicit keys: `ax.random`.

A key is made from a seed and split for every use; the same key gives the same numbers, on every
backend, compiled or not, alone or under vmap.
"""

from arrayx.random.continuous import (
    cauchy,
    exponential,
    gumbel,
    laplace,
    logistic,
    normal,
    truncated_normal,
)
from arrayx.random.keys import (
    PRNGKey,
    clone,
    fold_in,
    key,
    key_data,
    key_impl,
    split,
    wrap_key_data,
)
from arrayx.random.sampling import categorical, choice, permutation
from arrayx.random.uniform import bernoulli, bits, rademacher, randint, uniform

__all__ = [
    "PRNGKey",
    "bernoulli",
    "bits",
    "categorical",
    "cauchy",
    "choice",
    "clone",
    "exponential",
    "fold_in",
    "gumbel",
    "key",
    "key_data",
    "key_impl",
    "laplace",
    "logistic",
    "normal",
    "permutation",
    "rademacher",
    "randint",
    "split",
    "truncated_normal",
    "uniform",
    "wrap_key_data",
]
