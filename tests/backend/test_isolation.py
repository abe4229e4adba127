"""Plugins that fail in every way, from real wheels in a real environment, harm nobody else."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHECKOUT = (ROOT, ROOT / "backends")
Environments = Callable[..., Any]

HEAD = """
import numpy as np
from arrayx.backend import Device, KernelBackend, hookimpl
from arrayx_numpy.kernels import KERNELS

class Plain(KernelBackend):
    name = NAME
    quiet = True
    kernels = KERNELS

@hookimpl
def arrayx_make_backend(name):
    return make() if name == NAME else None
"""


def plugin(name: str, body: str) -> str:
    return f"NAME = {name!r}\n{HEAD}\n{body}\n"


# The source of each plugin's module.
MODULES = {
    "good": plugin("good", "make = Plain"),
    "raises": "raise RuntimeError('half written')\n",
    "exits": "import sys\nsys.exit(3)\n",
    "slow": plugin("slow", "import time\ntime.sleep(1.2)\nmake = Plain"),
    "stale": "",
    "future": plugin("future", "class make(Plain):\n    api_version = (9, 0)"),
    "ancient": plugin("ancient", "class make(Plain):\n    api_version = (0, 3)"),
    "newer": "from arrayx.backend import SomethingToCome\n",
    "back": plugin(
        "back",
        "import arrayx as ax, arrayx.numpy as anp\n"
        "ax.backends.names()\nx = anp.ones(2) + 1\nmake = Plain",
    ),
    "wrong": plugin(
        "wrong",
        "class make(Plain):\n    kernels = {**KERNELS, 'add': lambda x, y: np.float64([1, 2])}",
    ),
    "refuses": plugin("refuses", "def make():\n    raise ValueError('no such driver')"),
    "lacks": plugin("lacks", "def make():\n    import a_library_nobody_has"),
    "devices": plugin(
        "devices",
        "class make(Plain):\n    def devices(self):\n        raise OSError('bus is gone')",
    ),
    "twin": plugin("twin", "make = Plain"),
    "twin_again": plugin("twin", "make = Plain"),
    "squatter": plugin("numpy", "make = Plain"),
    "helper": "from arrayx.backend import hookimpl\nraise LookupError('no kernels today')\n",
}
# The names that are asked for, with the state, words of the reason and of the remedy.
OUTCOMES = {
    "good": ("ready", "", ""),
    "raises": ("broken", "RuntimeError: half written", "pip uninstall ax-raises"),
    "exits": ("broken", "SystemExit: 3", "pip uninstall ax-exits"),
    "slow": ("ready", "", ""),
    "stale": ("broken", "No module named 'ax_stale'", "pip install --force-reinstall ax-stale"),
    "future": ("unavailable", "(9, 0), this arrayx has (1, 0)", "pip install --upgrade arrayx"),
    "ancient": ("unavailable", "(0, 3), this arrayx has", "pip install --upgrade ax-ancient"),
    "newer": ("broken", "cannot import name 'SomethingToCome'", "pip install --upgrade arrayx"),
    "back": ("ready", "", ""),
    "wrong": ("faulty", "it gave float64[2] for an array of type float", "conformance --backend="),
    "refuses": ("broken", "ValueError: no such driver", "tell its authors"),
    "lacks": ("broken", "a_library_nobody_has", "install what brings the module"),
    "devices": ("broken", "OSError: bus is gone", "tell its authors"),
    "twin": (
        "unavailable",
        "several distributions",
        "uninstall ax-twin or pip uninstall ax-twin-ag",
    ),
}


def wheel(folder: Path, name: str, source: str) -> Path:
    """A wheel with one module and its entry point, as any builder would write it."""
    module, package = f"ax_{name}", f"ax_{name}-1.0"
    group, entry = ("arrayx.kernels", "good") if name == "helper" else ("arrayx.backends", name)
    entry = {"twin_again": "twin", "squatter": "numpy"}.get(name, entry)
    dist = name.replace("_", "-")
    files = {
        f"{package}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: ax-{dist}\nVersion: 1.0\n",
        f"{package}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\n"
        "Root-Is-Purelib: true\nTag: py3-none-any\n",
        f"{package}.dist-info/entry_points.txt": f"[{group}]\n{entry} = {module}\n",
    }
    if source:
        files[f"{module}.py"] = source
    record = f"{package}.dist-info/RECORD"
    lines = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        lines.append(f"{path},sha256={digest.decode()},{len(text.encode())}")
    files[record] = "\n".join([*lines, f"{record},,"]) + "\n"
    made = folder / f"{package}-py3-none-any.whl"
    with zipfile.ZipFile(made, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return made


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, environments: Environments) -> Any:
    folder = tmp_path_factory.mktemp("isolation")
    made = environments(folder / "environment", CHECKOUT)
    made.install(*[wheel(folder, name, source) for name, source in MODULES.items()])
    return made


@pytest.fixture(scope="module")
def garbled(tmp_path_factory: pytest.TempPathFactory, environments: Environments) -> Any:
    """Another environment, with one good plugin, and metadata that nobody can read."""
    folder = tmp_path_factory.mktemp("garbled")
    made = environments(folder / "environment", CHECKOUT)
    made.install(wheel(folder, "good", MODULES["good"]))
    info = made.site / "odd-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: odd\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[arrayx.backends]\nthis is no entry point\n")
    return made


SUM = "import arrayx.numpy as anp\nassert float((anp.ones(3) + 1).sum()) == 6"


def test_importing_arrayx_imports_no_plugin_and_says_nothing(environment: Any) -> None:
    program = f"import json, sys\n{SUM}\nprint(json.dumps(sorted(sys.modules)))"
    loaded = environment.tell(program)
    assert "arrayx_numpy.backend" in loaded
    assert not [m for m in loaded if m.startswith("ax_")]


HEAVY = ("jaxlib", "scipy", "cupy", "torch", "numba", "rich", "arrayx_numpy", "arrayx_xla")


def test_listing_backends_imports_neither_plugins_nor_libraries(environment: Any) -> None:
    program = (
        "import json, sys, io, contextlib\nfrom arrayx.__main__ import main\n"
        "out = io.StringIO()\n"
        "with contextlib.redirect_stdout(out):\n    code = main(['backends'])\n"
        "print(json.dumps([code, out.getvalue(), sorted(sys.modules)]))"
    )
    code, out, loaded = environment.tell(program)
    assert code == 0
    listed = {line.split()[0] for line in out.splitlines()}
    assert listed == {*OUTCOMES, "numpy", "xla", "cupy"}
    tops = {module.split(".")[0] for module in loaded}
    assert not tops & set(HEAVY) and not [t for t in tops if t.startswith("ax_")]


ASK = """
import json, numpy as np, arrayx as ax, arrayx.numpy as anp
told = {}
for name in NAMES:
    try:
        x = ax.device_put(np.array([1.0, 2.0, 4.0]), name) + 1
        told[name] = x.tolist()
    except ax.errors.BackendError as error:
        told[name] = f"{type(error).__name__}: {error}"
    assert (anp.ones(2) + 1).tolist() == [2, 2]
    assert ax.backends.get("good").name == "good"
