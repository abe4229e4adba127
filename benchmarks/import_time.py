"""How long `import arrayx` takes beside `import numpy`: fresh processes in turn, medians.

Prints a ratio; with `--limit` (default 2) a larger one is an error.
"""

from __future__ import annotations

import argparse
import compileall
import importlib.util
import statistics
import subprocess
import sys
import time

HEAVY = ("jaxlib", "jax", "cupy", "scipy", "torch", "opt_einsum", "sklearn", "rich")


def seconds(module: str) -> float:
    """The time a fresh interpreter takes to import a module, by its own clock."""
    program = (
        f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return float(out.stdout)


def compile_bytecode() -> None:
    """Compiles arrayx as an installer does: a checkout has no bytecode, and NumPy's has."""
    for package in ("arrayx", "arrayx_numpy", "arrayx_xla"):
        spec = importlib.util.find_spec(package)
        if spec is not None and spec.submodule_search_locations:
            compileall.compile_dir(spec.submodule_search_locations[0], quiet=2)


def main() -> int:
    """Measures and prints; 1 if the ratio is above the limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--limit", type=float, default=2.0)
    options = parser.parse_args()
    compile_bytecode()
    times: dict[str, list[float]] = {"numpy": [], "arrayx": []}
    for _ in range(options.rounds):
        for module, found in times.items():
            found.append(seconds(module))
            time.sleep(0.01)
    medians = {module: statistics.median(found) for module, found in times.items()}
    ratio = statistics.median(a / n for a, n in zip(times["arrayx"], times["numpy"], strict=True))
    print(
        f"import numpy {medians['numpy'] * 1e3:.1f} ms, import arrayx "
        f"{medians['arrayx'] * 1e3:.1f} ms (numpy included): {ratio:.2f} times"
    )
    program = f"import sys, arrayx; print([m for m in {HEAVY} if m in sys.modules])"
    heavy = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    print(f"heavy libraries imported by it: {heavy.stdout.decode().strip()}")
    return 1 if ratio > options.limit or heavy.stdout.decode().strip() != "[]" else 0


if __name__ == "__main__":
    sys.exit(main())
