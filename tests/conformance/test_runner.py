"""The suite as a third party runs it: from the command line, against a backend of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from arrayx.backend.registry import registry
from arrayx.conformance import report
from arrayx.conformance.gaps import gap_for, parse_gaps
from arrayx.conformance.item import CORE, FAILED, FULL, GAP, NOT_YET, PASSED, REFUSED
from arrayx.conformance.results import Result, Results
from arrayx.conformance.sections.table import SECTIONS, items

ROOT = Path(__file__).parents[2]
# Backends of strangers: one that is right, one with a wrong kernel, one that refuses everything.
STRANGERS = """
from arrayx.backend import KernelBackend, hookimpl
from arrayx_numpy.kernels import KERNELS


class Stranger(KernelBackend):
    quiet = True

    def __init__(self, name, kernels):
        type(self).kernels = kernels
        self.name = name
        super().__init__()


class Refusing(KernelBackend):
    name = "refusing"


@hookimpl
def arrayx_make_backend(name):
    if name == "right":
        return type("Right", (Stranger,), {"name": name})(name, KERNELS)
    if name == "crooked":
        wrong = {**KERNELS, "sin": lambda x: KERNELS["sin"](x) * x.dtype.type(1.1)}
        return type("Crooked", (Stranger,), {"name": name})(name, wrong)
    if name == "refusing":
        return Refusing()
"""


@pytest.fixture(scope="module")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a distribution of backends, as a wheel would leave it."""
    folder = tmp_path_factory.mktemp("strangers")
    (folder / "strangers.py").write_text(STRANGERS)
    info = folder / "strangers-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n")
    lines = "".join(f"{name} = strangers\n" for name in ("right", "crooked", "refusing"))
    (info / "entry_points.txt").write_text(f"[arrayx.backends]\n{lines}")
    return folder


def run(
    folder: Path, *arguments: str, module: str = "arrayx.conformance"
) -> subprocess.CompletedProcess[str]:
    path = [str(folder), str(ROOT), str(ROOT / "backends")]
    return subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=folder,
        env={"PYTHONPATH": ":".join(path), "PATH": "", "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=300,
    )


def test_a_backend_that_is_right_passes_and_the_report_says_so(strangers: Path) -> None:
    choice = ("-k", "sin/ or elements_are_kept")
    done = run(strangers, "--backend=right", *choice, "--report=r.json", "--report=r.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "backend 'right' passes the level 'core'" in done.stdout
    found = json.loads((strangers / "r.json").read_text())
    assert found["passed"] and {r["outcome"] for r in found["results"]} == {"passed"}
    assert "<td>sin" in (strangers / "r.html").read_text()


def test_a_wrong_kernel_fails_with_a_program_that_shows_it(strangers: Path) -> None:
    done = run(strangers, "--backend=crooked", "-k", "values and sin/float64")
    assert done.returncode == 1
    assert "sin on crooked, result 0:" in done.stdout and "expected" in done.stdout
    program = done.stdout.partition("To see it again:\n")[2].splitlines()[:5]
    (strangers / "again.py").write_text("\n".join(line[4:] for line in program))
    again = run(strangers, module="again")
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("got [array(") and "expected [array(" in again.stdout


def test_a_backend_that_refuses_everything_fails(strangers: Path) -> None:
    done = run(strangers, "--backend=refusing", "-k", "values and (add or sin)")
    assert done.returncode == 1
    assert "does not pass the level 'core'" in done.stdout
    assert "refuses what every backend owes: backend 'refusing' cannot run add" in done.stdout


def test_a_known_gap_is_no_failure_and_a_closed_one_is(strangers: Path) -> None:
    (strangers / "gaps.txt").write_text("values/sin/*: its sine is crooked\n")
    choice = ("--gaps=gaps.txt", "-k", "values/sin/float")
    done = run(strangers, "--backend=crooked", *choice)
    assert done.returncode == 0, done.stdout
    assert "its sine is crooked" in done.stdout
    closed = run(strangers, "--backend=right", *choice)
    assert closed.returncode == 1
    assert "it passes although the gaps list it: remove the line" in closed.stdout


def test_the_plugin_adds_the_suite_to_somebody_s_own_tests(strangers: Path) -> None:
    own = strangers / "own"
    own.mkdir()
    (own / "test_own.py").write_text("def test_own():\n    pass\n")
    (own / "pytest.ini").write_text(
        "[pytest]\naddopts = -p arrayx.conformance.plugin --backend=right -p no:cacheprovider\n"
    )
    done = run(strangers, str(own), "-k", "test_own or devices_are_made_once", module="pytest")
    assert done.returncode == 0, done.stdout
    assert "2 passed" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "which backend? Give --backend=NAME"),
        (("--backend=rihgt",), "no backend 'rihgt'"),
        (("--backend=right", "--report=r.txt"), "must end in one of .html, .json, .md"),
        (("--backend=right", "--gaps=nowhere.txt"), "nowhere.txt"),
        (("--backend=right", "--level=some"), "invalid choice: 'some'"),
    ],
)
def test_a_mistake_on_the_command_line_is_told_before_anything_runs(
    arguments: tuple[str, ...], words: str, strangers: Path
) -> None:
    done = run(strangers, *arguments)
    assert done.returncode == 4, done.stdout
    assert words in done.stderr + done.stdout


