"""The example plugins, installed as a stranger's would be: files on the path with metadata."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[2] / "plugins"


def install(plugin: Path, site: Path) -> None:
    """What an installer does with a pure wheel: the module, and its metadata beside it."""
    project = tomllib.loads((plugin / "pyproject.toml").read_text())["project"]
    for module in plugin.glob("*.py"):
        shutil.copy(module, site)
    for package in plugin.glob("*/__init__.py"):
        shutil.copytree(package.parent, site / package.parent.name)
    info = site / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    lines = []
    for group, entries in project["entry-points"].items():
        lines.append(f"[{group}]")
        lines += [f"{name} = {value}" for name, value in entries.items()]
    info.joinpath("entry_points.txt").write_text("\n".join(lines) + "\n")


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, check=False
    )


@pytest.mark.parametrize("plugin", sorted(p for p in PLUGINS.iterdir() if p.is_dir()), ids=str)
def test_a_plugin_passes_its_own_tests_once_installed(plugin: Path, tmp_path: Path) -> None:
    install(plugin, tmp_path)
    done = run(
        tmp_path, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-c", os.devnull,
        f"--rootdir={plugin}", str(plugin / "tests"),
    )  # fmt: skip
    if done.returncode == pytest.ExitCode.NO_TESTS_COLLECTED and "SKIPPED" in done.stdout:
        # A library that is not in the project's own environment: the line says how to get it.
        pytest.skip(done.stdout.partition("SKIPPED")[2].splitlines()[0])
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_broken_plugin_is_reported_and_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "broken_plugin.py").write_text("raise RuntimeError('half written')\n")
    info = tmp_path / "broken-1.0.dist-info"
    info.mkdir()
    info.joinpath("METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1.0\n")
    info.joinpath("entry_points.txt").write_text("[arrayx.backends]\nbroken = broken_plugin\n")
    program = "import arrayx.numpy as anp; print(anp.ones(2).sum())"
    done = run(tmp_path, "-W", "error", "-c", program)
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "2.0", "")
    listed = run(tmp_path, "-m", "arrayx", "backends")
    assert "broken" in listed.stdout and listed.returncode == 0
    examined = run(tmp_path, "-m", "arrayx", "doctor")
    assert examined.returncode == 1
    assert "broken: broken (broken_plugin of broken 1.0)" in examined.stdout
    assert "half written" in examined.stdout


@pytest.mark.slow
def test_the_backend_in_pure_python_passes_the_core_level(tmp_path: Path) -> None:
    install(PLUGINS / "arrayx-python", tmp_path)
    done = run(tmp_path, "-m", "arrayx.conformance", "--backend=python", "--level=core")
    assert "backend 'python' passes the level 'core'" in done.stdout, done.stdout
    assert done.returncode == 0
