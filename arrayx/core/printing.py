"""Graphs as text that reads well and parses back: for people, reproducers and cache keys.

    graph(a: float32[3], b: float32[3]) const(c: float32[3]) {
      d: float32[3] = sin a
      e: float32[3] = mul d 2.0
      f: float32[] = reduce_sum[axes=(0,)] e
      return f, d
    }

A variable's type follows its name, weak ones marked `~` and those that vary over mesh axes
`{i,j}`.  Sub-graphs stand among the params, with names of their own; one that occurs again is
written once, after a label, and named by it: `graph=@1 graph(...) {...}`, later `graph=@1`.
Constants are names with types; their values are apart (`constants_of`).
"""

from __future__ import annotations

import ast
import difflib
import hashlib
import itertools
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, NoReturn

import numpy as np

from arrayx import dtypes, errors
from arrayx.core.array import SCALARS, typeof
from arrayx.core.aval import NOWHERE, Aval
from arrayx.core.graph import Equation, Graph, Var, fields_of, graphs_in, param_classes
from arrayx.core.primitive import Primitive

_WIDTH = 96
_SCALARS = frozenset(SCALARS)
# Words that mean something else, so that no variable may be called so.
_RESERVED = frozenset(
    {"graph", "const", "return", "True", "False", "None", "inf", "nan", "infj", "nanj"}
)


# ----------------------------------------------------------------- from graphs to text


def variable_names() -> Iterator[str]:
    """a, b, …, z, aa, ab, …

    >>> list(itertools.islice(variable_names(), 28))[-3:]
    ['z', 'aa', 'ab']
    """
    for length in itertools.count(1):
        for letters in itertools.product("abcdefghijklmnopqrstuvwxyz", repeat=length):
            name = "".join(letters)
            if name not in _RESERVED:
                yield name


def names_of(graph: Graph) -> dict[Var, str]:
    """The name that each variable has in the graph's text."""
    made = (v for e in graph.equations for v in e.outputs)
    names: dict[Var, str] = {}
    fresh = variable_names()
    for var in itertools.chain(graph.inputs, graph.constants, made):
        if var not in names:
            names[var] = next(fresh)
    return names


def ordered_params(params: dict[str, Any]) -> list[tuple[str, Any]]:
    """Params in the order of the text: by name, those that hold graphs last."""
    return sorted(
        params.items(), key=lambda item: (next(graphs_in(item[1]), None) is not None, item[0])
    )


def format_graph(graph: Graph, sources: bool = False) -> str:
    """The graph as text, which `parse_graph` reads back.

    `sources` adds the line of the user's program that made an equation as a comment.
    """
    printer = _Printer(sources, _occurring_again(graph))
    printer.graph(graph, 0)
    return "".join(printer.parts)


def format_equation(equation: Equation, names: dict[Var, str]) -> str:
    """One equation as a line of text, sub-graphs left out, for messages."""
    printer = _Printer(False, {}, brief=True)
    printer.equation(equation, names, 0)
    return "".join(printer.parts)


def _occurring_again(graph: Graph) -> dict[int, int]:
    """Ids of the sub-graphs that occur more than once; their labels are given later."""
    seen: set[int] = set()
    again: dict[int, int] = {}
    todo = [graph]
    while todo:
        for equation in todo.pop().equations:
            for value in equation.params.values():
                for sub in graphs_in(value):
                    if id(sub) in seen:
                        again[id(sub)] = 0
                    else:
                        seen.add(id(sub))
                        todo.append(sub)
    return again


def constants_of(graph: Graph) -> tuple[Any, ...]:
    """All values of constants, sub-graphs' included, in the order the text names them."""
    found: list[Any] = []
    seen: set[int] = set()

    def visit(graph: Graph) -> None:
        if id(graph) in seen:
            return
        seen.add(id(graph))
        found.extend(graph.constant_values)
        for equation in graph.equations:
            for _, value in ordered_params(equation.params):
                for sub in graphs_in(value):
                    visit(sub)

    visit(graph)
    return tuple(found)


