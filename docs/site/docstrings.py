"""Docstrings in the form of this project as Markdown for a page of the reference.

The form: Markdown with names in single backticks, sections `Args:`, `Returns:`, `Raises:` whose
entries are indented, indented blocks of code, and doctests without a fence.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable

SECTIONS = {"Args": "Parameters", "Returns": "Returns", "Yields": "Yields", "Raises": "Raises"}
Link = Callable[[str], str | None]

_CODE = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_ENTRY = re.compile(r"^((?:\*{0,2}[A-Za-z_][\w.]*)(?:, \*{0,2}[A-Za-z_][\w.]*)*): *(.*)$")


def summary(text: str) -> str:
    """The first sentence, on one line.

    >>> summary("Sine of `x`, e.g. of 1.5\\nradians.  More.")
    'Sine of `x`, e.g. of 1.5 radians.'
    """
    first = " ".join(text.strip().split("\n\n")[0].split("\n>>>")[0].split())
    found = re.search(r"(?<!e\.g)(?<!i\.e)\.(?= |$)", first)
    sentence = first[: found.end()] if found else first
    return sentence[:-1] + "." if sentence.endswith(":") else sentence


def prose(text: str, link: Link) -> str:
    """A passage with what Markdown would misread escaped, and names made links."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts += [_escaped(text[end : match.start()]), _code(match[2], link)]
        end = match.end()
    return "".join([*parts, _escaped(text[end:])])


def _escaped(text: str) -> str:
    text = re.sub(r"(?m)^(\s*)\* ", r"\1- ", text)
    text = text.replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"(\*|(?<!\w)_(?=\w))", r"\\\1", text)


def _code(text: str, link: Link) -> str:
    text = " ".join(text.split())
    shown = f"`` {text} ``" if "`" in text else f"`{text}`"
    target = link(text)
    return f"[{shown}]({target})" if target else shown


def markdown(text: str, link: Link = lambda name: None) -> str:
    """The whole docstring."""
    lines, out, i = text.rstrip().splitlines(), [], 0
    while i < len(lines):
        line = lines[i]
        section = re.match(r"^([A-Z]\w+):$", line)
        if section and section[1] in SECTIONS:
            block, i = _indented(lines, i + 1)
            out += ["", f"**{SECTIONS[section[1]]}**", "", _section(block, link), ""]
        elif line.lstrip().startswith(">>> "):
            start = i
            while i < len(lines) and lines[i].strip():
                i += 1
            block = textwrap.dedent("\n".join(lines[start:i]))
            # Blocks that follow each other are one example.
            if out and out[-1] == "```\n":
                out[-1] = "\n" + block
            else:
                out += ["```pycon", block] if out[-1:] == [""] else ["", "```pycon", block]
            out.append("```\n")
        elif line.startswith("    ") and (not out or not out[-1].strip()):
            block, i = _indented(lines, i)
            out += [f"```{_language(block)}", block, "```", ""]
        else:
            start = i
            while i < len(lines) and lines[i].strip() and not lines[i].startswith(">>> "):
                i += 1
            passage = re.sub(r"::$", ":", "\n".join(lines[start:i]))
            out.append(prose(passage, link))
            while i < len(lines) and not lines[i].strip():
                if out[-1] != "```\n":
                    out.append("")
                i += 1
            continue
        while i < len(lines) and not lines[i].strip():
            i += 1
    return "\n".join(out).strip() + "\n"


def _indented(lines: list[str], start: int) -> tuple[str, int]:
    """The indented block from a line on, without its indentation, and the line after it."""
    end = start
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
        end += 1
    return textwrap.dedent("\n".join(lines[start:end])).strip("\n"), end


def _language(block: str) -> str:
    try:
        ast.parse(block)
    except SyntaxError:
        return "text"
    return "python"


def _section(block: str, link: Link) -> str:
    """Entries `name: what it is` as a list of definitions; other text as it is."""
    entries: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        entry = _ENTRY.match(line)
        if entry:
            entries.append((entry[1], [entry[2]]))
        elif entries:
            entries[-1][1].append(line)
        else:
            return markdown(block, link)
    out = []
    for names, body in entries:
        head = ", ".join(_code(name, link) for name in names.split(", "))
        said = body[0] + "\n" + textwrap.dedent("\n".join(body[1:]))
        text = textwrap.indent(markdown(said, link).strip(), "    ")
        out.append(f"{head}\n:   {text.strip()}\n")
    return "\n".join(out)
