"""`python -m arrayx`: the demo, and what is installed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from arrayx import version
from arrayx.api import backends
from arrayx.backend.records import Record


def list_backends() -> int:
    """Prints every known backend: installed or not, and the line that gets it."""
    width = max(len(name) for name in backends.names())
    for name in backends.names():
        if backends.installed(name):
            print(f"{name:<{width}}  installed")
        else:
            print(f"{name:<{width}}  not installed   {backends.install_line(name)}")
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m arrayx", description="Array programs on pluggable backends."
    )
    parser.add_argument("--version", action="version", version=version.__version__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("backends", help="list the backends and how to get them")
    commands.add_parser("doctor", help="try every backend and say what is wrong with it")
    demo = commands.add_parser("demo", help="train a small network on handwritten digits")
    demo.add_argument("--backend", action="append", help="only this one (may be repeated)")
    demo.add_argument("--epochs", type=int, default=20, help="passes over the data (20)")
    demo.add_argument("--seed", type=int, default=0, help="of the network and the batches (0)")
    options = parser.parse_args(arguments)
    if options.command == "backends":
        return list_backends()
    if options.command == "doctor":
        return doctor()
    return run_demo(options)


def doctor() -> int:
    """Prints a record of every backend; 1 if one is broken.

    The name comes before the attempt, so that one that hangs or kills the process is seen.
    """
    broken = False
    for name in backends.names():
        print(f"{name}: ", end="", flush=True)
        broken |= show(backends.examine(name))
    for note in backends.notes():
        print(f"{note.name}: ", end="")
        broken |= show(note)
    return 1 if broken else 0


def show(record: Record) -> bool:
    """Prints what follows the name; True if somebody has to repair it."""
    took = f", loaded in {record.seconds:.1f} s" if record.seconds >= 1 else ""
    print(f"{record.state} ({record.origin}{took})")
    if record.reason:
        print(f"  {record.reason}")
    if not record.works:
        print("\n".join("  " + line for line in record.trace.splitlines()))
    if record.remedy:
        print(f"  remedy: {record.remedy}", flush=True)
    return not record.works


def run_demo(options: argparse.Namespace) -> int:
    """Runs the demo, or says what to install for it."""
    try:
        from arrayx import demo
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] == "arrayx":
            raise
        print(
            f"the demo needs {error.name}: pip install 'arrayx[demo]'",
            file=sys.stderr,
        )
        return 2
    return demo.run(options.backend, options.epochs, options.seed)


if __name__ == "__main__":
    sys.exit(main())
