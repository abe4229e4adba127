"""How long `import arrayx` takes beside `import numpy`: fresh processes in turn, medians.

Prints a ratio; with `--limit` (default 2) a larger one is an error.  Shown beside it is what a
program waits for until its first gradient is there, since modules are imported when needed.
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


PROGRAMS = {
    "numpy": "import numpy",
    "arrayx": "import arrayx",
    "gradient": "import arrayx, arrayx.numpy as anp; arrayx.grad(lambda x: anp.sin(x) * x)(1.0)",
}


def seconds(program: str) -> float:
    """The time a fresh interpreter takes for a program, by its own clock."""
    program = f"import time; t = time.perf_counter(); {program}; print(time.perf_counter() - t)"
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
    times: dict[str, list[float]] = {name: [] for name in PROGRAMS}
    for _ in range(options.rounds):
        for name, found in times.items():
            found.append(seconds(PROGRAMS[name]))
            time.sleep(0.01)
    medians = {name: statistics.median(found) for name, found in times.items()}
    ratio, first = (
        statistics.median(a / n for a, n in zip(times[name], times["numpy"], strict=True))
        for name in ("arrayx", "gradient")
    )
    print(
        f"import numpy {medians['numpy'] * 1e3:.1f} ms, import arrayx "
        f"{medians['arrayx'] * 1e3:.1f} ms (numpy included): {ratio:.2f} times; "
        f"until the first gradient {medians['gradient'] * 1e3:.1f} ms: {first:.2f} times"
    )
    program = f"import sys, arrayx; print([m for m in {HEAVY} if m in sys.modules])"
    heavy = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    print(f"heavy libraries imported by it: {heavy.stdout.decode().strip()}")
    return 1 if ratio > options.limit or heavy.stdout.decode().strip() != "[]" else 0


if __name__ == "__main__":
    sys.exit(main())
