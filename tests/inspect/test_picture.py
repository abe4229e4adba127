"""Pictures of graphs: complete, without overlaps, coloured by loop, and shown by a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

import arrayx as ax
import arrayx.numpy as anp
from arrayx import errors
from arrayx.conformance.work import calls_of
from arrayx.core.graph import subgraphs
from arrayx.inspect.layout import Picture, pictured

SVG = "{http://www.w3.org/2000/svg}"


def chain(x: Any) -> Any:
    y = anp.sin(x) * 2
    return anp.sum(y), anp.sort(y)


def loop(x: Any) -> Any:
    return ax.lax.scan(lambda c, e: (c + anp.sin(e), c * 2), x[0], x)


def choice(x: Any) -> Any:
    return ax.lax.cond(x[0, 0] > 0, anp.sin, lambda y: loop(y)[1] * 2, x)


FUNCTIONS = {
    "chain": chain,
    "loop": loop,
    "choice": choice,
    "gradient": ax.grad(lambda x: anp.sum(loop(x)[1])),
    "no arguments": lambda: anp.arange(3) + 1,
    "several results of one": lambda x: (x, x, x),
}


def graph_of(name: str) -> ax.Graph:
    arguments = () if name == "no arguments" else (anp.ones((3, 4)),)
    return ax.make_graph(FUNCTIONS[name])(*arguments)


def parsed(graph: ax.Graph) -> Any:
    return ElementTree.fromstring(graph.draw("svg"))


def equations_in(graph: ax.Graph) -> int:
    """How many equations a graph has, those of the graphs inside too."""

    return sum(
        1 + sum(equations_in(sub) for sub in subgraphs(e) if e.primitive.holds_graphs)
        for e in graph.equations
    )


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_equation_is_a_box(name: str) -> None:
    graph = graph_of(name)
    boxes = [g for g in parsed(graph).iter(f"{SVG}g") if "equation" in g.get("class", "")]
    assert len(boxes) == equations_in(graph)


def overlaps(picture: Picture) -> list[tuple[str, str]]:
    """The pairs of boxes that cover each other, in the pictures inside too."""
    found = []
    for i, a in enumerate(picture.nodes):
        assert a.x >= 0 and a.x + a.width <= picture.width
        assert a.y >= 0 and a.y + a.height <= picture.height
        for b in picture.nodes[:i]:
            apart = (
                a.x + a.width <= b.x
                or b.x + b.width <= a.x
                or a.y + a.height <= b.y
                or b.y + b.height <= a.y
            )
            if not apart:
                found.append((a.label, b.label))
        for _, _, inner in a.inside:
            assert inner.width <= a.width and inner.height <= a.height
            found += overlaps(inner)
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_box_covers_another(name: str) -> None:
    assert overlaps(pictured(graph_of(name))) == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges_go_down(name: str) -> None:
    for edge in pictured(graph_of(name)).edges:
        assert edge.start.y + edge.start.height <= edge.end.y


def colours(graph: ax.Graph) -> dict[str, str]:
    """The fill of each equation's box by its label."""
    found = {}
    for group in parsed(graph).iter(f"{SVG}g"):
        if "equation" in group.get("class", ""):
            found[group.find(f"{SVG}text").text] = group.find(f"{SVG}rect").get("fill")
    return found


def test_equations_of_one_loop_have_one_colour() -> None:
    found = colours(graph_of("chain"))
    assert found["sin"] == found["mul 2.0"] == found["reduce_sum"] != found["sort"]


def test_a_box_tells_its_line_its_flops_and_its_bytes() -> None:
    text = graph_of("chain").draw("svg")
    line = chain.__code__.co_firstlineno + 1
    assert re.search(
        rf"float32\[3,4\]\n[^<]*test_picture\.py:{line} \(chain\)\n12 flop, 96 B", text
    )


def test_labels_are_escaped() -> None:
    graph = ax.make_graph(lambda x: x < 2)(anp.ones(3))
    assert ElementTree.fromstring(graph.draw("svg")) is not None


def test_a_page_shows_the_picture_and_the_costs() -> None:
    page = graph_of("chain").draw("html")
    assert page.startswith("<!doctype html>") and "<svg" in page and "flop" in page
    assert "http" not in page.replace("http://www.w3.org/2000/svg", "")  # it needs nothing else


def test_the_form_is_checked() -> None:
    with pytest.raises(errors.ArgumentError, match="one of dot, svg, html, got 'png'"):
        graph_of("chain").draw("png")
    with pytest.raises(errors.ArgumentError, match="ends in none of dot, svg, html"):
        ax.inspect.draw(chain, "picture.png")


@pytest.mark.parametrize("form", ["svg", "html", "dot"])
def test_a_picture_goes_to_a_file(form: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{form}"
    ax.inspect.draw(chain, path)(anp.ones((3, 4)))
    assert path.read_text(encoding="utf-8") == graph_of("chain").draw(form)


def test_drawing_takes_linear_time() -> None:
    def repeated(n: int) -> Any:
        def function(x: Any) -> Any:
            for _ in range(n):
                x = anp.sin(x)
            return x

        return ax.make_graph(function)(anp.ones(3))

    short, long = (repeated(n) for n in (200, 1600))
    ratio = calls_of(lambda: long.draw("svg")) / calls_of(lambda: short.draw("svg"))
    assert ratio < 10


BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), ""
)


@pytest.mark.slow
@pytest.mark.skipif(not BROWSER, reason="no browser here: apt-get install chromium")
def test_a_browser_shows_the_page(tmp_path: Path) -> None:
    path, image = tmp_path / "page.html", tmp_path / "page.png"
    path.write_text(graph_of("choice").draw("html"), encoding="utf-8")
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--screenshot={image}"]
    subprocess.run([*command, path.as_uri()], check=True, timeout=120, capture_output=True)
    assert image.stat().st_size > 10_000  # an empty page takes 5 kB
    dom = subprocess.run(
        [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", path.as_uri()],
        check=True,
        timeout=120,
        capture_output=True,
        text=True,
    ).stdout
    assert dom.count('class="node equation"') == equations_in(graph_of("choice"))
