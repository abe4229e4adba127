"""Results as a page: for the terminal, as Markdown, as HTML, as JSON."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Callable

from arrayx.conformance.item import FAILED, GAP, NOT_YET, OUTCOMES, PASSED, REFUSED
from arrayx.conformance.results import Result, Results, sentences
from arrayx.conformance.sections.table import SECTIONS

_MOST_TOLD = 30
_MARKS = {PASSED: "+", FAILED: "X", REFUSED: "-", NOT_YET: "?", GAP: "g"}
# Outcomes told in sentences, under these headings.
_TOLD = ((REFUSED, "Refused"), (NOT_YET, "Not yet"), (GAP, "Gaps"))
#: The order in which an outcome stands for several: the worst first.
_WORST = (FAILED, GAP, REFUSED, NOT_YET, PASSED)


def writer(path: str) -> Callable[[Results], str]:
    """What makes the content of a report file, by its ending.

    Raises:
        ValueError: the ending is none of .html, .json and .md.
    """
    for ending, write in _WRITERS.items():
        if path.endswith(ending):
            return write
    raise ValueError(f"--report={path}: the name must end in one of {', '.join(_WRITERS)}")


def terminal(results: Results) -> str:
    """The sections with their counts, what was refused in sentences, and the verdict."""
    lines = [_table(["section", *OUTCOMES, "seconds"], _section_rows(results))]
    for outcome, title in _TOLD:
        told = sentences(results.only(outcome))
        if told:
            lines += ["", f"{title}:"]
            lines += [f"  {n:>5,} x {text}" for text, n in list(told.items())[:_MOST_TOLD]]
            if len(told) > _MOST_TOLD:
                lines.append(f"  and {len(told) - _MOST_TOLD} more sentences")
    failures = results.only(FAILED)
    if failures:
        lines += ["", "Failed:"]
        lines += [f"  {r.id}: {r.sentence.partition(chr(10))[0]}" for r in failures[:_MOST_TOLD]]
        if len(failures) > _MOST_TOLD:
            lines.append(f"  and {len(failures) - _MOST_TOLD} more")
    return "\n".join([*lines, "", results.verdict()])


def _section_rows(results: Results) -> list[list[str]]:
    counts = results.by("section")
    seconds: Counter[str] = Counter()
    for r in results.found:
        seconds[r.section] += r.seconds  # type: ignore[assignment]
    return [
        [name, *(f"{c[o]:,}" if c[o] else "" for o in OUTCOMES), f"{seconds[name]:.1f}"]
        for name in SECTIONS
        if (c := counts.get((name,))) is not None
    ]


def _table(heads: list[str], rows: list[list[str]]) -> str:
    widths = [max(len(row[i]) for row in (heads, *rows)) for i in range(len(heads))]
    lines = []
    for row in (heads, ["-" * w for w in widths], *rows):
        first, *others = (
            cell.ljust(w) if i == 0 else cell.rjust(w)
            for i, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def worst(counts: Counter[str]) -> str:
    """The outcome that stands for several."""
    return next((o for o in _WORST if counts[o]), PASSED)


# ----------------------------------------------------------------- the matrices


#: The sections whose subjects are primitives and functions: the columns of the matrices.
_OF_ROWS = ("values", "types", "edges", "derivatives", "vmap", "compiled", "determinism")


def matrix(results: Results, across: str) -> tuple[list[str], dict[str, dict[str, Counter[str]]]]:
    """Primitives and functions by what `across` names: the columns, and the counts.

    `across` is "section" or "dtype".
    """
    cells: dict[str, dict[str, Counter[str]]] = {}
    for (subject, column, section), counts in results.by("subject", across, "section").items():
        if column and section in _OF_ROWS:
            cells.setdefault(subject, {}).setdefault(column, Counter()).update(counts)
    present = {column for row in cells.values() for column in row}
    order = list(SECTIONS) if across == "section" else sorted(present)
    return [c for c in order if c in present], dict(sorted(cells.items()))


def markdown(results: Results) -> str:
    """The report as a page of Markdown."""
    lines = [
        f"# Conformance of the backend `{results.backend}`",
        "",
        f"{results.verdict()}. arrayx {results.version}.",
        "",
        *_markdown_table(
            ["section", "what it says", *OUTCOMES],
            [[r[0], SECTIONS[r[0]], *r[1:-1]] for r in _section_rows(results)],
        ),
    ]
    failures = results.only(FAILED)
    if failures:
        lines += ["", "## Failures", ""]
        for r in failures[:_MOST_TOLD]:
            lines += [f"### `{r.id}`", "", "```", r.sentence, "```", "", "```python"]
            lines += [r.program, "```", ""]
    for outcome, title in _TOLD:
        told = sentences(results.only(outcome))
        if told:
            lines += ["", f"## {title}", ""]
            lines += [f"- {text} ({n:,} items)" for text, n in told.items()]
    lines += ["", "## Statements and programs", "", f"`{_legend()}`", ""]
    for section, subjects in _others(results).items():
        shown = " · ".join(f"{_MARKS[worst(c)]} {name}" for name, c in subjects.items())
        lines.append(f"- **{section}**: {shown}")
    for across, title in (("section", "sections"), ("dtype", "dtypes")):
        columns, cells = matrix(results, across)
        lines += ["", f"## Functions by {title}", ""]
        lines += _markdown_table(
            ["", *columns],
            [
                [f"`{s}`", *(_MARKS[worst(row[c])] if c in row else "" for c in columns)]
                for s, row in cells.items()
            ],
        )
    return "\n".join(lines) + "\n"


def _others(results: Results) -> dict[str, dict[str, Counter[str]]]:
    """The sections whose subjects are statements and programs, with the counts of each."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for (section, subject), counts in results.by("section", "subject").items():
        if section not in _OF_ROWS:
            found.setdefault(section, {})[subject] = counts
    return found


