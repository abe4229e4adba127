"""The suite notices faults: some here, all of them in the slow run.

Each mutant runs in a process of its own, forked from one that has only imported the suite.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# One of a kind: a kernel, a rule, a pass, planned memory.
SAMPLE = (
    "kernel/max-drops-nan",
    "kernel/add-stale",
    "rule/sub-jvp",
    "rule/rev-vmap",
    "pass/add-zero",
    "pass/merge-params",
)
PARTS = 24

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="mutants live in forked processes")


def check(*arguments: str, timeout: float) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.conformance.mutation", *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'backends'}"},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_fault_of_each_kind_is_caught_at_the_level_core() -> None:
    chosen = [part for name in SAMPLE for part in ("--only", name)]
    told = check("--level", "core", *chosen, timeout=300)
    assert f"{len(SAMPLE)} of {len(SAMPLE)} mutants caught" in told


@pytest.mark.slow
@pytest.mark.parametrize("part", range(1, PARTS + 1))
def test_every_fault_is_caught(part: int) -> None:
    check("--slice", f"{part}/{PARTS}", timeout=3600)
