"""Real environments, into which wheels are installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest


class Environment:
    """An empty virtual environment, but for the libraries and `paths`, seen by a .pth file."""

    def __init__(self, folder: Path, paths: Sequence[Path] = ()) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=os.name != "nt")
        self.python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        site = self.run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))").stdout
        self.site = Path(site.strip())
        libraries = Path(np.__file__).parents[1]
        # Of a folder named in a .pth file the .pth files are not read: arrayx itself is not seen.
        lines = "\n".join(map(str, (*paths, libraries)))
        (self.site / "libraries.pth").write_text(lines + "\n")

    def install(self, *wheels: Path) -> None:
        line = ("-m", "pip", "--python", str(self.python), "install", "--no-index", "--no-deps")
        command = [sys.executable, *line, "--quiet", *map(str, wheels)]
        subprocess.run(command, check=True, capture_output=True)

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {
            k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "ARRAYX"))
        }
        return subprocess.run(
            [str(self.python), *arguments],
            capture_output=True, text=True, check=False, cwd=self.folder,
            env=environment | variables,
        )  # fmt: skip

    def tell(self, program: str, **variables: str) -> Any:
        """What a program prints as JSON, with all warnings errors."""
        done = self.run("-W", "error", "-c", program, **variables)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
        return json.loads(done.stdout)


@pytest.fixture(scope="session")
def environments() -> type[Environment]:
    """Makes environments: `environments(folder, paths)`."""
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode:
        pytest.skip("pip is not there to install wheels")
    return Environment
