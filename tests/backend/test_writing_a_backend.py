"""The page about writing a backend, followed step by step: files, wheel, doctor, suite."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-a-backend.md").read_text()


def file_of(name: str) -> str:
    """The block of the page that follows the name of a file."""
    found = re.search(rf"`{re.escape(name)}`:\n\n```\w+\n(.*?)```", PAGE, re.DOTALL)
    assert found is not None, name
    return found[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that the page's package was built for and installed into."""
    project = tmp_path_factory.mktemp("arrayx-bytes")
    for name in ("arrayx_bytes.py", "pyproject.toml"):
        (project / name).write_text(file_of(name))
    built = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", "dist"],
        cwd=project, capture_output=True, text=True,
    )  # fmt: skip
    if "No module named" in built.stderr:
        pytest.skip("hatchling is not there to build the wheel")
    assert built.returncode == 0, built.stderr
    (wheel,) = (project / "dist").glob("*.whl")
    line = ("-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target")
    subprocess.run([sys.executable, *line, str(project / "site"), str(wheel)], check=True)
    return project / "site"


def run(site: Path, *arguments: str) -> str:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", *arguments],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_example_is_shorter_than_100_lines() -> None:
    assert len(file_of("arrayx_bytes.py").splitlines()) < 100


def test_doctor_finds_the_package_in_order(site: Path) -> None:
    assert "bytes: ready (arrayx_bytes of arrayx-bytes 0.1.0)" in run(site, "arrayx", "doctor")


def test_the_suite_passes_in_a_part(site: Path) -> None:
    told = run(
        site, "arrayx.conformance", "--backend=bytes", "-k", "control_flow or full or bitcast"
    )
    assert "backend 'bytes' passes" in told


@pytest.mark.slow
def test_the_suite_passes(site: Path) -> None:
    assert "backend 'bytes' passes the level 'core'" in run(
        site, "arrayx.conformance", "--backend=bytes", "--level=core"
    )
