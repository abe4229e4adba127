"""The wheel, in an empty environment and without the checkout, does what the checkout does."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def built(project: Path, folder: Path) -> Path:
    """The wheel of a project."""
    pytest.importorskip("hatchling", reason="hatchling builds the wheels: pip install hatchling")
    line = ("-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / project.name))
    subprocess.run([sys.executable, *line], cwd=project, check=True, capture_output=True)
    (wheel,) = (folder / project.name).glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(ROOT, tmp_path_factory.mktemp("wheels"))


@pytest.fixture(scope="module")
def environment(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory, environments: Callable[..., Any]
) -> Any:
    folder = tmp_path_factory.mktemp("release")
    made = environments(folder / "environment")
    made.install(wheel, built(ROOT / "plugins" / "arrayx-python", folder))
    return made


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {"arrayx", "arrayx_numpy", "arrayx_xla"}
    assert {"arrayx/py.typed", "arrayx/conformance/suite.py"} <= {*names}
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_what_is_imported_is_the_wheel(environment: Any) -> None:
    told = environment.tell("import json, arrayx; print(json.dumps(arrayx.__file__))")
    assert Path(told).is_relative_to(environment.site)


def test_the_demo_passes(environment: Any) -> None:
    done = environment.run("-m", "arrayx", "demo", "--backend=numpy")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_suite_runs_against_the_backend_of_another_wheel(environment: Any) -> None:
    done = environment.run(
        "-m", "arrayx.conformance", "--backend=python", "-k", "values/add or values/sort or orders"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "backend 'python' passes the level 'core'" in done.stdout
