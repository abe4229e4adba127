"""The main job, end to end: handwritten digits learnt on every backend, from one seed.

It shows what arrayx is for.  One training step is `jit(value_and_grad(loss))`; how much the
examples disagree is measured by `vmap(grad(loss))`; and the same functions run on every
backend that is installed, whose loss curves must agree.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from sklearn.datasets import load_digits

import arrayx as ax
import arrayx.numpy as anp
from arrayx.api import backends

HIDDEN = 64
CLASSES = 10
BATCH = 64
RATE = 0.2
ACCURACY = 0.95
# Steps multiply differences in rounding.  A step of float32 arithmetic differs between two
# orders of summation by some 1e-6 relative; over the few hundred steps of the demo the loss
# curves of correct backends stay within 1e-3 of each other, and a wrong rule does not.
TOLERANCE = 1e-3

Params = dict[str, Any]


@dataclass
class Data:
    """Images as rows of 64 numbers in [0, 1] and their digits, apart for testing."""

    x_train: np.ndarray
    y_train: np.ndarray
    x_test: np.ndarray
    y_test: np.ndarray


@dataclass
class Result:
    """What one backend did."""

    backend: str
    device: str
    losses: np.ndarray
    accuracy: float
    compile_seconds: float
    step_seconds: float
    noise: float


def load(seed: int) -> Data:
    """scikit-learn's packaged digits, one in five kept for testing."""
    images, digits = load_digits(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(images))
    images = (images[order] / 16.0).astype(np.float32)
    digits = digits[order].astype(np.int32)
    n = len(images) // 5
    return Data(images[n:], digits[n:], images[:n], digits[:n])


def initial(key: Any) -> Params:
    """The weights of a network with one hidden layer."""
    first, second = ax.random.split(key)
    return {
        "w1": ax.random.normal(first, (64, HIDDEN)) / 8.0,
        "b1": anp.zeros(HIDDEN),
        "w2": ax.random.normal(second, (HIDDEN, CLASSES)) / 8.0,
        "b2": anp.zeros(CLASSES),
    }


def logits(params: Params, x: Any) -> Any:
    """Scores of the ten digits for images `x[..., 64]`."""
    hidden = anp.tanh(x @ params["w1"] + params["b1"])
    return hidden @ params["w2"] + params["b2"]


def example_loss(params: Params, x: Any, y: Any) -> Any:
    """Cross entropy of one image."""
    scores = ax.nn.log_softmax(logits(params, x))
    return -anp.sum(scores * ax.nn.one_hot(y, CLASSES))


def loss(params: Params, x: Any, y: Any) -> Any:
    """Mean cross entropy of a batch."""
    return anp.mean(ax.vmap(example_loss, in_axes=(None, 0, 0))(params, x, y))


def step(params: Params, x: Any, y: Any) -> tuple[Params, Any]:
    """One step of gradient descent; the loss before it."""
    value, gradient = ax.value_and_grad(loss)(params, x, y)
    return ax.tree.map(lambda p, g: p - RATE * g, params, gradient), value


def gradient_noise(params: Params, x: Any, y: Any) -> Any:
    """How much the examples' gradients differ: their spread over the size of their mean."""
    gradients = ax.vmap(ax.grad(example_loss), in_axes=(None, 0, 0))(params, x, y)
    leaves = ax.tree.leaves(gradients)
    spread = sum(anp.sum(anp.var(g, axis=0)) for g in leaves)
    size = sum(anp.sum(anp.mean(g, axis=0) ** 2) for g in leaves)
    return anp.sqrt(spread / size)


def accuracy(params: Params, x: Any, y: Any) -> Any:
    """The share of images whose digit is found."""
    return anp.mean(anp.argmax(logits(params, x), axis=-1) == y)


def train(name: str, data: Data, epochs: int, seed: int, progress: Progress) -> Result:
    """Trains on one backend."""
    order = np.random.default_rng(seed)
    batches = len(data.x_train) // BATCH
    task = progress.add_task(name, total=epochs * batches)
    with ax.default_backend(name):
        params = initial(ax.random.key(seed))
        jitted = ax.jit(step)
        start = time.perf_counter()
        compiled = jitted.lower(params, data.x_train[:BATCH], data.y_train[:BATCH]).compile()
        ax.block_until_ready(compiled(params, data.x_train[:BATCH], data.y_train[:BATCH]))
        compile_seconds = time.perf_counter() - start
        losses = []
        start = time.perf_counter()
        for _ in range(epochs):
            shuffled = order.permutation(len(data.x_train))
            for i in range(batches):
                rows = shuffled[i * BATCH : (i + 1) * BATCH]
                params, value = jitted(params, data.x_train[rows], data.y_train[rows])
                losses.append(value)
            progress.advance(task, batches)
        ax.block_until_ready(params)
        step_seconds = (time.perf_counter() - start) / max(1, len(losses))
        noise = ax.jit(gradient_noise)(params, data.x_train[:BATCH], data.y_train[:BATCH])
        reached = ax.jit(accuracy)(params, data.x_test, data.y_test)
        return Result(
            name,
            str(ax.devices(name)[0]),
            np.array([float(v) for v in losses]),
            float(reached),
            compile_seconds,
            step_seconds,
            float(noise),
        )


def run(chosen: Sequence[str] | None, epochs: int, seed: int) -> int:
    """Trains on the chosen backends, or on all; 0 if they learn and agree."""
    console = Console()
    names = list(chosen) if chosen else backends.available()
    if chosen:
        for name in names:
            try:
                backends.get(name)
            except ax.errors.BackendError as error:
                console.print(str(error), style="red", markup=False)
                return 2
    data = load(seed)
    console.print(
        f"{len(data.x_train)} handwritten digits to learn from, {len(data.x_test)} to test with; "
        f"64-{HIDDEN}-{CLASSES} network, {epochs} epochs in batches of {BATCH}"
    )
    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("steps"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        results = [train(name, data, epochs, seed, progress) for name in names]
    return report(results, console)


def report(results: Sequence[Result], console: Console) -> int:
    """Prints the table; the exit status says whether accuracy and agreement hold."""
    reference = results[0]
    table = Table(title="accuracy on the test images, and loss curves side by side")
    for heading in ("backend", "device"):
        table.add_column(heading, no_wrap=True)
    last = f"vs {reference.backend}"
    for heading in ("accuracy", "compile", "per step", "noise", last):
        table.add_column(heading, justify="right", no_wrap=True)
    failures = []
    for r in results:
        difference = float(np.max(np.abs(r.losses - reference.losses), initial=0.0))
        table.add_row(
            r.backend,
            r.device,
            f"{r.accuracy:.4f}",
            f"{r.compile_seconds * 1e3:.1f} ms",
            f"{r.step_seconds * 1e6:.0f} µs",
            f"{r.noise:.3f}",
            "reference" if r is reference else f"{difference:.1e}",
        )
        if not r.accuracy >= ACCURACY:
            failures.append(f"{r.backend}: test accuracy {r.accuracy:.4f} is below {ACCURACY}")
        if not difference <= TOLERANCE:
            failures.append(
                f"{r.backend}: its loss curve differs from that of {reference.backend} by "
                f"{difference:.1e}, more than {TOLERANCE:.0e}"
            )
    console.print(table)
    console.print("noise: how far the examples' gradients spread, in lengths of their mean")
    for failure in failures:
        console.print(failure, style="red", markup=False)
    return 1 if failures else 0
