"""`python -m arrayx`: what it prints, and when it fails."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from arrayx import demo
from arrayx.__main__ import main
from arrayx.api import backends
from arrayx.backend import registry

RESULT = demo.Result("numpy", "numpy:cpu:0", np.array([2.3, 1.0, 0.2]), 0.97, 0.1, 1e-3, 10.0)


def test_backends_lists_every_name_and_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["backends"]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "installed" in lines["numpy"] and "not installed" not in lines["numpy"]
    assert set(lines) >= {"numpy", "xla", "cupy"}
    for name in ("xla", "cupy"):
        assert ("not installed" in lines[name]) != backends.installed(name)
        assert backends.installed(name) or backends.install_line(name) in lines[name]


def test_a_backend_that_this_version_lacks_has_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.BUILT_IN, "cupy", "arrayx_not_there")
    assert backends.install_line("cupy") == "(not part of this version)"
    assert backends.install_line("xla") == "pip install 'arrayx[xla]'"


def test_an_unknown_backend_is_an_error_that_names_the_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["demo", "--backend", "nmpy"]) == 2
    assert "no backend 'nmpy'" in capsys.readouterr().out


def test_a_short_run_of_the_demo_trains_on_numpy(capsys: pytest.CaptureFixture[str]) -> None:
    # One epoch is too short to reach the accuracy: the status says so.
    assert main(["demo", "--backend", "numpy", "--epochs", "1"]) == 1
    out = capsys.readouterr().out
    assert "numpy:cpu:0" in out and "below 0.95" in out


def test_the_loss_falls_and_both_backends_agree() -> None:
    data = demo.load(0)
    with demo.Progress(disable=True) as progress:
        first, second = (demo.train(name, data, 2, 0, progress) for name in ("numpy", "xla"))
    assert first.losses[-5:].mean() < 0.5 * first.losses[:5].mean()
    assert np.max(np.abs(first.losses - second.losses)) < demo.TOLERANCE


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"losses": RESULT.losses + np.array([0.0, 0.0, 0.01])}, "loss curve differs"),
        ({"losses": RESULT.losses * np.nan}, "loss curve differs"),
        ({"accuracy": 0.9}, "below 0.95"),
        ({"accuracy": float("nan")}, "below 0.95"),
    ],
)
def test_disagreement_and_bad_learning_fail(changes: dict[str, object], message: str) -> None:
    console = Console(file=io.StringIO(), width=120)
    other = replace(RESULT, backend="xla", **changes)  # type: ignore[arg-type]
    assert demo.report([RESULT, other], console) == 1
    assert message in console.file.getvalue()  # type: ignore[attr-defined]


def test_agreement_succeeds() -> None:
    console = Console(file=io.StringIO(), width=120)
    assert demo.report([RESULT, replace(RESULT, backend="xla")], console) == 0