class _Printer:
    """Appends pieces of text to `parts`; pieces are joined once, at the end."""

    def __init__(self, sources: bool, again: dict[int, int], brief: bool = False) -> None:
        self.parts: list[str] = []
        self.sources = sources
        self.brief = brief
        # Labels by id of the sub-graph; 0 until it is printed for the first time.
        self.again = again
        self.labels = itertools.count(1)
        # What cannot be read back.
        self.opaque: list[Any] = []

    def graph(self, graph: Graph, indent: int) -> None:
        if self.brief:
            self.parts.append("graph(...)")
            return
        label = self.again.get(id(graph))
        if label:
            self.parts.append(f"@{label}")
            return
        if label == 0:
            label = self.again[id(graph)] = next(self.labels)
            self.parts.append(f"@{label} ")
        names = names_of(graph)
        self.parts.append("graph")
        self.declarations(graph.inputs, names, indent)
        if graph.constants:
            self.parts.append(" const")
            self.declarations(graph.constants, names, indent)
        self.parts.append(" {")
        line = "\n" + " " * (indent + 2)
        for equation in graph.equations:
            self.parts.append(line)
            self.equation(equation, names, indent + 2)
            if self.sources and equation.source is not None:
                self.parts.append(f"  # {_position(equation.source)}")
        outputs = ", ".join(_name(v, names) for v in graph.outputs)
        self.parts.append(line + ("return " + outputs if outputs else "return"))
        self.parts.append("\n" + " " * indent + "}")

    def declarations(self, variables: Sequence[Var], names: dict[Var, str], indent: int) -> None:
        """Names with types in parentheses: on one line, or each on its own."""
        items = [f"{names[v]}: {v.aval}" for v in variables]
        text = ", ".join(items)
        if indent + len(text) > _WIDTH:
            line = "\n" + " " * (indent + 2)
            text = line + ("," + line).join(items) + ",\n" + " " * indent
        self.parts.append(f"({text})")

    def equation(self, equation: Equation, names: dict[Var, str], indent: int) -> None:
        parts = self.parts
        outputs = equation.outputs
        if outputs:
            parts.append(", ".join([f"{_name(v, names)}: {v.aval!r}" for v in outputs]))
            parts.append(" = ")
        parts.append(equation.primitive.name)
        if equation.params:
            separator = "["
            for name, value in ordered_params(equation.params):
                parts.append(f"{separator}{name}=")
                self.value(value, indent)
                separator = ", "
            parts.append("]")
        for atom in equation.inputs:
            parts.append(" ")
            if type(atom) is Var:
                parts.append(_name(atom, names))
            else:
                self.value(atom, indent)

    def value(self, value: Any, indent: int) -> None:
        """A literal or a param."""
        cls = type(value)
        if value is None or cls in _SCALARS or cls is str:
            self.parts.append(repr(value))
        elif cls is tuple:
            self.tuple(value, indent)
        elif cls is Aval:
            self.parts.append(repr(value))
        elif isinstance(value, np.dtype | dtypes.KeyDtype):
            self.parts.append(dtypes.dtype_name(value))
        elif isinstance(value, Graph):
            self.graph(value, indent)
        elif getattr(cls, "__dataclass_params__", None) is not None:
            self.parts.append(cls.__name__ + "(")
            for i, (name, item) in enumerate(fields_of(value)):
                self.parts.append(f"{', ' if i else ''}{name}=")
                self.value(item, indent)
            self.parts.append(")")
        else:
            self.opaque.append(value)
            self.parts.append(_opaque(value))

    def tuple(self, value: tuple[Any, ...], indent: int) -> None:
        """On one line, or, where there are graphs in it, each item on lines of its own."""
        self.parts.append("(")
        if not self.brief and next(graphs_in(value), None) is not None:
            for item in value:
                self.parts.append("\n" + " " * (indent + 2))
                self.value(item, indent + 2)
                self.parts.append(",")
            self.parts.append("\n" + " " * indent + ")")
            return
        for i, item in enumerate(value):
            if i:
                self.parts.append(", ")
            self.value(item, indent)
        self.parts.append(",)" if len(value) == 1 else ")")


def _name(var: Var, names: dict[Var, str]) -> str:
    # Ill-formed graphs are printed too, by the checker's messages.
    return names.get(var) or f"<undefined {var.aval}>"


def _opaque(value: Any) -> str:
    """In place of what text cannot hold: functions and what is no param at all."""
    if callable(value):
        name = getattr(value, "__name__", type(value).__name__)
        return f"<function {name.strip('<>')}>"
    shown = re.sub(r"[<>\s]+", " ", repr(value))[:60].strip()
    return f"<{type(value).__name__} {shown}>"


def _position(source: Any) -> str:
    file = getattr(source, "file", None)
    return f"{file}:{source.line}" if file is not None else " ".join(str(source).split())


# ----------------------------------------------------------------- identity across processes


