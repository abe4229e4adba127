"""The floors of the house: imports only go down, and none hides inside a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# From the ground up.  A module may import its own floor and those below.
FLOORS = (
    "config dtypes errors lazy limits promotion source tracebacks tree tree_nodes tree_util "
    "treedef version",
    "core typing",
    "primitives",
    "transforms",
    "control",
    "backend",
    "api ad_checkpoint custom_batching debug experimental extend ffi image inspect lax nn numpy "
    "ops random scipy sharding flatten_util test_util demo __main__ __init__",
    "conformance",
)
FLOOR = {name: i for i, names in enumerate(FLOORS) for name in names.split()}
# Modules may put an import of a heavy, optional library into the function that needs it.
ALLOWED_INSIDE = {
    ("arrayx/__main__.py", "arrayx"),  # the demo, whose libraries are an extra
    ("backends/arrayx_numpy/__init__.py", "arrayx_numpy.backend"),
    ("backends/arrayx_xla/__init__.py", "arrayx_xla.backend"),
}


def sources(folder: str) -> list[Path]:
    return sorted((ROOT / folder).rglob("*.py"))


def imported(node: ast.AST) -> Iterator[str]:
    """The modules that an import statement names."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)
        yield node.module


def floor_of(module: str) -> int | None:
    parts = module.split(".")
    if parts[0] != "arrayx":
        return None
    return FLOOR.get(parts[1]) if len(parts) > 1 else None


@pytest.mark.parametrize("path", sources("arrayx"), ids=lambda p: str(p.relative_to(ROOT)))
def test_imports_only_go_down(path: Path) -> None:
    relative = path.relative_to(ROOT / "arrayx")
    name = relative.parts[0] if len(relative.parts) > 1 else relative.stem
    assert name in FLOOR, f"{relative} stands on no floor"
    for node in ast.walk(ast.parse(path.read_text())):
        for module in imported(node):
            floor = floor_of(module)
            assert floor is None or floor <= FLOOR[name], f"{relative} imports {module} above it"


@pytest.mark.parametrize(
    "path", sources("arrayx") + sources("backends"), ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_import_hides_in_a_function(path: Path) -> None:
    relative = str(path.relative_to(ROOT))
    for function in ast.walk(ast.parse(path.read_text())):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                for module in imported(node):
                    allowed = any((relative, m) in ALLOWED_INSIDE for m in (module,))
                    prefix = (relative, module.rsplit(".", 1)[0]) in ALLOWED_INSIDE
                    assert allowed or prefix, f"{relative}: {function.name} imports {module}"


def test_the_core_knows_no_backend() -> None:
    for path in sources("arrayx"):
        for node in ast.walk(ast.parse(path.read_text())):
            for module in imported(node):
                assert not module.startswith("arrayx_"), f"{path} imports {module}"
                assert module.split(".")[0] not in ("jax", "jaxlib", "cupy"), f"{path}: {module}"


def test_nobody_takes_the_settings_for_their_module() -> None:
    # `arrayx.config` is the module until `arrayx` has been imported, and the settings after.
    for path in sources("arrayx") + sources("backends"):
        for node in ast.walk(ast.parse(path.read_text())):
            assert "arrayx.config" not in imported_from_package(node), path


def imported_from_package(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom) and node.module == "arrayx":
        return [f"arrayx.{alias.name}" for alias in node.names]
    return []
