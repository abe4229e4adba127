"""Writes the pages of the reference: one for each public module, made from the package."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docstrings import markdown, prose, summary
from names import Module, Name, public_modules

# With more names than this a table is cut by topic.
SHORT = 40
# A topic with fewer names has no table of its own.
FEW = 3
# A signature of more characters is written on several lines.
WIDE = 80


class MissingDocstring(Exception):
    """Public names without a docstring."""


def write(folder: Path) -> None:
    """Writes every page into `folder`.

    Raises:
        MissingDocstring: a public name has none.
    """
    modules = public_modules()
    pages = Pages(modules)
    folder.mkdir(parents=True, exist_ok=True)
    wanted = {f"{module.page}.md": pages.page(module) for module in modules}
    wanted["index.md"] = pages.index()
    if pages.missing:
        raise MissingDocstring("no docstring: " + ", ".join(dict.fromkeys(pages.missing)))
    for name, text in wanted.items():
        (folder / name).write_text(text)


class Pages:
    """The texts of all pages; what has no docstring is gathered in `missing`."""

    def __init__(self, modules: list[Module]) -> None:
        self.modules = modules
        self.missing: list[str] = []
        self.top = {n.name: n.value for n in modules[0].names}
        self.pages = {m.path for m in modules}
        self.targets = set(self.pages)
        self.targets |= {f"{m.path}.{n.name}" for m in modules for n in m.names}

    def index(self) -> str:
        """The table of modules."""
        rows = [f"| {self.link(m.path)} | {self.said(m)} |" for m in self.modules]
        return (
            "# Reference\n\nEvery public name, by module, made from the package itself.\n"
            "Names that are not listed here are internal, and may change without notice.\n\n"
            "| module | what is in it |\n|---|---|\n" + "\n".join(rows) + "\n"
        )

    def said(self, module: Module) -> str:
        """The first sentence about a module, for a table."""
        text = summary(self.doc(module.path, module.value))
        return _cell(prose(text, self.linker(module, ())))

    def page(self, module: Module) -> str:
        """One module."""
        doc = markdown(self.doc(module.path, module.value), self.linker(module, ()))
        out = [f"# {module.path} {{: #{module.path} }}\n", doc]
        if module.modules:
            below = {f"{module.path}.{name}" for name in module.modules}
            rows = [
                f"| {self.link(m.path)} | {self.said(m)} |" for m in self.modules if m.path in below
            ]
            out += ["## Modules\n", "| module | what is in it |\n|---|---|", *rows, ""]
        if module.names:
            out.append("## Names\n")
        topics = _by_topic(module.names)
        for topic, names in topics.items():
            if topic:
                out.append(f"### {topic[0].upper()}{topic[1:]}\n")
            out.append("| name | what it is |\n|---|---|")
            out += [self.row(module, name) for name in names]
            out.append("")
        if module.names:
            out.append("## Entries\n")
        for names in topics.values():
            out += [self.entry(module, name) for name in names]
        return "\n".join(out)

    def row(self, module: Module, name: Name) -> str:
        """A row of the table at the top."""
        text = summary(self.text(module, name))
        shown = _cell(prose(text, self.linker(module, _parameters(name.value))))
        return f"| {self.link(f'{module.path}.{name.name}', name.name)} | {shown} |"

    def text(self, module: Module, name: Name) -> str:
        """What is told of a name: its docstring, or its value, or whose it is."""
        path, value = f"{module.path}.{name.name}", name.value
        if not _described(value):
            return f"`{_shown(value)}`."
        own = str(getattr(value, "__module__", "")).startswith("arrayx")
        if not own and not type(value).__module__.startswith("arrayx"):
            home = str(getattr(value, "__module__", None) or type(value).__module__)
            return f"The one of `{home.split('.')[0]}`."
        main = getattr(value, "__name__", name.name)
        others = {n.name for n in module.names if n.value is value}
        if main != name.name:
            if main in others:
                return f"Another name of `{main}`."
            if self.top.get(main) is value:
                return f"Another name of `ax.{main}`."
        return self.doc(path, value)

    def doc(self, path: str, value: Any) -> str:
        """The docstring, which has to be there."""
        text = inspect.getdoc(value) or ""
        if not text.strip():
            self.missing.append(path)
        return text

    def entry(self, module: Module, name: Name) -> str:
        """The entry of a name, with its members where it is a class."""
        path, value = f"{module.path}.{name.name}", name.value
        text = self.text(module, name)
        members = tuple(_members(value)) if inspect.isclass(value) else ()
        link = self.linker(module, (*_parameters(value), *members))
        head = _heading("###", name.name, path)
        if not inspect.isclass(value):
            shown = _head(path, value) if _described(value) and callable(value) else ""
            return f"{head}\n{shown}{markdown(text, link)}"
        out = [head, _head(path, value, "class ")]
        own = text == inspect.getdoc(value)
        bases = [b for b in value.__bases__ if b.__name__ not in ("object", "Generic", "ABC")]
        if own and bases:
            named = ", ".join(prose(f"`{base.__name__}`", link) for base in bases)
            out.append(f"Derives from {named}.\n")
        out.append(markdown(text, link))
        if own:
            out += [self.member(name, member, module) for member in members]
        return "\n".join(out)

    def member(self, owner: Name, member: str, module: Module) -> str:
        """A method, property or member of an enumeration."""
        value, path = inspect.getattr_static(owner.value, member), f"{owner.name}.{member}"
        head = _heading("####", path, f"{module.path}.{path}")
        inner = getattr(value, "__func__", getattr(value, "fget", value))
        if not inspect.isfunction(inner) and not isinstance(value, property):
            return head
        own = _parameters(inner)
        if isinstance(value, property):
            shown = ""
        else:
            kind = type(value).__name__ + " " if inner is not value else ""
            shown = _head(path, inner, kind, bound=not isinstance(value, staticmethod))
        # One without a docstring has that of the method it stands for in a base class.
        documented = value if inspect.getdoc(value) else getattr(owner.value, member)
        text = self.doc(f"{module.path}.{path}", documented)
        return f"{head}\n{shown}{markdown(text, self.linker(module, own))}"

    def place(self, path: str) -> str:
        """Where the entry of a name stands, seen from another page of the reference."""
        page = path if path in self.pages else path.rpartition(".")[0]
        return f"{page}.md#{path}"

    def link(self, path: str, text: str = "") -> str:
        """A link to the entry of a name."""
        return f"[`{text or path}`]({self.place(path)})"

    def linker(self, module: Module, own: tuple[str, ...]) -> Any:
        """Finds the entry that a name in backticks means, as seen from a module."""
        short = {"ax.": "arrayx.", "anp.": "arrayx.numpy.", "arrayx.": "arrayx."}
        errors = {n.name for m in self.modules if m.path == "arrayx.errors" for n in m.names}

        def find(text: str) -> str | None:
            if not re.fullmatch(r"[A-Za-z_][\w.]*", text) or text in own:
                return None
            full = [f"arrayx.errors.{text}"] if text in errors else []
            full += [new + text[len(old) :] for old, new in short.items() if text.startswith(old)]
            if len(text) > 1:
                full += [f"{module.path}.{text}", f"arrayx.{text}"]
            return next((self.place(path) for path in full if path in self.targets), None)

        return find


def _by_topic(names: tuple[Name, ...]) -> dict[str, list[Name]]:
    if len(names) <= SHORT or not any(name.topic for name in names):
        return {"": list(names)}
    topics: dict[str, list[Name]] = {}
    for name in names:
        topics.setdefault(name.topic, []).append(name)
    few = [topic for topic, found in topics.items() if len(found) < FEW]
    others = [name for topic in few for name in topics.pop(topic)]
    if len(others) > len(names) // 4:
        return {"": list(names)}
    ordered = dict(sorted(topics.items()))
    return ordered | {"others": sorted(others, key=lambda n: n.name.lower())} if others else ordered


def _described(value: Any) -> bool:
    """Whether a docstring can be asked of a value: not of numbers, texts and their kind."""
    return (
        inspect.isroutine(value)
        or inspect.isclass(value)
        or type(value).__module__.startswith("arrayx")
    )


def _shown(value: Any) -> str:
    text = repr(sorted(value, key=str) if isinstance(value, frozenset) else value)
    return text if len(text) < 200 else text[:197] + "..."


def _members(owner: type) -> Iterator[str]:
    """The public methods and properties that arrayx defines for a class."""
    seen = set()
    for base in owner.__mro__:
        if not base.__module__.startswith("arrayx"):
            continue
        for name in [name for name in vars(base) if not name.startswith("_")]:
            getattr(base, name, None)  # a method that is imported late takes its place
            value = vars(base)[name]
            inner = getattr(value, "__func__", getattr(value, "fget", value))
            shown = inspect.isfunction(inner) or isinstance(value, property)
            shown = shown or name in getattr(owner, "__members__", ())
            if shown and name not in seen:
                seen.add(name)
                yield name


def _parameters(value: Any) -> tuple[str, ...]:
    try:
        return tuple(inspect.signature(value).parameters)
    except (TypeError, ValueError):
        return ()


def _signature(value: Any, bound: bool = False) -> tuple[list[str] | None, str]:
    """The parameters and the result as texts: without the annotation Any, which tells nothing."""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return None, ""
    parameters = list(signature.parameters.values())
    if bound and parameters:
        parameters = parameters[1:]
    parts, slash, star = [], False, False
    for parameter in parameters:
        positional = parameter.kind is parameter.POSITIONAL_ONLY
        if slash and not positional:
            parts.append("/")
        slash = positional
        if parameter.kind is parameter.VAR_POSITIONAL:
            star = True
        elif parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(_parameter(parameter))
    if slash:
        parts.append("/")
    result = _annotation(signature.return_annotation)
    arrow = f" -> {result}" if result and not inspect.isclass(value) else ""
    return parts, arrow


def _parameter(parameter: inspect.Parameter) -> str:
    stars = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text = stars.get(parameter.kind, "") + parameter.name
    annotation = _annotation(parameter.annotation)
    if annotation:
        text += f": {annotation}"
    if parameter.default is not parameter.empty:
        text += (" = " if annotation else "=") + _default(parameter.default)
    return text


def _annotation(annotation: Any) -> str:
    if annotation in (inspect.Parameter.empty, "Any", Any, None, "None"):
        return ""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", text)


def _default(value: Any) -> str:
    if inspect.isclass(value) or inspect.isroutine(value):
        return str(value.__name__)
    text = repr(value)
    return "..." if text.startswith("<") or len(text) > 60 else text


def _heading(level: str, name: str, path: str) -> str:
    # Markdown would take the underscores of `__version__` for bold type, in an attribute too.
    shown = name.replace("_", "\\_")
    if "__" in path:
        return f'<a id="{path}"></a>\n\n{level} {shown}\n'
    return f"{level} {shown} {{: #{path} }}\n"


def _head(path: str, value: Any, kind: str = "", bound: bool = False) -> str:
    """How a name is called, as a block of code; one parameter a line where they are many."""
    parts, arrow = _signature(value, bound)
    if parts is None:
        text = path
    elif len(path) + len(", ".join(parts)) + len(arrow) <= WIDE:
        text = f"{path}({', '.join(parts)}){arrow}"
    else:
        text = f"{path}(\n" + "".join(f"    {part},\n" for part in parts) + f"){arrow}"
    return f"```python\n{kind}{text}\n```\n\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