def fingerprint(graph: Graph) -> str:
    """A name for the program, the same in every process: sha256 of text and constants.

    Raises `GraphError` for a graph with functions among its params, which have no such
    name, or with constants whose values are absent.
    """
    if "fingerprint" in graph.memo:
        return graph.memo["fingerprint"]  # type: ignore[no-any-return]
    printer = _Printer(False, _occurring_again(graph))
    printer.graph(graph, 0)
    if printer.opaque:
        raise errors.GraphError(
            f"a graph that holds {_opaque(printer.opaque[0])} has no fingerprint: a function "
            "is not the same from one process to the next"
        )
    digest = hashlib.sha256(b"arrayx graph 1\n")
    digest.update("".join(printer.parts).encode())
    for value in constants_of(graph):
        if type(value) is Absent:
            raise errors.GraphError("a graph without its constants' values has no fingerprint")
        host = value.host() if hasattr(value, "host") else np.asarray(value)
        digest.update(f"\n{host.dtype}{host.shape}\n".encode())
        if host.nbytes:
            digest.update(np.ascontiguousarray(host).reshape(-1).view(np.uint8).data)
    graph.memo["fingerprint"] = digest.hexdigest()
    return graph.memo["fingerprint"]  # type: ignore[no-any-return]


# ----------------------------------------------------------------- from text to graphs


class Absent:
    """Stands for the value of a constant in a graph that was parsed without values."""

    __slots__ = ("aval",)

    def __init__(self, aval: Aval) -> None:
        self.aval = aval

    def __repr__(self) -> str:
        return f"<the absent constant of type {self.aval}; give parse_graph the values>"


_FLOAT = r"(?:inf|nan|\d+(?:\.\d*)?(?:e[-+]?\d+)?)"
_TEXT = r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\""
_AXIS = rf"(?:\w+|{_TEXT})"
_TOKEN = re.compile(
    rf"""
    (?P<space>[ \t\r]+|\#[^\n]*)
    |(?P<newline>\n)
    |(?P<complex>\(-?{_FLOAT}[-+]{_FLOAT}j\))
    |(?P<number>-?{_FLOAT}j?(?!\w))
    |(?P<aval>[^\W\d]\w*(?:<\w+>)?\[[\d,]*\]~?(?:\{{{_AXIS}(?:,{_AXIS})*\}})?)
    |(?P<word>[^\W\d][\w.]*(?:<\w+>)?)
    |(?P<string>{_TEXT})
    |(?P<label>@\d+)
    |(?P<opaque><(?:<\w+>|[^<>\n])*>)
    |(?P<sign>[()\[\]{{}}:,=])
    |(?P<bad>.)
    """,
    re.VERBOSE,
)
_DTYPES = {dtypes.dtype_name(dtype): dtype for dtype in dtypes.ALL}
_SINGLETONS = {"True": True, "False": False, "None": None}


def parse_graph(text: str, constants: Sequence[Any] | None = None) -> Graph:
    """The graph that a text of `format_graph` describes.

    `constants` are the values of its constants, in the order in which the text names them
    (as `constants_of` gives them); without them the graph can be read and transformed, but
    not run.  Raises `GraphSyntaxError`, with line and column, for other text.

    >>> print(parse_graph("graph() {\\n  return\\n}"))
    graph() {
      return
    }
    """
    return _Parser(text, constants).whole()


