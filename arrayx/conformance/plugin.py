"""The suite as a pytest plugin: `pytest -p arrayx.conformance.plugin --backend=NAME`.

It adds the items of the suite to the tests of the run.  `python -m arrayx.conformance` is the
same with nothing else collected.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from arrayx import errors, version
from arrayx.backend.registry import registry
from arrayx.conformance import report
from arrayx.conformance.gaps import Gap, gap_for, read_gaps
from arrayx.conformance.item import CORE, FAILED, GAP, LEVELS, NOT_YET, PASSED, REFUSED, Item
from arrayx.conformance.results import Result, Results
from arrayx.conformance.sections.table import items

SUITE = Path(__file__).with_name("suite.py")
_ITEMS = pytest.StashKey[list[Item]]()
_GAPS = pytest.StashKey[tuple[Gap, ...]]()
_RUN = pytest.StashKey["Run"]()
_PROPERTY = "arrayx"
_PROGRAM = "arrayx program"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup("arrayx conformance")
    group.addoption("--backend", metavar="NAME", help="the backend to be checked")
    group.addoption("--level", choices=LEVELS, default=CORE, help="how much is asked of it (core)")
    group.addoption("--gaps", metavar="FILE", help="items that are known to fail, with reasons")
    group.addoption(
        "--report",
        metavar="FILE",
        action="append",
        default=[],
        help="write what was found to FILE.html, FILE.json or FILE.md (may be repeated)",
    )


def items_of(config: pytest.Config) -> list[Item]:
    """The items that the options ask for."""
    return config.stash.get(_ITEMS, [])


def pytest_configure(config: pytest.Config) -> None:
    """Loads the backend, so that one that is missing is told before anything runs."""
    name = config.getoption("--backend")
    if name is None:
        return
    try:
        registry.get(name)
        gaps = config.getoption("--gaps")
        config.stash[_GAPS] = read_gaps(gaps) if gaps else ()
        for path in config.getoption("--report"):
            report.writer(path)
    except (errors.BackendError, ValueError, OSError) as error:
        raise pytest.UsageError(str(error)) from error
    level = config.getoption("--level")
    config.stash[_ITEMS] = items(name, level)
    # Workers get the arguments of the process that started them, this one included.
    if not hasattr(config, "workerinput") and str(SUITE) not in config.args:
        config.args.append(str(SUITE))
    run = Run(config, Results(name, level, version.__version__))
    config.stash[_RUN] = run
    config.pluginmanager.register(run, "arrayx-conformance-run")


class Run:
    """Collects the results of a run, tells how far it is, and closes with the report."""

    def __init__(self, config: pytest.Config, results: Results) -> None:
        self.config = config
        self.results = results
        self.begun = time.perf_counter()
        # Where workers collect, nobody here counts what is deselected.
        self.planned = len(items_of(config))
        self.told = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Marks what is known to fail; notes what each test is about."""
        gaps = self.config.stash[_GAPS]
        used = set()
        mine = 0
        for test in items:
            item = _item_of(test)
            if item is None:
                continue
            mine += 1
            gap = gap_for(gaps, item.id)
            if gap is not None:
                used.add(gap)
                test.add_marker(pytest.mark.xfail(reason=gap.reason, strict=True))
            test.user_properties.append(
                (_PROPERTY, [item.id, item.section, item.subject, item.dtype])
            )
        self.planned = mine
        chosen = mine == len(items_of(self.config))
        unused = [gap for gap in gaps if gap not in used]
        if chosen and unused:
            raise pytest.UsageError(
                f"line {unused[0].line} of the gaps fits no item of this level: {unused[0].pattern}"
            )

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        """Counts what is not run after all."""
        self.planned -= sum(_item_of(test) is not None for test in items)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[None]:
        """Tells a failure in the suite's own words: the sentence, and how to see it again."""
        made: Any = yield
        conformance = _item_of(item)
        if conformance is not None and made.failed:
            made.user_properties.append((_PROGRAM, conformance.program()))
            if call.excinfo is not None:
                made.longrepr = _told(conformance, call.excinfo)
        return made  # type: ignore[no-any-return]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes how an item ended."""
        about: list[str] | None = _noted(report, _PROPERTY)
        if about is None or not (report.when == "call" or report.failed):
            return
        id, section, subject, dtype = about
        outcome, sentence = _outcome(report)
        self.results.found.append(
            Result(
                id,
                section,
                subject,
                dtype,
                outcome,
                sentence,
                _noted(report, _PROGRAM) or "",
                report.duration,
            )
        )
        self.tell_progress()

    def tell_progress(self) -> None:
        """Writes a line for each tenth of the run."""
        tenth = 10 * len(self.results.found) // max(self.planned, 1)
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if tenth <= self.told or terminal is None or hasattr(self.config, "workerinput"):
            return
        self.told = tenth
        failed = len(self.results.only(FAILED))
        terminal.write_line(
            f"{10 * tenth:3d}%  {len(self.results.found):>6,} of {self.planned:,} items, "
            f"{failed} failed, {time.perf_counter() - self.begun:.0f} s"
        )

    def pytest_report_teststatus(self, report: pytest.TestReport) -> Any:
        """An item that passes leaves no dot: there are thousands."""
        if _noted(report, _PROPERTY) is None or report.failed:
            return None
        kind = "skipped" if report.skipped and not hasattr(report, "wasxfail") else "passed"
        kind = "xfailed" if hasattr(report, "wasxfail") else kind
        return (kind if report.when == "call" else ""), "", kind.upper()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """The matrix, and the files that were asked for."""
        if not self.results.found:
            return
        terminalreporter.section(f"conformance of backend {self.results.backend!r}")
        for line in report.terminal(self.results).splitlines():
            terminalreporter.write_line(line)
        for path in self.config.getoption("--report"):
            Path(path).write_text(report.writer(path)(self.results), encoding="utf-8")
            terminalreporter.write_line(f"written: {path}")


def _item_of(test: pytest.Item) -> Item | None:
    found = getattr(test, "callspec", None)
    item = found.params.get("item") if found is not None else None
    return item if isinstance(item, Item) else None


def _noted(report: Any, name: str) -> Any:
    """What was written down about a test's item under this name; None for other tests."""
    properties: dict[str, Any] = dict(getattr(report, "user_properties", ()))
    return properties.get(name)


def _told(item: Item, caught: pytest.ExceptionInfo[BaseException]) -> str:
    """A failure in words; an error that nobody expected with the lines it passed."""
    error = caught.value
    lines = [item.id]
    if isinstance(error, AssertionError):
        lines.append(str(error))
    else:
        # The lines of pytest before the suite's own tell nobody anything.
        caught.traceback = caught.traceback.cut(path=SUITE)
        lines += [f"{type(error).__name__}: {error}", str(caught.getrepr(style="short"))]
    return "\n".join([*lines, "", "To see it again:", _indented(item.program())])


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.splitlines())


def _outcome(report: pytest.TestReport) -> tuple[str, str]:
    """The outcome of a finished test, and its sentence."""
    if hasattr(report, "wasxfail"):
        return GAP, str(report.wasxfail).removeprefix("reason: ")
    if report.failed:
        text = str(report.longrepr)
        if "[XPASS(strict)]" in text:
            return FAILED, "it passes although the gaps list it: remove the line"
        return FAILED, text.partition("\n")[2].partition("\n\nTo see it again:")[0]
    if report.skipped:
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else "")
        kind, _, sentence = reason.removeprefix("Skipped: ").partition(": ")
        return (NOT_YET if kind == NOT_YET else REFUSED), sentence
    return PASSED, ""