def _legend() -> str:
    return "  ".join(f"{mark} {outcome}" for outcome, mark in _MARKS.items())


def _markdown_table(heads: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (heads, ["---" for _ in heads], *rows)]


_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem;
  color: #1c1e21; background: #fff; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .55rem; text-align: right; border-bottom: 1px solid #e4e6ea; }
th:first-child, td:first-child, .words { text-align: left; }
.chip { display: inline-block; padding: .05rem .5rem; margin: .1rem; border-radius: 3px; }
thead th { position: sticky; top: 0; background: #fff; vertical-align: bottom; }
.matrix thead th:not(:first-child) { writing-mode: vertical-rl; transform: rotate(180deg);
  text-align: left; font-weight: 500; }
.matrix td:not(:first-child) { text-align: center; min-width: 1.4rem; border-radius: 3px;
  border: 2px solid #fff; font-size: .8rem; }
.passed { background: #cfeedd; } .failed { background: #e5484d; color: #fff; }
.refused { background: #e4e6ea; } .notyet { background: #dbe7fb; } .gap { background: #ffe5b4; }
.verdict { padding: .8rem 1rem; border-radius: 6px; font-weight: 600; }
pre { background: #f5f6f8; padding: .8rem; overflow-x: auto; border-radius: 6px; }
@media (prefers-color-scheme: dark) {
  body, thead th { background: #16181c; color: #e6e8eb; } th, td { border-color: #2d3138; }
  .matrix td:not(:first-child) { border-color: #16181c; } pre { background: #22252b; }
  .passed { background: #1d5c3c; } .refused { background: #3a3f47; }
  .notyet { background: #234273; } .gap { background: #7a5a12; } }
"""


def page(results: Results) -> str:
    """The report as a page of HTML that needs nothing else."""
    name = html.escape(results.backend)
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Conformance of {name}</title>",
        f"<style>{_STYLE}</style><h1>Conformance of the backend {name}</h1>",
        f"<p class='verdict {PASSED if results.passed else FAILED}'>"
        f"{html.escape(results.verdict())}</p><p>arrayx {html.escape(results.version)}</p>",
        "<table><thead><tr><th>section<th class=words>what it says",
        *(f"<th>{o}" for o in OUTCOMES),
        "</thead>",
    ]
    for section, *counts, _ in _section_rows(results):
        parts.append(f"<tr><td>{section}<td class=words>{html.escape(SECTIONS[section])}")
        parts += [
            f"<td class={_css(o) if n else ''}>{n}" for o, n in zip(OUTCOMES, counts, strict=True)
        ]
    parts.append("</table>")
    failures = results.only(FAILED)
    if failures:
        parts.append(f"<h2>Failures</h2><p>{len(failures):,} items; the first are told.</p>")
        parts += [_failure(r) for r in failures[:_MOST_TOLD]]
    for outcome, title in _TOLD:
        told = sentences(results.only(outcome))
        if told:
            rows = "".join(f"<li>{html.escape(text)} ({n:,})" for text, n in told.items())
            parts.append(f"<h2>{title}</h2><ul>{rows}</ul>")
    parts.append("<h2>Statements and programs</h2>")
    for section, subjects in _others(results).items():
        chips = "".join(
            f"<span class='chip {_css(worst(c))}' title='{_counted(c)}'>{html.escape(name)}</span>"
            for name, c in subjects.items()
        )
        parts.append(f"<p><b>{section}</b> {chips}</p>")
    for across, title in (("section", "sections"), ("dtype", "dtypes")):
        parts.append(f"<h2>Functions by {title}</h2>" + _html_matrix(results, across))
    return "".join(parts) + "</html>\n"


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[o]} {o}" for o in OUTCOMES if counts[o])


def _css(outcome: str) -> str:
    return outcome.replace(" ", "")


def _failure(result: Result) -> str:
    return (
        f"<h3><code>{html.escape(result.id)}</code></h3><pre>{html.escape(result.sentence)}</pre>"
        f"<pre>{html.escape(result.program)}</pre>"
    )


def _html_matrix(results: Results, across: str) -> str:
    columns, cells = matrix(results, across)
    parts = ["<table class=matrix><thead><tr><th>", *(f"<th>{c}" for c in columns), "</thead>"]
    for subject, row in cells.items():
        parts.append(f"<tr><td>{html.escape(subject)}")
        for column in columns:
            counts = row.get(column)
            if counts is None:
                parts.append("<td>")
                continue
            outcome = worst(counts)
            number = counts[outcome] if outcome != PASSED else counts.total()
            parts.append(f"<td class={_css(outcome)} title='{_counted(counts)}'>{number}")
    return "".join([*parts, "</table>"])


_WRITERS: dict[str, Callable[[Results], str]] = {
    ".html": page,
    ".json": Results.as_json,
    ".md": markdown,
}
