"""The mutation check: `python -m tests.conformance.mutation`, from the root of the project."""

from __future__ import annotations

import argparse
import fnmatch
from pathlib import Path

from arrayx.conformance.item import FULL, LEVELS
from tests.conformance.mutation.every import MUTANTS
from tests.conformance.mutation.running import as_json, run, summary


def main() -> int:
    """Runs the mutants that the options choose; the status is 0 where each was caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", action="append", help="names of mutants, with stars")
    parser.add_argument("--slice", default="1/1", help="K/N: part K of N parts")
    parser.add_argument("--level", choices=LEVELS, default=FULL)
    parser.add_argument("--seconds", type=float, default=3600.0, help="for one mutant, at most")
    parser.add_argument("--list", action="store_true", help="only say what there is")
    parser.add_argument("--json", type=Path, help="write the verdicts to this file")
    options = parser.parse_args()
    part, parts = map(int, options.slice.split("/"))
    chosen = [
        m
        for m in MUTANTS
        if options.only is None or any(fnmatch.fnmatch(m.id, p) for p in options.only)
    ][part - 1 :: parts]
    if options.list:
        for mutant in chosen:
            print(f"{mutant.id:48} {mutant.words}")
        return 0
    verdicts = run(chosen, options.level, options.seconds)
    print(summary(chosen, verdicts))
    if options.json:
        options.json.write_text(as_json(verdicts))
    return int(not all(v.caught and v.lives for v in verdicts))


if __name__ == "__main__":
    raise SystemExit(main())