def test_help_says_what_can_be_asked(strangers: Path) -> None:
    done = run(strangers, "--help")
    assert done.returncode == 0 and "--level=LEVEL" in done.stdout


@pytest.fixture(scope="module")
def everything() -> list[object]:
    return items("numpy", FULL)  # type: ignore[return-value]


def test_every_section_has_items_of_its_own_names(everything) -> None:
    names = Counter(item.id for item in everything)
    assert not [name for name, n in names.items() if n > 1]
    assert {item.section for item in everything} == {*SECTIONS}


def test_the_level_core_is_a_part_of_the_level_full(everything) -> None:
    assert {i.id for i in items("numpy", CORE)} < {i.id for i in everything}


def test_what_is_owed_at_the_level_core_is_what_is_core(everything) -> None:
    owed = {p.id for p in everything if p.core and p.section == "values"}
    assert owed and all(p.owed for p in everything if p.id in owed)


def test_gaps_need_reasons_and_know_stars() -> None:
    gaps = parse_gaps("# a remark\n\nvalues/sin/*: crooked\nedges/pow: no zeros\n")
    assert [gap.line for gap in gaps] == [3, 4]
    found = gap_for(gaps, "values/sin/float32")
    assert found is not None and found.reason == "crooked"
    assert gap_for(gaps, "values/cos/float32") is None
    with pytest.raises(ValueError, match="line 1 of the gaps has no reason"):
        parse_gaps("values/sin")


@pytest.fixture
def results() -> Results:
    def one(id: str, outcome: str, sentence: str = "", program: str = "") -> Result:
        section, subject, dtype = id.split("/")
        return Result(id, section, subject, dtype, outcome, sentence, program)

    return Results(
        "mine",
        CORE,
        "1.0",
        [
            one("values/sin/float32", PASSED),
            one("values/sin/float64", FAILED, "off by <1>", "print(1)"),
            one("values/eig/float32", REFUSED, "no LAPACK here"),
            one("parallel/pmap/", NOT_YET, "to come"),
            one("edges/pow/float32", GAP, "known"),
        ],
    )


def test_the_terminal_report_counts_and_tells(results: Results) -> None:
    text = report.terminal(results)
    assert "1 x no LAPACK here" in text and "1 x to come" in text and "1 x known" in text
    verdict = "does not pass the level 'core': 1 passed, 1 failed, 1 refused, 1 not yet, 1 gap"
    assert text.endswith(verdict)


def test_the_page_shows_subjects_by_sections_and_by_dtypes(results: Results) -> None:
    text = report.page(results)
    assert "off by &lt;1&gt;" in text and "print(1)" in text
    assert "<td>sin<td class=failed title='1 passed, 1 failed'>1" in text
    assert "<td class=refused title='1 refused'>1" in text


def test_the_markdown_report_is_a_table(results: Results) -> None:
    lines = report.markdown(results).splitlines()
    assert "| `sin` | X |  |" in lines
    assert "- **parallel**: ? pmap" in lines
    assert "| `sin` | + | X |" in lines


def test_a_run_of_nothing_is_no_pass() -> None:
    assert not Results("mine", CORE, "1.0").passed


def test_the_first_party_backends_are_known_here() -> None:
    assert registry.get("numpy").name == "numpy"
