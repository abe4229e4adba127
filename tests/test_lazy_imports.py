"""What `import arrayx` brings in: little, counted so that no noise of a clock hides its growth."""

from __future__ import annotations

import ast
import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from arrayx.core.array import Array
from arrayx.core.primitive import find
from arrayx.lazy import lazy_attributes
from arrayx.numpy import operators

ROOT = Path(__file__).parent.parent
# Packages whose names are imported when first looked at.
PACKAGES = (
    "arrayx",
    "arrayx.backend",
    "arrayx.dtypes",
    "arrayx.lax",
    "arrayx.lax.linalg",
    "arrayx.numpy",
    "arrayx.numpy.fft",
    "arrayx.numpy.linalg",
    "arrayx.scipy",
)
HEAVY = {
    *("cupy", "jax", "jaxlib", "opt_einsum", "rich", "scipy", "sklearn", "torch"),
    *("asyncio", "decimal", "difflib", "email", "hashlib", "http", "logging", "pluggy"),
}


def modules_after(program: str) -> set[str]:
    """The modules that a fresh interpreter has after a program."""
    program += "\nimport sys; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return set(done.stdout.decode().split())


def of_arrayx(modules: set[str]) -> list[str]:
    return sorted(m for m in modules if m.split(".")[0].startswith("arrayx"))


def test_importing_arrayx_imports_few_modules() -> None:
    # 86 when this was written; each costs about a three-hundredth of `import numpy`.  A module
    # that the first `ax.grad(f)(x)` can do without has no place here: see `arrayx.lazy`.
    found = modules_after("import arrayx")
    assert len(of_arrayx(found)) <= 90, of_arrayx(found)
    assert not {m for m in of_arrayx(found) if m.startswith(("arrayx.numpy.", "arrayx.lax."))} - {
        "arrayx.numpy.operators",
    }


def test_importing_arrayx_imports_no_heavy_library() -> None:
    numpy = modules_after("import numpy")
    assert not HEAVY & (modules_after("import arrayx") - numpy)


def test_the_first_gradient_imports_only_what_it_needs() -> None:
    program = "import arrayx as ax, arrayx.numpy as anp; ax.grad(lambda x: anp.sin(x) * x)(2.0)"
    found = of_arrayx(modules_after(program))
    assert len(found) <= 130, found  # 120 when this was written, of about 300
    unneeded = ("arrayx.control.cond", "arrayx.lax.loops", "arrayx.numpy.sets", "arrayx.random")
    assert not [name for name in unneeded if name in found]


def imports_for_type_checkers(package: str) -> dict[str, tuple[str, str]]:
    """By name, the module and the name there that stand under `TYPE_CHECKING`."""
    module = importlib.import_module(package)
    found = {}
    for node in ast.parse(Path(str(module.__file__)).read_text()).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for statement in node.body:
                assert isinstance(statement, ast.ImportFrom) and statement.module
                for alias in statement.names:
                    found[alias.asname or alias.name] = (statement.module, alias.name)
    return found


@pytest.mark.parametrize("package", PACKAGES)
def test_what_type_checkers_read_is_what_is_imported(package: str) -> None:
    module = importlib.import_module(package)
    for name, (place, there) in imports_for_type_checkers(package).items():
        source = importlib.import_module(place)
        whole = package == place or not hasattr(source, there)
        wanted = importlib.import_module(f"{place}.{there}") if whole else getattr(source, there)
        assert getattr(module, name) is wanted, name
        assert module.__getattr__(name) is wanted, f"{name} is not in the table"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_found_and_listed(package: str) -> None:
    module = importlib.import_module(package)
    names = list(module.__all__)
    assert len(names) == len(set(names))
    for name in names:
        getattr(module, name)
    program = f"import {package} as p; print(' '.join(set(p.__all__) - set(dir(p))) or 'none')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.decode().strip() == "none"


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_is_called_as_a_module_beside_it(package: str) -> None:
    # The module, once imported, would hide the function.
    module = importlib.import_module(package)
    folder = Path(str(module.__file__)).parent
    modules = {p.stem for p in folder.iterdir() if p.suffix == ".py" or p.is_dir()}
    for name in set(imports_for_type_checkers(package)) & modules:
        assert getattr(module, name).__name__ == f"{package}.{name}"


def test_every_method_of_arrays_is_found() -> None:
    for name, place in {**operators.METHODS, **operators.PROPERTIES}.items():
        module, attribute = place.split(".")
        assert hasattr(importlib.import_module(f"arrayx.numpy.{module}"), attribute), name
        assert getattr(Array, name).__doc__ or name.startswith("__"), name
    for name in (*operators.BINARY, *operators.COMPARISONS):
        assert callable(getattr(Array, f"__{name}__"))


def test_a_name_that_no_table_has_is_an_attribute_error() -> None:
    look, _ = lazy_attributes("arrayx.numpy", {"shapes": "reshape"})
    with pytest.raises(AttributeError, match=r"module 'arrayx\.numpy' has no attribute 'reshap'"):
        look("reshap")


@pytest.mark.parametrize(
    "name", ["svd", "random_bits", "random_loggamma", "checkpoint_name", "cond"]
)
def test_a_pickled_primitive_is_found_in_a_process_that_has_not_used_it(name: str) -> None:
    pickled = pickle.dumps(find(name))
    program = f"import pickle, arrayx; print(pickle.loads({pickled!r}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert done.stdout.decode().strip() == name, done.stderr.decode()


def test_a_text_names_primitives_that_the_process_has_not_used() -> None:
    program = (
        "import arrayx as ax\n"
        "graph = ax.make_graph(lambda x: ax.lax.top_k(ax.numpy.fft.fft(x).real, 2))"
        "(ax.numpy.ones(4))\n"
        "print(graph)"
    )
    text = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True).stdout
    program = (
        "import sys\nfrom arrayx.core.parsing import parse_graph\n"
        "text = sys.stdin.read(); assert str(parse_graph(text)).strip() == text.strip()"
    )
    done = subprocess.run([sys.executable, "-c", program], input=text, capture_output=True)
    assert not done.returncode, done.stderr.decode()