records = [[r.name, r.state, r.reason, r.remedy, r.trace] for r in ax.backends.doctor()]
print(json.dumps([told, records]))
"""


@pytest.fixture(scope="module")
def asked(environment: Any) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """What each plugin gave when it was asked for, all in one process, and doctor's records."""
    told, records = environment.tell(f"NAMES = {list(OUTCOMES)!r}\n{ASK}")
    return told, {r[0]: r[1:] for r in records}


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_plugin_is_its_own_trouble_alone(name: str, asked: Any) -> None:
    (told, records), (state, words, remedy) = asked, OUTCOMES[name]
    if state == "ready":
        assert told[name] == [2.0, 3.0, 5.0]
    elif state == "faulty":
        assert told[name].startswith("BackendError: backend 'wrong' broke its contract")
    else:
        assert told[name].startswith(f"BackendUnavailableError: backend {name!r} cannot be used: ")
        assert words in told[name] and remedy in told[name]
    found = records[name]
    assert found[0] == state and words in found[1] and remedy in found[2]
    assert ("Traceback" in found[3]) == (state != "ready")


def test_what_stands_beside_the_backends_has_records_too(asked: Any) -> None:
    records = asked[1]
    assert records["good+ax_helper"][:2] == ["broken", "LookupError: no kernels today"]
    # The name of arrayx's own is there twice: this is the later one.
    state, reason, remedy, _ = records["numpy"]
    assert state == "ignored" and "belongs to arrayx" in reason and remedy.endswith("ax-squatter")


def test_doctor_prints_reasons_tracebacks_and_remedies(environment: Any) -> None:
    done = environment.run("-m", "arrayx", "doctor")
    assert done.returncode == 1
    for name, (state, words, remedy) in OUTCOMES.items():
        begin = f"\n{done.stdout}".index(f"\n{name}: {state}")
        block = done.stdout[begin : begin + 6000]
        assert words in block and remedy in block
    assert "good: ready (ax_good of ax-good 1.0)" in done.stdout
    assert "slow: ready (ax_slow of ax-slow 1.0, loaded in 1." in done.stdout
    assert 'ax_raises.py", line 1' in done.stdout and "numpy: ready" in done.stdout


def test_explain_says_why_the_others_do_not_run(environment: Any) -> None:
    program = (
        "import json, arrayx as ax, arrayx.numpy as anp\nax.backends.doctor()\n"
        "print(json.dumps(ax.backends.explain(anp.logaddexp, anp.ones(2), anp.ones(2))))"
    )
    said = environment.tell(program)
    assert said.startswith("runs on numpy:cpu:0, because 2 of its arrays live there")
    for name, (state, words, _) in OUTCOMES.items():
        assert f"  not {name}: {words if state == 'unavailable' else ''}" in said or words in said
    assert "not raises: RuntimeError: half written" in said and "not good: not asked for" in said


def test_a_plugin_that_needs_itself_while_it_is_loaded_is_told_so(environment: Any) -> None:
    program = (
        "import json, arrayx as ax, arrayx.numpy as anp\n"
        "try:\n    anp.ones(2)\nexcept ax.errors.BackendUnavailableError as error:\n"
        "    print(json.dumps([str(error), ax.backends.get('numpy').name]))"
    )
    said, other = environment.tell(program, ARRAYX_BACKEND="back")
    assert "asked for while its own plugin is being loaded" in said and other == "numpy"


def test_metadata_that_cannot_be_read_is_a_record(garbled: Any) -> None:
    program = (
        f"import json, arrayx as ax\n{SUM}\nassert ax.backends.get('good').name == 'good'\n"
        "print(json.dumps([[r.name, r.state, r.reason] for r in ax.backends.doctor()]))"
    )
    records = garbled.tell(program)
    (odd,) = [r for r in records if "odd-1.0" in r[0]]
    assert odd[1] == "broken" and "metadata cannot be read" in odd[2]
    assert ["good", "ready", ""] in records
