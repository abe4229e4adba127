"""What a run of the suite found, as data: each item's outcome, and the counts of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from arrayx.conformance.item import FAILED, OUTCOMES


@dataclass(frozen=True)
class Result:
    """How the check of one item ended, and the sentence that goes with it."""

    id: str
    section: str
    subject: str
    dtype: str
    outcome: str
    sentence: str = ""
    program: str = ""
    seconds: float = 0.0


@dataclass
class Results:
    """All that one run found."""

    backend: str
    level: str
    version: str
    found: list[Result] = field(default_factory=list)

    @property
    def passed(self) -> bool:
        """Whether something ran and nothing failed."""
        return bool(self.found) and not any(r.outcome == FAILED for r in self.found)

    def by(self, *names: str) -> dict[tuple[str, ...], Counter[str]]:
        """Outcomes counted by some fields of the results, in order of appearance."""
        counts: dict[tuple[str, ...], Counter[str]] = {}
        for result in self.found:
            key = tuple(getattr(result, name) for name in names)
            counts.setdefault(key, Counter())[result.outcome] += 1
        return counts

    def only(self, outcome: str) -> list[Result]:
        """The results with this outcome."""
        return [r for r in self.found if r.outcome == outcome]

    def verdict(self) -> str:
        """The run in one sentence."""
        counts = Counter(r.outcome for r in self.found)
        told = ", ".join(f"{counts[o]:,} {o}" for o in OUTCOMES if counts[o]) or "nothing ran"
        word = "passes" if self.passed else "does not pass"
        return f"backend {self.backend!r} {word} the level {self.level!r}: {told}"

    def as_json(self) -> str:
        """Everything, as JSON."""
        content: dict[str, Any] = {
            "backend": self.backend,
            "level": self.level,
            "arrayx": self.version,
            "passed": self.passed,
            "results": [asdict(r) for r in self.found],
        }
        return json.dumps(content, indent=1)


def sentences(results: Iterable[Result]) -> dict[str, int]:
    """The sentences of results, each with how often it comes, the most frequent first."""
    return dict(Counter(r.sentence for r in results).most_common())
