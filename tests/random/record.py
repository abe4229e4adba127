"""Writes recorded.json: what JAX gives for the expressions below.

Run it with a Python that has JAX: `python tests/random/record.py`.  The tests evaluate the same
expressions with arrayx, so the table stands here once.  With `--missing` only what is not yet
recorded is computed.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

# Expression → how many units in the last place arrayx may differ; 0 is "the same bits".
CASES = {
    # keys
    "key_data(key(42))": 0,
    "key_data(key(-1))": 0,
    "key_data(key(2**40 + 5))": 0,
    "key_data(key(-(2**63)))": 0,
    "key_data(key(2**63 - 1))": 0,
    "key_data(key(True))": 0,
    "key_data(key(np.int8(-3)))": 0,
    "key_data(key(np.int64(2**40 + 5)))": 0,
    "key_data(key(np.uint64(2**63 + 7)))": 0,
    "PRNGKey(7)": 0,
    "key_data(split(key(42)))": 0,
    "key_data(split(key(42), 5))": 0,
    "key_data(split(key(42), (2, 3)))": 0,
    "key_data(split(key(42), 0))": 0,
    "split(PRNGKey(42), 3)": 0,
    "key_data(fold_in(key(42), 0))": 0,
    "key_data(fold_in(key(42), 2**32 - 1))": 0,
    "key_data(fold_in(key(42), np.int32(-1)))": 0,
    "key_data(fold_in(split(key(1))[1], 123456789))": 0,
    "fold_in(PRNGKey(42), 3)": 0,
    "key_data(wrap_key_data(np.arange(6, dtype=np.uint32).reshape(3, 2)))": 0,
    # bits
    "bits(key(0))": 0,
    "bits(key(0), (5,))": 0,
    "bits(key(0), (2, 3), np.uint8)": 0,
    "bits(key(0), (2, 3), np.uint16)": 0,
    "bits(key(0), (2, 3), np.uint32)": 0,
    "bits(key(3), (0, 2))": 0,
    "bits(PRNGKey(3), (4,))": 0,
    "bits(key(9), (300, 500), np.uint32)[::43, ::99]": 0,
    # uniform
    "uniform(key(1), (6,))": 0,
    "uniform(key(1), (2, 3), np.float32)": 0,
    "uniform(key(1), (6,), np.float16)": 0,
    "uniform(key(1), (6,), 'bfloat16')": 0,
    "uniform(key(1), (6,), minval=-1.0, maxval=3.0)": 2,
    "uniform(key(1), (6,), minval=0.3)": 2,
    "uniform(key(1), (2, 3), minval=np.float32([0, 1, 2]), maxval=np.float32([[3], [9]]))": 4,
    "uniform(key(1), (3,), minval=2.0, maxval=1.0)": 0,
    # randint
    "randint(key(2), (8,), 0, 10)": 0,
    "randint(key(2), (8,), -5, 1000000)": 0,
    "randint(key(2), (8,), 0, 2**31 - 1)": 0,
    "randint(key(2), (8,), 0, 64)": 0,
    "randint(key(2), (8,), -(2**31), 2**31 - 1)": 0,
    "randint(key(2), (8,), 5, 2)": 0,
    "randint(key(2), (8,), 5, 6)": 0,
    "randint(key(2), (8,), 0, 256, np.uint8)": 0,
    "randint(key(2), (8,), 0, 300, np.uint8)": 0,
    "randint(key(2), (8,), 250, 300, np.uint8)": 0,
    "randint(key(2), (8,), -7, 100, np.uint8)": 0,
    "randint(key(2), (8,), -128, 128, np.int8)": 0,
    "randint(key(2), (8,), 0, 200, np.int8)": 0,
    "randint(key(2), (8,), -100, 1000, np.int16)": 0,
    "randint(key(2), (8,), 3, 70000, np.uint32)": 0,
    "randint(key(2), (2, 3), np.array([0, 5, 9], np.int32), np.array([[6], [50]], np.int32))": 0,
    "randint(key(2), (3,), np.array([0, 250, 9], np.int32), np.array([256, 256, 3], np.int32), "
    "np.uint8)": 0,
    "randint(key(2), (3,), np.uint8([0, 200, 9]), np.uint8([255, 255, 3]), np.int8)": 0,
    "randint(key(2), (4,), np.float32(1.7), 9)": 0,
    # coins
    "bernoulli(key(3), shape=(12,))": 0,
    "bernoulli(key(3), 0.2, (12,))": 0,
    "bernoulli(key(3), np.float32([0, 0.5, 1]))": 0,
    "bernoulli(key(3), np.float32([0.2, 0.8]), (3, 2))": 0,
    "bernoulli(key(3), 0.4, (12,), mode='high')": 0,
    "rademacher(key(3), (9,))": 0,
    "rademacher(key(3), (5,), np.float32)": 0,
    # sets
    "permutation(key(4), 7)": 0,
    "permutation(key(4), 1)": 0,
    "permutation(key(4), 0)": 0,
    "permutation(key(4), 5000)[::499]": 0,
    "permutation(key(4), np.float32([3, 1, 4, 1, 5]))": 0,
    "permutation(key(4), np.arange(12, dtype=np.int32).reshape(4, 3))": 0,
    "permutation(key(4), np.arange(12, dtype=np.int32).reshape(4, 3), axis=1)": 0,
    "permutation(key(4), np.arange(12, dtype=np.int32).reshape(4, 3), axis=-1)": 0,
    "permutation(key(4), np.arange(12, dtype=np.int32).reshape(4, 3), 1, independent=True)": 0,
    "choice(key(5), 10)": 0,
    "choice(key(5), 10, (2, 3))": 0,
    "choice(key(5), 10, (2, 3), replace=False)": 0,
    "choice(key(5), np.float32([2, 3, 5, 7]), (5,))": 0,
    "choice(key(5), np.arange(12, dtype=np.int32).reshape(3, 4), (2, 2), axis=1)": 0,
    "choice(key(5), np.arange(12, dtype=np.int32).reshape(4, 3), (2,), replace=False)": 0,
    "choice(key(5), 4, (9,), p=np.float32([0.1, 0.2, 0.3, 0.4]))": 0,
    "choice(key(5), 5, (40,), p=np.float32([0.1, 0, 0.3, 0, 0.6]))": 0,
    "choice(key(5), 4, (3,), replace=False, p=np.float32([0.1, 0.2, 0.3, 0.4]))": 0,
    "choice(key(5), np.int32([9, 8, 7, 6]), (3,), p=np.float32([1, 2, 3, 4]))": 0,
    "categorical(key(6), np.log(np.float32([0.1, 0.2, 0.7])), shape=(9,))": 0,
    "categorical(key(6), np.arange(12, dtype=np.float32).reshape(3, 4) % 5)": 0,
    "categorical(key(6), np.arange(12, dtype=np.float32).reshape(3, 4) % 5, axis=0)": 0,
    "categorical(key(6), np.arange(12, dtype=np.float32).reshape(3, 4) % 5, shape=(2, 3))": 0,
    "np.asarray("
    "categorical(key(6), np.arange(6, dtype=np.float32), shape=(4,), replace=False)"
    ", np.int32)": 0,
    "np.asarray("
    "categorical(key(6), np.zeros((2, 5), np.float32), shape=(3, 2), replace=False)"
    ", np.int32)": 0,
    "np.asarray("
    "categorical(key(6), np.zeros((5, 2), np.float32), 0, (3, 2), replace=False)"
    ", np.int32)": 0,
    "categorical(key(6), np.zeros((2, 5), np.float32), shape=(2,), mode='high')": 0,
    # functions of uniform draws
    "normal(key(7), (9,))": 16,
    "normal(key(7), (3, 3), np.float32)": 16,
    "normal(key(7), (6,), np.float16)": 8,
    "normal(key(7), (6,), 'bfloat16')": 8,
    "normal(key(7), (6,), np.complex64)": 16,
    "truncated_normal(key(7), -1.0, 2.0, (6,))": 32,
    "truncated_normal(key(7), np.float32([-1, 0, 2]), np.float32(3))": 256,
    "exponential(key(8), (6,))": 8,
    "gumbel(key(8), (6,))": 16,
    "gumbel(key(8), (6,), mode='high')": 16,
    "laplace(key(8), (6,))": 64,
    "cauchy(key(8), (6,))": 64,
    "logistic(key(8), (6,))": 16,
    "lognormal(key(9), 0.5, (6,))": 32,
    "lognormal(key(9), np.float32([0.5, 2]))": 32,
    "pareto(key(9), np.float32([0.5, 2]), (3, 2))": 64,
    "rayleigh(key(9), 2.0, (6,))": 16,
    "weibull_min(key(9), 2.0, 3.0, (6,))": 64,
    "triangular(key(9), -1.0, 0.5, 3.0, (6,))": 16,
    "wald(key(9), 2.0, (6,))": 64,
    "maxwell(key(9), (6,))": 32,
    "double_sided_maxwell(key(9), 1.0, np.float32([2, 3]), (3,))": 64,
    "double_sided_maxwell(key(9), 1.0, np.float32([2, 3]))": 64,
    "geometric(key(9), 0.3, (9,))": 0,
    "geometric(key(9), 0.02, (4, 2), np.int16)": 0,
}
# Those with 64-bit defaults alone: JAX has the dtype there only.
WIDE = {
    "bits(key(0), (7,), np.uint64)": 0,
    "bits(key(9), (70001,), np.uint64)[::9999]": 0,
    "uniform(key(1), (6,), np.float64)": 0,
    "randint(key(2), (8,), 0, 10, np.int64)": 0,
    "randint(key(2), (8,), -(2**62), 2**62 + 11)": 0,
    "randint(key(2), (8,), 3, 2**40, np.uint64)": 0,
}
# Those with 32-bit defaults alone, since in 64 bits JAX compiles for minutes.  By rejection: equal
# where both accept the same candidates.
NARROW = {
    "gamma(key(3), 2.5, (4000,))[::200]": 128,
    "gamma(key(3), 0.3, (4000,))[::200]": 256,
    "gamma(key(4), np.float32([0.1, 1, 5, 1e4]), (1000, 4))[::100]": 256,
    "gamma(key(3), np.float32([1e3, 1e6]), (2000, 2))[::200]": 128,
    "loggamma(key(3), 0.01, (4000,))[::200]": 64,
    "chisquare(key(3), 3.0, (2000,))[::200]": 128,
    "f(key(3), 3.0, 5.0, (2000,))[::200]": 128,
    "t(key(3), 3.0, (2000,))[::200]": 128,
    "beta(key(3), 0.5, 2.0, (2000,))[::200]": 256,
    "dirichlet(key(3), np.float32([0.2, 1, 3]), (700,))[::70]": 256,
    "generalized_normal(key(3), 3.0, (2000,))[::200]": 128,
    "ball(key(3), 3, 2.0, (700,))[::70]": 128,
    "poisson(key(3), 3.5, (4000,))[::99]": 0,
    "poisson(key(3), 50.0, (4000,))[::99]": 0,
    "poisson(key(3), 1e4, (20000,))[::199]": 0,
    "poisson(key(0), 1e5, (20000,))[::199]": 0,
    "poisson(key(3), 1e6, (20000,))[::199]": 0,
    "poisson(key(3), np.float32([0, 3, 12, 2e3, 1e8]), (2000, 5))[::99]": 0,
    "binomial(key(3), 10, 0.3, (4000,))[::99]": 0,
    "binomial(key(3), 1000, 0.3, (4000,))[::99]": 0,
    "binomial(key(3), np.float32([0, 5, 40, 100, 1e5]), "
    "np.float32([0.5, 1, 0.9, 0.5, 0.01]), (700, 5))[::70]": 0,
    "binomial(key(3), np.float32([1e4, 1e6, 1e7]), 0.3, (2000, 3))[::99]": 0,
    "multinomial(key(3), 1e6, np.float32([0.1, 0.2, 0.7]), shape=(700, 3))[::70]": 0,
    "multinomial(key(3), 100, np.float32([0.1, 0.2, 0.7]), shape=(700, 3))[::70]": 0,
    "multivariate_normal(key(3), np.zeros(2, np.float32), "
    "np.float32([[2, 0.5], [0.5, 1]]), (1000,))[::99]": 4096,
    "orthogonal(key(3), 4, (50,))[::20]": 8192,
    "orthogonal(key(3), 2, (50,), m=4)[::20]": 8192,
}


def cases(bits: int) -> dict[str, int]:
    """The expressions that are recorded with these defaults."""
    return {**CASES, **(WIDE if bits == 64 else NARROW)}


def plain(value: object) -> dict[str, object]:
    """An array as data: its dtype, shape and elements."""
    array = np.asarray(value)
    dtype = array.dtype.name
    if array.dtype.kind == "c":
        elements = [[float(z.real), float(z.imag)] for z in array.ravel()]
    elif array.dtype.kind in "fV":
        elements = [float(x) for x in array.ravel()]
    else:
        elements = array.ravel().tolist()
    return {"dtype": dtype, "shape": list(array.shape), "elements": elements}


def main() -> None:
    import jax

    path = Path(__file__).parent / "recorded.json"
    known = json.loads(path.read_text()) if "--missing" in sys.argv[1:] else {}
    recorded = {}
    for bits in (32, 64):
        jax.config.update("jax_enable_x64", bits == 64)
        names = {name: getattr(jax.random, name) for name in dir(jax.random)}
        for text in cases(bits):
            case = f"{bits}: {text}"
            if case not in known:
                known[case] = plain(eval(text, {**names, "np": np}))
            recorded[case] = known[case]
    lines = [f"{json.dumps(k)}: {json.dumps(v)}" for k, v in recorded.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
