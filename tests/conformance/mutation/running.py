"""Runs the suite against one mutant, in a process of its own, until something fails."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from types import SimpleNamespace

import pytest

from arrayx.conformance import suite
from arrayx.conformance.item import Item
from arrayx.conformance.sections.table import items
from tests.conformance.mutation.mutant import Lives, Mutant

# An item that takes so many seconds hangs: that is a failure too.
LONGEST = 120.0


@dataclass(frozen=True)
class Verdict:
    """How a mutant ended: the item that caught it, or none."""

    name: str
    item: str
    core: bool
    sentence: str
    seconds: float
    items_run: int
    lives: int

    @property
    def caught(self) -> bool:
        return bool(self.item)


@cache
def items_for(backend: str, level: str) -> list[Item]:
    """The items of a level, made once: they are found by the backend's name when they run."""
    return items(backend, level)


def in_order(mutant: Mutant, backend: str, level: str) -> list[Item]:
    """The items: those about what is corrupted, then those of likely sections, then the rest."""

    def rank(item: Item) -> tuple[int, int, int]:
        subject = item.subject.rpartition(".")[2]
        if item.subject in mutant.subjects:
            return 0, not item.core, mutant.subjects.index(item.subject)
        if item.section in mutant.sections:
            return 1, mutant.sections.index(item.section), not item.core
        if subject in mutant.subjects:
            return 2, not item.core, 0
        return 3, not item.core, 0

    return sorted(items_for(backend, level), key=rank)


def outcome(item: Item, backend: str) -> str:
    """Why an item fails; empty where it does not."""
    options = SimpleNamespace(getoption=lambda name: backend)
    try:
        suite.test(item, options)  # type: ignore[arg-type]
    except pytest.skip.Exception:
        return ""
    except BaseException as error:
        return f"{type(error).__name__}: {error}".partition("\n")[0] or "failed"
    return ""


def first_failure(mutant: Mutant, level: str, seconds: float) -> Verdict:
    """What catches a mutant, in a process that is thrown away afterwards."""
    # Made before the fork, for all mutants.
    for backend in ("numpy", "mutant"):
        items_for(backend, level)
    begun = time.perf_counter()
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        os.close(ours)
        work(mutant, level, seconds, theirs)
    os.close(theirs)
    told: dict[str, object] = {}
    with os.fdopen(ours) as lines:
        last = "", False
        while True:
            ready, _, _ = select.select([lines], [], [], LONGEST)
            line = lines.readline() if ready else ""
            if not line:
                break
            told = json.loads(line)
            if "item" in told:
                break
            last = str(told["now"]), bool(told["core"])
    if "item" not in told:
        # The item that hangs, or that ended the process, is the last that was begun.
        os.kill(child, signal.SIGKILL)
        told = {"item": last[0], "core": last[1], "sentence": "hangs or ends the process"}
    os.waitpid(child, 0)
    taken = time.perf_counter() - begun
    verdict = Verdict(
        mutant.id,
        str(told["item"]),
        bool(told["core"]),
        str(told["sentence"])[:200],
        round(taken, 1),
        int(str(told.get("run", 0))),
        int(str(told.get("lives", 1))),
    )
    if verdict.caught and not passes_unharmed(verdict.item, level):
        why = f"{verdict.item} fails without any mutant too"
        return replace(verdict, item="", sentence=why)
    return verdict


def work(mutant: Mutant, level: str, seconds: float, pipe: int) -> None:
    """The child's part: never returns."""
    begun = time.perf_counter()

    def tell(**what: object) -> None:
        os.write(pipe, (json.dumps(what) + "\n").encode())

    try:
        backend = mutant.apply()
        count = 0
        for item in in_order(mutant, backend, level):
            if time.perf_counter() - begun > seconds:
                break
            tell(now=item.id, core=item.core)
            count += 1
            why = outcome(item, backend)
            if why:
                tell(item=item.id, core=item.core, sentence=why, run=count, lives=Lives.count)
                os._exit(0)
        tell(item="", core=False, sentence="", run=count, lives=Lives.count)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        tell(item="", core=False, sentence=traceback.format_exc()[-200:], run=0, lives=0)
    finally:
        os._exit(0)


def passes_unharmed(id: str, level: str) -> bool:
    """Whether an item passes on the backend as it is."""
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        (item,) = [i for i in items_for("numpy", level) if i.id == id] or [None]
        # Comparisons with the reference backend are pointless for itself.
        why = outcome(item, "numpy") if item is not None else ""
        os.write(theirs, why.encode())
        os._exit(0)
    os.close(theirs)
    with os.fdopen(ours) as text:
        why = text.read()
    os.waitpid(child, 0)
    if why:
        print(why, file=sys.stderr)
    return not why


def run(mutants: Iterable[Mutant], level: str, seconds: float) -> list[Verdict]:
    """All verdicts, each told as soon as it is there."""
    verdicts = []
    for mutant in mutants:
        verdict = first_failure(mutant, level, seconds)
        verdicts.append(verdict)
        print(line(mutant, verdict), flush=True)
    return verdicts


def line(mutant: Mutant, verdict: Verdict) -> str:
    """A verdict as text."""
    found = verdict.item if verdict.caught else "SURVIVED"
    level = "" if not verdict.caught else " (core)" if verdict.core else " (full)"
    dead = "" if verdict.lives else "  NEVER CALLED"
    return f"{mutant.id:48} {verdict.seconds:6.1f} s  {found}{level}{dead}"


def summary(mutants: Sequence[Mutant], verdicts: Sequence[Verdict]) -> str:
    """The score, and who survived."""
    caught = [v for v in verdicts if v.caught]
    lines = [f"{len(caught)} of {len(verdicts)} mutants caught"]
    for kind in dict.fromkeys(m.kind for m in mutants):
        own = [v for m, v in zip(mutants, verdicts, strict=True) if m.kind == kind]
        lines.append(f"  {kind}: {sum(v.caught for v in own)} of {len(own)}")
    for mutant, verdict in zip(mutants, verdicts, strict=True):
        if not verdict.caught:
            lines.append(f"SURVIVED {mutant.id}: {mutant.words} {verdict.sentence}")
        elif not verdict.lives:
            lines.append(f"NEVER CALLED {mutant.id}: {mutant.words}")
    return "\n".join(lines)


def as_json(verdicts: Sequence[Verdict]) -> str:
    return json.dumps([asdict(v) for v in verdicts], indent=1)
