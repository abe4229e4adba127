"""Text back to graphs: the inverse of `printing`, with errors that give line and column."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NoReturn

from arrayx import dtypes, errors
from arrayx.core.array import typeof
from arrayx.core.aval import NOWHERE, Aval
from arrayx.core.graph import Equation, Graph, Var, param_classes
from arrayx.core.primitive import Primitive, find, import_all
from arrayx.core.printing import RESERVED, Absent

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
        if name in names or name in RESERVED:
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
        found = find(name)
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
            import_all()
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