class _Parser:
    """Reads tokens by recursive descent; it recurses only where graphs and tuples nest."""

    def __init__(self, text: str, constants: Sequence[Any] | None) -> None:
        self.text = text
        self.kinds: list[str] = []
        self.words: list[str] = []
        self.starts: list[int] = []
        # True for tokens that begin a line: the operands of an equation end there.
        self.first: list[bool] = []
        first = True
        for match in _TOKEN.finditer(text):
            kind = match.lastgroup
            if kind == "newline":
                first = True
            elif kind != "space":
                self.kinds.append(kind)  # type: ignore[arg-type]
                self.words.append(match.group())
                self.starts.append(match.start())
                self.first.append(first)
                first = False
        self.kinds.append("end")
        self.words.append("")
        self.starts.append(len(text.rstrip()))
        self.first.append(True)
        self.at = 0
        self.values = constants
        self.used = 0
        self.labelled: dict[str, Graph] = {}

    # ------------------------------------------------------------- tokens

    def fail(self, message: str, at: int | None = None) -> NoReturn:
        """Raises the error that shows a place in the text."""
        start = self.starts[self.at if at is None else at]
        line = self.text.count("\n", 0, start) + 1
        begin = self.text.rfind("\n", 0, start) + 1
        shown = self.text[begin:].split("\n", 1)[0]
        raise errors.GraphSyntaxError(
            f"line {line}, column {start - begin + 1}: {message}\n"
            f"  {shown}\n  {' ' * (start - begin)}^"
        )

    def expected(self, what: str) -> NoReturn:
        word = self.words[self.at]
        self.fail(f"expected {what}, found {repr(word) if word else 'the end of the text'}")

    def take(self, sign: str, why: str) -> None:
        """Goes past a sign that has to be here."""
        if self.words[self.at] != sign:
            self.expected(f"{sign!r} {why}")
        self.at += 1

    def sees(self, sign: str) -> bool:
        return self.words[self.at] == sign

    def skip(self, sign: str) -> bool:
        """Goes past a sign if it is here."""
        if self.words[self.at] != sign:
            return False
        self.at += 1
        return True

    def word(self, what: str) -> str:
        if self.kinds[self.at] != "word":
            self.expected(what)
        self.at += 1
        return self.words[self.at - 1]

    # ------------------------------------------------------------- graphs

    def whole(self) -> Graph:
        graph = self.graph()
        if self.kinds[self.at] != "end":
            self.expected("the end of the text after the graph")
        if self.values is not None and self.used != len(self.values):
            raise errors.ArgumentError(
                f"parse_graph was given {len(self.values)} constants, the text has {self.used}"
            )
        return graph

    def graph(self) -> Graph:
        label = ""
        if self.kinds[self.at] == "label":
            label = self.words[self.at]
            self.at += 1
            if label in self.labelled:
                return self.labelled[label]
            if not self.sees("graph"):
                self.fail(f"no graph is labelled {label} before this place", self.at - 1)
        self.take("graph", "at the start of a graph")
        names: dict[str, Var] = {}
        inputs = self.declarations(names, "inputs")
        constants = self.declarations(names, "constants") if self.skip("const") else []
        values = [self.constant(v.aval) for v in constants]
        self.take("{", "before the equations")
        equations = []
        words = self.words
        while words[self.at] != "return":
            equations.append(self.equation(names))
        self.at += 1
        outputs = []
        if not self.sees("}"):
            outputs.append(self.variable(names))
            while self.skip(","):
                outputs.append(self.variable(names))
        self.take("}", "after the outputs")
        made = Graph(inputs, equations, outputs, constants, values)
        if label:
            self.labelled[label] = made
        return made

    def constant(self, aval: Aval) -> Any:
        """The next value given, or what stands for it."""
        number, self.used = self.used, self.used + 1
        if self.values is None:
            return Absent(aval)
        if number >= len(self.values):
            self.fail(f"{len(self.values)} constants were given, but the text has more")
        value = self.values[number]
        given = typeof(value)
        if (given.shape, given.dtype) != (aval.shape, aval.dtype):
            self.fail(f"constant {number} has type {aval}, the value given has {given}")
        return value

    def declarations(self, names: dict[str, Var], what: str) -> list[Var]:
        self.take("(", f"before the {what}")
        found = []
        while not self.skip(")"):
            found.append(self.declaration(names))
            if not self.skip(",") and not self.sees(")"):
                self.expected(f"',' or ')' after one of the {what}")
        return found

    def declaration(self, names: dict[str, Var]) -> Var:
        """A new name with its type."""
        at = self.at
        name = self.word("the name of a variable")
        if name in names or name in _RESERVED:
            why = "is defined already" if name in names else "is not a name for a variable"
            self.fail(f"{name!r} {why}", at)
        self.take(":", f"after the name {name!r}")
        if self.kinds[self.at] != "aval":
            self.expected(f"the type of {name!r}, such as float32[3]")
        names[name] = var = Var(self.aval())
        return var

    def aval(self) -> Aval:
        aval = read_aval(self.words[self.at])
        if aval is None:
            self.unknown("dtype", self.words[self.at].split("[")[0], _DTYPES)
        self.at += 1
        return aval

    def variable(self, names: dict[str, Var]) -> Var:
        if self.kinds[self.at] != "word":
            self.expected("a variable")
        var = names.get(self.words[self.at])
        if var is None:
            self.fail(f"expected a variable, but {self.words[self.at]!r} is not defined before")
        self.at += 1
        return var

    def equation(self, names: dict[str, Var]) -> Equation:
        if self.kinds[self.at] != "word":
            self.expected("an equation or 'return'")
        if not self.first[self.at]:
            self.expected("a new line before the next equation")
        made: dict[str, Var] = {}
        outputs: list[Var] = []
        if self.words[self.at + 1] == ":":
            outputs.append(self.output(names, made))
            while self.skip(","):
                outputs.append(self.output(names, made))
            self.take("=", "before the primitive")
        at = self.at
        primitive = self.primitive()
        params = self.params() if self.skip("[") else {}
        inputs = []
        while not self.first[self.at] and not self.sees("}"):
            kind = self.kinds[self.at]
            if kind == "word" and self.words[self.at] not in _SINGLETONS:
                inputs.append(self.variable(names))
            elif kind in ("word", "number", "complex"):
                inputs.append(self.value())
            else:
                self.expected("a variable, a number, or the end of the line")
        try:
            effects = primitive.effects(**params)
        except TypeError as error:
            self.fail(f"{primitive.name} does not take these params: {error}", at)
        names.update(made)
        return Equation(primitive, tuple(inputs), params, tuple(outputs), effects)

    def output(self, names: dict[str, Var], made: dict[str, Var]) -> Var:
        if self.words[self.at] in names:
            self.fail(f"{self.words[self.at]!r} is defined already")
        return self.declaration(made)

    def primitive(self) -> Primitive:
        name = self.word("the name of a primitive")
        found = Primitive.named.get(name)
        if found is None:
            self.at -= 1
            self.unknown("primitive", name, dict(Primitive.named))
        return found

    def unknown(self, what: str, name: str, known: dict[str, Any]) -> NoReturn:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        self.fail(f"expected a {what}, but none is called {name!r}{hint}")

    # ------------------------------------------------------------- params

    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = {}
        while not self.skip("]"):
            # Here inf and nan are names like others.
            name = self.words[self.at]
            if not name.isidentifier():
                self.expected("the name of a param")
            self.at += 1
            if name in params:
                self.fail(f"param {name!r} is given twice", self.at - 1)
            self.take("=", f"after the name {name!r}")
            params[name] = self.value()
            if not self.skip(",") and not self.sees("]"):
                self.expected("',' or ']' after a param")
        return params

    def value(self) -> Any:
        kind, word = self.kinds[self.at], self.words[self.at]
        if kind in ("number", "complex"):
            self.at += 1
            return read_number(word)
        if kind == "string":
            self.at += 1
            return ast.literal_eval(word)
        if kind == "aval":
            return self.aval()
        if kind == "label" or word == "graph":
            return self.graph()
        if kind == "opaque":
            if word.startswith("<function"):
                self.fail(f"{word} is a function: a graph that holds one cannot be read back")
            self.fail(f"{word} is not of the kinds that text can hold")
        if word == "(":
            return self.tuple()
        if kind != "word":
            self.expected("a value: number, string, dtype, type, tuple, graph, True, False, None")
        if word in _SINGLETONS:
            self.at += 1
            return _SINGLETONS[word]
        if self.words[self.at + 1] == "(":
            return self.dataclass()
        if word not in _DTYPES:
            self.unknown("value or dtype", word, _DTYPES)
        self.at += 1
        return _DTYPES[word]

    def tuple(self) -> tuple[Any, ...]:
        self.at += 1
        items = []
        while not self.skip(")"):
            items.append(self.value())
            if not self.skip(",") and not self.sees(")"):
                self.expected("',' or ')' after an item of a tuple")
        return tuple(items)

    def dataclass(self) -> Any:
        at = self.at
        name = self.words[at]
        cls = param_classes.get(name)
        if cls is None:
            self.unknown("class of params (one decorated with param_class)", name, param_classes)
        self.at += 2
        fields: dict[str, Any] = {}
        while not self.skip(")"):
            field = self.word("the name of a field")
            self.take("=", f"after the name {field!r}")
            fields[field] = self.value()
            if not self.skip(",") and not self.sees(")"):
                self.expected("',' or ')' after a field")
        try:
            return cls(**fields)
        except TypeError as error:
            self.fail(f"{name} cannot be made: {error}", at)


def read_number(word: str) -> int | float | complex:
    """A Python number from its `repr`."""
    if word[-1] == ")" or word[-1] == "j":
        return complex(word)
    return float(word) if not word.lstrip("-").isdigit() else int(word)


@lru_cache(1024)
def read_aval(word: str) -> Aval | None:
    """An aval from its `repr`, None if there is no such dtype."""
    head, _, varying = word.partition("{")
    name, _, rest = head.partition("[")
    dtype = _DTYPES.get(name)
    if dtype is None:
        return None
    shape = tuple(int(n) for n in rest.rstrip("~]").split(",") if n)
    axes = re.findall(_AXIS, varying) if varying else []
    names = frozenset(ast.literal_eval(a) if a[0] in "'\"" else a for a in axes)
    return Aval(shape, dtype, rest.endswith("~"), names or NOWHERE)


Graph.text = format_graph
