"""A stop inside a program, where the values of the user's variables can be looked at."""

from __future__ import annotations

import cmd
import linecache
import pprint
import sys
from types import FrameType
from typing import Any, TextIO

from arrayx import source
from arrayx.api.arguments import is_value
from arrayx.api.effects import called_back
from arrayx.treedef import flatten, unflatten

__all__ = ["breakpoint"]


def breakpoint(
    *,
    backend: str | None = None,
    filter_frames: bool = True,
    num_frames: int | None = None,
    ordered: bool = False,
    token: Any = None,
    stdin: TextIO | None = None,
    stdout: TextIO | None = None,
    **kwargs: Any,
) -> None:
    """Stops each time the program comes here, and lets you look at your variables' values.

    Commands are `p` and `pp` (print an expression), `l` (the lines around), `w` (the frames),
    `u` and `d` (to the frame above or below), `c` (go on), `q` (end the program with an error).
    Where there is no terminal a line is printed instead, and the program goes on.

    Args:
        backend, token: accepted for JAX's sake.
        filter_frames: leave arrayx's own frames out.
        num_frames: the number of frames to keep, innermost first; None for all.
        ordered: accepted for JAX's sake: effects are always in order.
        stdin, stdout: where commands come from and answers go, instead of the terminal.
    """
    frames = kept_frames(sys._getframe(1), filter_frames, num_frames)
    names = [(f.f_code.co_filename, f.f_lineno, f.f_code.co_qualname) for f in frames]
    scopes = [{k: v for k, v in f.f_locals.items() if is_shown(v)} for f in frames]
    globals_of = [f.f_globals for f in frames]

    def stop(values: list[dict[str, Any]]) -> None:
        source_, target = stdin or sys.stdin, stdout or sys.stdout
        if stdin is None and not (source_ is not None and source_.isatty()):
            where = f"{names[0][0]}:{names[0][1]}" if names else "an unknown place"
            print(f"ax.debug.breakpoint at {where}: no terminal to stop at", file=target)
            return
        _Prompt(names, values, globals_of, source_, target).cmdloop()

    called_back("ax.debug.breakpoint", stop, None, (scopes,), {}, "debug", ordered, "sequential")


def kept_frames(frame: FrameType | None, filtered: bool, most: int | None) -> list[FrameType]:
    """The frames of the user's program, innermost first."""
    found: list[FrameType] = []
    while frame is not None and (most is None or len(found) < most):
        if not filtered or not source.is_internal(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found


def is_shown(value: Any) -> bool:
    """True for a variable whose value can be taken into the program."""
    try:
        leaves, tree = flatten(value)
        unflatten(tree, leaves)
    except Exception:  # a user's own node may raise anything
        return False
    return any(is_value(x) for x in leaves) or isinstance(value, str | int | float | bool)


class Quit(Exception):
    """The user ended the program at a breakpoint."""


class _Prompt(cmd.Cmd):
    prompt = "(axdb) "

    def __init__(
        self,
        names: list[tuple[str, int, str]],
        values: list[dict[str, Any]],
        globals_of: list[dict[str, Any]],
        stdin: TextIO,
        stdout: TextIO,
    ) -> None:
        super().__init__(stdin=stdin, stdout=stdout)
        self.use_rawinput = stdin is sys.stdin
        self.names = names
        self.values = values
        self.globals_of = globals_of
        self.place = 0
        self.say(self.here())

    def say(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def here(self) -> str:
        file, line, name = self.names[self.place]
        return f"> {file}:{line} ({name})"

    def value_of(self, text: str) -> Any:
        return eval(text, self.globals_of[self.place], self.values[self.place])

    def do_p(self, arg: str) -> None:
        """p EXPRESSION: print its value."""
        try:
            self.say(repr(self.value_of(arg)))
        except Exception as error:
            self.say(f"{type(error).__name__}: {error}")

    def do_pp(self, arg: str) -> None:
        """pp EXPRESSION: print its value over several lines."""
        try:
            self.say(pprint.pformat(self.value_of(arg)))
        except Exception as error:
            self.say(f"{type(error).__name__}: {error}")

    def do_l(self, arg: str) -> None:
        """l: the lines of the program around here."""
        file, line, _ = self.names[self.place]
        for n in range(max(line - 5, 1), line + 6):
            text = linecache.getline(file, n)
            if text:
                self.say(f"{'->' if n == line else '  '} {n:4} {text.rstrip()}")

    def do_w(self, arg: str) -> None:
        """w: the frames, innermost first."""
        for i, (file, line, name) in enumerate(self.names):
            self.say(f"{'>' if i == self.place else ' '} {file}:{line} ({name})")

    def do_u(self, arg: str) -> None:
        """u: to the frame that called this one."""
        self.place = min(self.place + 1, len(self.names) - 1)
        self.say(self.here())

    def do_d(self, arg: str) -> None:
        """d: back to the frame below."""
        self.place = max(self.place - 1, 0)
        self.say(self.here())

    def do_c(self, arg: str) -> bool:
        """c: go on."""
        return True

    def do_q(self, arg: str) -> None:
        """q: end the program."""
        raise Quit("the program was ended at ax.debug.breakpoint")

    def do_EOF(self, arg: str) -> bool:
        return True

    def emptyline(self) -> bool:
        return False
