"""`python -m arrayx.conformance --backend=NAME`: the suite alone, in a pytest of its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

_SUITE = Path(__file__).with_name("suite.py")
_HELP = """usage: python -m arrayx.conformance --backend=NAME [options] [pytest options]

Checks a backend against the conformance suite and says what it cannot do.

  --backend=NAME   the backend to be checked, as `python -m arrayx backends` lists it
  --level=LEVEL    "core": what every backend owes (the default); "full": everything
  --gaps=FILE      items that are known to fail: a line each, 'item: reason'
  --report=FILE    write what was found to FILE.html, .json or .md (may be repeated)
  -k EXPRESSION    only items whose name fits, for example -k "values and sin"
  -n N             with so many processes (needs pytest-xdist)
  -x               stop at the first failure

Exit status: 0 where the backend passes, 1 where it does not, 4 where it cannot be loaded.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the suite; returns the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if "-h" in given or "--help" in given:
        print(_HELP)
        return 0
    if not any(a == "--backend" or a.startswith("--backend=") for a in given):
        print(_HELP, file=sys.stderr)
        print("which backend? Give --backend=NAME", file=sys.stderr)
        return 4
    # Nobody's settings but our own: neither a project's ini file nor its conftest decide.
    own = [
        "-c",
        os.devnull,
        f"--rootdir={_SUITE.parent}",
        "--import-mode=importlib",
        "--noconftest",
        "-p",
        "no:cacheprovider",
        "-p",
        "arrayx.conformance.plugin",
        "-q",
        "--no-header",
        "--show-capture=no",
        # The report tells what failed in its own way.
        "-rN",
        "-W",
        "ignore::arrayx.errors.RetraceWarning",
    ]
    return int(pytest.main([*own, *given, str(_SUITE)]))


if __name__ == "__main__":
    sys.exit(main())
