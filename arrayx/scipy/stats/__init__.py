"""Densities of distributions, and ranks: `ax.scipy.stats`."""

from arrayx.scipy.stats.bounded import beta, dirichlet, truncnorm, uniform
from arrayx.scipy.stats.circle import vonmises, wrapcauchy
from arrayx.scipy.stats.counts import (
    bernoulli,
    betabinom,
    binom,
    geom,
    multinomial,
    nbinom,
    poisson,
)
from arrayx.scipy.stats.kernel_density import gaussian_kde
from arrayx.scipy.stats.line import (
    cauchy,
    gennorm,
    gumbel_l,
    gumbel_r,
    laplace,
    logistic,
    norm,
    t,
)
from arrayx.scipy.stats.multivariate import multivariate_normal
from arrayx.scipy.stats.ranks import mode, rankdata, sem
from arrayx.scipy.stats.tails import chi2, expon, gamma, pareto

__all__ = [
    "bernoulli",
    "beta",
    "betabinom",
    "binom",
    "cauchy",
    "chi2",
    "dirichlet",
    "expon",
    "gamma",
    "gaussian_kde",
    "gennorm",
    "geom",
    "gumbel_l",
    "gumbel_r",
    "laplace",
    "logistic",
    "mode",
    "multinomial",
    "multivariate_normal",
    "nbinom",
    "norm",
    "pareto",
    "poisson",
    "rankdata",
    "sem",
    "t",
    "truncnorm",
    "uniform",
    "vonmises",
    "wrapcauchy",
]
