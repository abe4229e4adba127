"""A graph as the text of one native program: nests of loops, and the code that calls them.

Loops that are part of the graph (`while_loop`, `scan`, `cond`) become loops of this program, with
the values they carry in two buffers that change places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from arrayx.core.aval import Aval
from arrayx.core.graph import Equation, Graph, Var
from arrayx_numba.nests import Loop, NestWriter, Statement, loops, numba_type
from arrayx_numba.places import ZERO, Index, Scalar, Stored, View, is_view, keeps_axes, through
from arrayx_numba.scalars import (
    NATIVE,
    REDUCTIONS,
    Reduction,
    element,
    is_native,
    is_native_reduction,
    literal,
    operand_dtype,
    type_name,
)

# Work, in elementary operations, from which a nest is run by several threads, and in how many
# parts.  Below it waiting for each other costs more than it saves, above all on a busy machine.
PARALLEL = 1 << 22
# The same for nests that a loop of the program runs again and again.
PARALLEL_INSIDE = 1 << 25
PARTS = 16
# Equations in one native program, at most: compiling takes longer than linearly.
MOST_EQUATIONS = 400


# ----------------------------------------------------------------- what can be native


def native_values(e: Any) -> bool:
    """True where all values of an equation are of native dtypes and have elements."""
    avals = [a.aval for a in (*e.inputs, *e.outputs) if type(a) is Var]
    return all(str(a.dtype) in NATIVE and a.size > 0 for a in avals)


def can_be_native(e: Any) -> bool:
    """True for an equation that `Scope` knows."""
    name = e.primitive.name
    if e.effects or not native_values(e):
        return False
    if e.primitive.elementwise:
        return is_native(e)
    if name in REDUCTIONS:
        return is_native_reduction(e)
    if name == "dynamic_slice":
        return type(e.inputs[0]) is Var
    if is_view(e):
        return not e.inputs or type(e.inputs[0]) is Var
    if name == "dynamic_update_slice":
        return type(e.inputs[0]) is Var and type(e.inputs[1]) is Var
    if name == "pad":
        p = e.params
        return (
            type(e.inputs[0]) is Var
            and not any(p["interior"])
            and min((*p["low"], *p["high"]), default=0) >= 0
        )
    if name == "concatenate":
        return all(type(a) is Var for a in e.inputs)
    if name == "while_loop":
        return native_graph(e.params["cond"]) and native_graph(e.params["body"])
    if name == "cond":
        return all(native_graph(g) for g in e.params["branches"])
    if name == "scan":
        return native_graph(e.params["body"])
    return False


def native_graph(graph: Graph) -> bool:
    """True where every equation of a graph can be native."""
    found = graph.memo.get("numba native")
    if found is None:
        avals = [v.aval for v in (*graph.inputs, *graph.outputs, *graph.constants)]
        found = (
            len(graph.equations) <= MOST_EQUATIONS
            and all(str(a.dtype) in NATIVE and a.size > 0 for a in avals)
            and all(can_be_native(e) for e in graph.equations)
        )
        graph.memo["numba native"] = found
    return bool(found)


def renamed(graph: Graph, atoms: Sequence[Any], constants: Callable[[Any], Any]) -> Any:
    """The equations and outputs of a graph on other inputs, with variables of their own."""
    new: dict[Any, Any] = dict(zip(graph.inputs, atoms, strict=True))
    for v, x in zip(graph.constants, graph.constant_values, strict=True):
        new[v] = constants(x)
    equations = []
    for e in graph.equations:
        outputs = tuple(Var(v.aval) for v in e.outputs)
        inputs = tuple(new[a] if type(a) is Var else a for a in e.inputs)
        new.update(zip(e.outputs, outputs, strict=True))
        equations.append(Equation(e.primitive, inputs, e.params, outputs, e.effects))
    return equations, [new[v] if type(v) is Var else v for v in graph.outputs]


# ----------------------------------------------------------------- the text


class Module:
    """The text of a program: its nests, its main function, its buffers and constants."""

    def __init__(self) -> None:
        self.nests: list[str] = []
        self.lines: list[str] = []
        self.buffers: dict[str, tuple[int, Any]] = {}
        self.free: dict[tuple[int, str], list[str]] = {}
        self.constants: list[Any] = []
        self.constant_vars: dict[int, Any] = {}
        self.env: dict[Any, Any] = {}
        self.parallel = False
        self.serial = 0
        self.work = 0

    def name(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def take(self, size: int, dtype: Any) -> str:
        """A buffer."""
        names = self.free.get((size, str(dtype)))
        if names:
            return names.pop()
        name = self.name("b")
        self.buffers[name] = size, dtype
        return name

    def give(self, name: str) -> None:
        size, dtype = self.buffers[name]
        self.free.setdefault((size, str(dtype)), []).append(name)

    def constant(self, value: Any) -> Any:
        """A variable for a constant of a graph."""
        if id(value) not in self.constant_vars:
            array = np.asarray(value.host() if hasattr(value, "host") else value)
            v = Var(value.aval)
            self.env[v] = input_of(f"k{len(self.constants)}", v.aval)
            self.constants.append(array)
            self.constant_vars[id(value)] = v, value
        return self.constant_vars[id(value)][0]


def input_of(name: str, aval: Any) -> Stored | Scalar:
    """What is handed to the program under a name."""
    return Scalar(name, aval.dtype) if aval.ndim == 0 else Stored(name, aval.shape, aval.dtype)


class Item:
    """A step of the program: statements that share a loop, or code of another kind."""

    def __init__(self, statements: list[Statement], code: Callable[[], None] | None = None) -> None:
        self.statements = statements
        self.code = code
        self.length = statements[0].lengths[0] if statements else 0


class Scope:
    """The equations of one graph, on their way to text."""

    def __init__(self, module: Module, indent: int) -> None:
        self.module = module
        self.env = module.env
        self.indent = indent
        self.items: list[Item] = []
        # By variable: the number of the item after which it can be read, and its statement.
        self.ready: dict[Any, int] = {}
        self.makers: dict[Any, Statement] = {}
        self.made_in: dict[Any, int] = {}
        # Variables that have to be in memory.
        self.stored: dict[Any, Stored | None] = {}
        self.last_read: dict[Any, int] = {}
        # Arrays that copies fill, which may as well be where the caller wants them.
        self.filled: dict[Any, Stored] = {}
        # Buffers of values that are still to be read.
        self.owned: dict[Any, str] = {}

    def line(self, text: str, deeper: int = 0) -> None:
        self.module.lines.append("    " * (self.indent + deeper) + text)

    # ------------------------------------------------------------- reading

    def base(self, atom: Any, indices: list[Index]) -> tuple[Any, list[Index] | None]:
        """The variable that is read in the end, through views, and where."""
        ref = self.env.get(atom)
        while isinstance(ref, View):
            e = ref.equation
            if not e.inputs:
                return None, None
            if e.primitive.name == "reshape" and not keeps_axes(e):
                return e.inputs[0], None
            if ref.starts:
                base, _ = self.base(e.inputs[0], indices_like(e.inputs[0]))
                return base, None
            indices = through(ref, indices)
            atom = e.inputs[0]
            ref = self.env.get(atom)
        return atom, indices

    def view_ready(self, atom: Any) -> int:
        """The item after which the starts of windows on the way are known."""
        ready = 0
        ref = self.env.get(atom)
        while isinstance(ref, View):
            ready = max(ready, self.ready.get(atom, 0))
            if not ref.equation.inputs:
                break
            atom = ref.equation.inputs[0]
            ref = self.env.get(atom)
        return ready

    def need(self, atom: Any, item: int) -> None:
        """Notes that an item reads a variable from memory."""
        base, _ = self.base(atom, indices_like(atom))
        if base is None:
            return
        if base in self.makers:
            self.stored.setdefault(base, None)
        self.last_read[base] = max(item, self.last_read.get(base, 0))

    def since(self, atom: Any) -> int:
        """The first item that can read the whole of a variable."""
        base, _ = self.base(atom, indices_like(atom))
        return max(self.ready.get(base, 0), self.view_ready(atom))

    # ------------------------------------------------------------- items

    def add(self, s: Statement, at_least: int = 0) -> int:
        """Puts a statement into a nest; the number of its item."""
        self.module.work += s.cost()
        joins = []
        since = at_least
        for atom, indices in s.reads():
            base, at = self.base(atom, indices)
            since = max(since, self.view_ready(atom))
            maker = self.makers.get(base)
            if maker is not None and at is not None and s.lengths:
                joins.append((base, maker, at))
            else:
                since = max(since, self.ready.get(base, 0))
        length = s.lengths[0]
        for base, maker, at in joins:
            axes = maker.out_axes()
            own = 0 not in maker.reduced and 0 in axes and at[axes.index(0)].is_counter(0)
            same = maker.lengths[0] == length
            since = max(since, self.made_in[base] if own and same else self.ready[base])
        place = len(self.items)
        for k in range(len(self.items) - 1, since - 1, -1):
            if self.items[k].statements and self.items[k].length == length:
                place = k
                break
        if place == len(self.items):
            self.items.append(Item([s]))
        else:
            self.items[place].statements.append(s)
        for atom, indices in s.reads():
            base, at = self.base(atom, indices)
            if base in self.makers and (self.made_in[base] != place or at is None):
                self.need(atom, place)
            elif base is not None:
                self.last_read[base] = max(place, self.last_read.get(base, 0))
        if s.out is not None:
            self.makers[s.out] = s
            self.made_in[s.out] = place
            self.ready[s.out] = place + 1
            if 0 in s.reduced:
                self.stored.setdefault(s.out, None)
        return place

    def add_code(self, atoms: Sequence[Any], code: Callable[[], None]) -> int:
        """Puts code that reads these variables at the end; the number of its item."""
        place = len(self.items)
        for atom in atoms:
            if type(atom) is Var:
                self.need(atom, place)
        self.items.append(Item([], code))
        return place

    def copy(self, atom: Any, target: Stored, at_least: int = 0) -> int:
        """A copy of a value; the number of its item."""
        shape = atom.aval.shape if type(atom) is Var else target.shape
        return self.window(atom, target, shape, (), (), at_least)

    def window(
        self,
        source: Any,
        target: Stored,
        shape: tuple[int, ...],
        shift: tuple[Index, ...],
        target_shift: tuple[Index, ...],
        at_least: int = 0,
    ) -> int:
        """A copy of a part of a value into a part of an array."""
        s = Statement(shape, source=source, shift=shift, target=target, target_shift=target_shift)
        if s.lengths:
            return self.add(s, at_least)

        def code() -> None:
            zero = [ZERO] * len(shape)
            at = [i.plus(t) for i, t in zip(zero, shift or zero, strict=True)]
            to = [i.plus(t) for i, t in zip(zero, target_shift or zero, strict=True)]
            place = target.place(to).value({})
            self.line(f"{target.name}[U({place})] = {self.number(source, target.dtype, at)}")

        return self.add_code([source], code)

    def number(self, atom: Any, dtype: Any, indices: list[Index] | None = None) -> str:
        """An element as text, outside of nests: by default of a value that has only one."""
        if type(atom) is not Var:
            return literal(atom, dtype)
        if indices is None:
            indices = [ZERO] * atom.aval.ndim
        ref = self.stored.get(atom) or self.env[atom]
        if isinstance(ref, View):
            e = ref.equation
            if e.primitive.name == "full":
                return literal(e.params["value"], dtype)
            if e.primitive.name == "iota":
                return f"{type_name(dtype)}({indices[e.params['axis']].value({})})"
            if e.primitive.name == "reshape" and not keeps_axes(e):
                # Of one element, or its operand would not need to be laid out anew.
                whole = Stored("", e.outputs[0].aval.shape, dtype)
                stored = self.stored.get(e.inputs[0]) or self.env[e.inputs[0]]
                place = whole.place(indices).plus(stored.first)
                return f"{stored.name}[U({place.value({})})]"
            return self.number(e.inputs[0], dtype, through(ref, indices))
        if isinstance(ref, Scalar):
            return ref.name
        return f"{ref.name}[U({ref.place(indices).value({})})]"

    # ------------------------------------------------------------- equations

    def lower(self, equations: Sequence[Any], outputs: Sequence[tuple[Any, Any]]) -> None:
        """Everything, to the module's text.  Outputs go to arrays, or variables by name."""
        for e in equations:
            self.equation(e)
        for atom, target in outputs:
            self.output(atom, target)
        for k, item in enumerate(self.items):
            if item.code is not None:
                item.code()
            else:
                owned = self.memory(item)
                self.nest(item)
                self.owned.update(owned)
            for v, name in list(self.owned.items()):
                if self.last_read.get(v, 0) <= k:
                    del self.owned[v]
                    self.module.give(name)

    def equation(self, e: Any) -> None:
        name = e.primitive.name
        out = e.outputs[0]
        if name == "dynamic_slice":
            self.dynamic_slice(e)
        elif is_view(e):
            if name == "reshape" and not keeps_axes(e):
                e = self.on_memory(e)
            self.env[out] = View(e)
        elif e.primitive.elementwise:
            if out.aval.size == 1:
                self.single(e)
            else:
                self.add(Statement(out.aval.shape, e, out))
        elif name in REDUCTIONS:
            self.reduction(e)
        elif name == "dynamic_update_slice":
            self.update(e)
        elif name == "pad":
            low = tuple(Index(constant=n) for n in e.params["low"])
            self.patched(e, e.inputs[1], e.inputs[0], [i.constant for i in low])
        elif name == "concatenate":
            self.concatenate(e)
        else:
            {"while_loop": self.while_loop, "cond": self.cond, "scan": self.scan}[name](e)

    def on_memory(self, e: Any) -> Any:
        """A reshape whose operand is an array of its own."""
        (x,) = e.inputs
        ref = self.env.get(x)
        if isinstance(ref, View):
            v = Var(x.aval)
            self.written(v, self.copy(x, self.array(v)))
            return Equation(e.primitive, (v,), e.params, e.outputs, e.effects)
        if x in self.makers:
            self.stored.setdefault(x, None)
        return e

    def array(self, v: Any) -> Stored:
        """Memory for a variable that copies fill."""
        stored = Stored(self.module.take(v.aval.size, v.aval.dtype), v.aval.shape, v.aval.dtype)
        self.env[v] = stored
        return stored

    def fill(self, v: Any) -> Stored:
        """Memory for the result of an equation that copies fill."""
        self.filled[v] = self.array(v)
        return self.filled[v]

    def written(self, v: Any, item: int) -> None:
        """Notes that a variable's memory is filled once an item has run."""
        self.ready[v] = max(item + 1, self.ready.get(v, 0))
        self.last_read.setdefault(v, item)

    def single(self, e: Any) -> None:
        """An elementwise equation of one element."""
        out = e.outputs[0]
        name = self.module.name("s")
        self.env[out] = Scalar(name, out.aval.dtype)

        def code() -> None:
            operands = [self.number(a, operand_dtype(e, i)) for i, a in enumerate(e.inputs)]
            names = []
            for i, text in enumerate(operands):
                if "[" in text:
                    self.line(f"{name}_{i} = {text}")
                    text = f"{name}_{i}"
                names.append(text)
            for text in element(e, name, names):
                self.line(text)

        self.ready[out] = self.add_code(e.inputs, code) + 1

    def reduction(self, e: Any) -> None:
        (x,), (out,) = e.inputs, e.outputs
        shape, axes = x.aval.shape, e.params["axes"]
        count = 1
        for a in axes:
            count *= shape[a]
        if count == 1:
            # Nothing is added up: another shape.
            if x.aval.size == 1:
                name = self.module.name("s")
                self.env[out] = Scalar(name, out.aval.dtype)

                def code() -> None:
                    self.line(f"{name} = {self.number(x, x.aval.dtype)}")

                self.ready[out] = self.add_code([x], code) + 1
            else:
                self.written(out, self.copy_reshaped(x, out))
            return
        reduction = Reduction(e.primitive.name, x.aval.dtype, count)
        s = Statement(shape, e, out, reduction)
        s.reduced = frozenset(
            next(iter(i.terms)) for d, i in enumerate(s.indices) if d in axes and i.terms
        )
        self.add(s)

    def copy_reshaped(self, x: Any, out: Any) -> int:
        stored = self.array(out)
        return self.copy(x, Stored(stored.name, x.aval.shape, x.aval.dtype))

    def starts(self, atoms: Sequence[Any], limits: Sequence[int]) -> tuple[tuple[Index, ...], int]:
        """Starts of a window, moved inside, as indices; and the item after which they are known."""
        indices: list[Index] = []
        todo = []
        for a, most in zip(atoms, limits, strict=True):
            if type(a) is not Var:
                indices.append(Index(constant=max(0, min(int(a), most))))
            else:
                name = self.module.name("o")
                indices.append(Index({name: 1}))
                todo.append((name, a, most))
        if not todo:
            return tuple(indices), 0

        def code() -> None:
            for name, a, most in todo:
                dtype = a.aval.dtype
                text = self.number(a, dtype)
                if str(dtype) == "uint64":
                    text = f"min({text}, np.uint64({most}))"
                self.line(f"{name} = max(np.int64(0), min(np.int64({text}), np.int64({most})))")

        return tuple(indices), self.add_code([a for _, a, _ in todo], code) + 1

    def dynamic_slice(self, e: Any) -> None:
        x, out = e.inputs[0], e.outputs[0]
        limits = [n - m for n, m in zip(x.aval.shape, out.aval.shape, strict=True)]
        indices, ready = self.starts(e.inputs[1:], limits)
        self.env[out] = View(e, indices)
        self.ready[out] = ready

    def update(self, e: Any) -> None:
        x, part = e.inputs[:2]
        limits = [n - m for n, m in zip(x.aval.shape, part.aval.shape, strict=True)]
        indices, ready = self.starts(e.inputs[2:], limits)
        if all(not i.terms for i in indices):
            self.patched(e, x, part, [i.constant for i in indices])
            return
        stored = self.fill(e.outputs[0])
        whole = self.copy(x, stored)
        item = self.window(part, stored, part.aval.shape, (), indices, max(ready, whole + 1))
        self.written(e.outputs[0], item)

    def patched(self, e: Any, around: Any, part: Any, starts: list[int]) -> None:
        """An array with a window written into it: what is around the window, and the window.

        `around` is a value of the array's shape, or a number.
        """
        out = e.outputs[0]
        stored = self.fill(out)
        shape, inner = out.aval.shape, part.aval.shape if type(part) is Var else ()
        if around is not part and type(part) is Var:
            target_shift = tuple(Index(constant=n) for n in starts)
            self.written(out, self.window(part, stored, inner, (), target_shift))
        # Slabs around the window, one axis after the other.
        low, high = [0] * len(shape), list(shape)
        for axis, (start, n) in enumerate(zip(starts, inner, strict=True)):
            for begin, end in ((low[axis], start), (start + n, high[axis])):
                if end <= begin:
                    continue
                size = [h - k for h, k in zip(high, low, strict=True)]
                size[axis] = end - begin
                first = [begin if d == axis else k for d, k in enumerate(low)]
                shift = tuple(Index(constant=n) for n in first)
                of = shift if type(around) is Var and around.aval.ndim else ()
                self.written(out, self.slab(around, stored, tuple(size), of, shift))
            low[axis], high[axis] = start, start + n

    def slab(
        self,
        around: Any,
        stored: Stored,
        size: tuple[int, ...],
        of: tuple[Index, ...],
        shift: tuple[Index, ...],
    ) -> int:
        if type(around) is Var and around.aval.ndim == 0:
            # A number for all: read through a broadcast.
            v = Var(Aval(size, around.aval.dtype))
            e = Equation(_BROADCAST, (around,), {"shape": size, "dims": ()}, (v,))
            self.env[v] = View(e)
            return self.window(v, stored, size, (), shift)
        return self.window(around, stored, size, of, shift)

    def concatenate(self, e: Any) -> None:
        out, axis = e.outputs[0], e.params["axis"]
        stored = self.fill(out)
        first = 0
        for x in e.inputs:
            shift = tuple(Index(constant=first if d == axis else 0) for d in range(x.aval.ndim))
            self.written(out, self.window(x, stored, x.aval.shape, (), shift))
            first += x.aval.shape[axis]

    # ------------------------------------------------------------- graphs inside

    def handed(self, atom: Any, aval: Any) -> Any:
        """A variable for an operand that a graph inside reads."""
        v = Var(aval)
        if type(atom) is not Var:
            self.env[v] = Scalar(literal(atom, aval.dtype), aval.dtype)
            return v
        if aval.ndim == 0:
            name = self.module.name("s")
            self.env[v] = Scalar(name, aval.dtype)
            self.add_code([atom], lambda: self.line(f"{name} = {self.number(atom, aval.dtype)}"))
            return v
        ref = self.env.get(atom)
        if isinstance(ref, Stored) or atom in self.makers:
            return atom
        self.written(v, self.copy(atom, self.array(v)))
        return v

    def carried(self, atom: Any, aval: Any) -> tuple[Any, Any]:
        """Two places for a carried value, the first one filled."""
        v = Var(aval)
        if aval.ndim == 0:
            names = self.module.name("s"), self.module.name("s")
            self.env[v] = Scalar(names[0], aval.dtype)
            self.add_code(
                [atom], lambda: self.line(f"{names[0]} = {self.number(atom, aval.dtype)}")
            )
            return v, Scalar(names[1], aval.dtype)
        first = self.array(v)
        self.written(v, self.copy(atom, first))
        second = Stored(self.module.take(aval.size, aval.dtype), aval.shape, aval.dtype)
        return v, second

    def inside(self, deeper: int = 1) -> Scope:
        return Scope(self.module, self.indent + deeper)

    def turn(self, carries: Sequence[tuple[Any, Any]], changed: Sequence[bool]) -> None:
        """Lets the values of an iteration and those of the next change places."""
        for (v, second), does in zip(carries, changed, strict=True):
            if does:
                first = self.env[v]
                self.line(f"{first.name}, {second.name} = {second.name}, {first.name}", 1)

    def finish(self, e: Any, carries: Sequence[tuple[Any, Any]], item: int, first: int = 0) -> None:
        """Results of a loop are what it carried last."""
        for out, (v, _second) in zip(e.outputs[first:], carries, strict=False):
            self.env[out] = self.env[v]
            self.written(out, item)

    def while_loop(self, e: Any) -> None:
        cond, body = e.params["cond"], e.params["body"]
        n, m = e.params["n_cond"], e.params["n_body"]
        avals = body.in_avals
        tests = [self.handed(a, v) for a, v in zip(e.inputs[:n], cond.in_avals)]
        steps = [self.handed(a, v) for a, v in zip(e.inputs[n : n + m], avals)]
        carries = [self.carried(a, v) for a, v in zip(e.inputs[n + m :], avals[m:])]
        held = [v for v, _ in carries]
        constant = self.module.constant

        def code() -> None:
            flag = self.module.name("s")
            test, (outcome,) = renamed(cond, [*tests, *held], constant)
            Scope(self.module, self.indent).lower(test, [(outcome, Scalar(flag, np.dtype(bool)))])
            self.line(f"while {flag}:")
            equations, outs = renamed(body, [*steps, *held], constant)
            again, (outcome,) = renamed(cond, [*tests, *outs], constant)
            changed = [o is not v for o, v in zip(outs, held)]
            targets = [(o, s) for o, (_, s), c in zip(outs, carries, changed) if c]
            self.inside().lower(
                [*equations, *again], [*targets, (outcome, Scalar(flag, np.dtype(bool)))]
            )
            self.turn(carries, changed)
            for _, second in carries:
                if isinstance(second, Stored):
                    self.module.give(second.name)

        self.finish(e, carries, self.add_code([*tests, *steps, *held], code))

    def scan(self, e: Any) -> None:
        p = e.params
        body, k, n = p["body"], p["n_consts"], p["n_consts"] + p["n_carry"]
        avals = body.in_avals
        consts = [self.handed(a, v) for a, v in zip(e.inputs[:k], avals)]
        carries = [self.carried(a, v) for a, v in zip(e.inputs[k:n], avals[k:n])]
        held = [v for v, _ in carries]
        xs = [self.handed(a, a.aval) for a in e.inputs[n:]]
        ys = e.outputs[p["n_carry"] :]
        for y in ys:
            self.array(y)

        def code() -> None:
            i = self.module.name("o")
            length = p["length"]
            extent = f"range({length - 1}, -1, -1)" if p["reverse"] else f"range({length})"
            self.line(f"for {i} in {extent}:")
            slices = []
            for x, aval in zip(xs, avals[n:]):
                v = Var(aval)
                whole = self.env[x]
                first = whole.first.plus(Index({i: aval.size}))
                self.env[v] = Stored(whole.name, aval.shape, aval.dtype, first)
                slices.append(v)
            equations, outs = renamed(body, [*consts, *held, *slices], self.module.constant)
            changed = [o is not v for o, v in zip(outs, held)]
            targets = [(o, s) for o, (_, s), c in zip(outs, carries, changed) if c]
            for y, o in zip(ys, outs[len(held) :]):
                whole, shape = self.env[y], y.aval.shape[1:]
                first = Index({i: y.aval.size // length})
                targets.append((o, Stored(whole.name, shape, whole.dtype, first)))
            self.inside().lower(equations, targets)
            self.turn(carries, changed)
            if not equations and not targets:
                self.line("pass", 1)
            for _, second in carries:
                if isinstance(second, Stored):
                    self.module.give(second.name)

        item = self.add_code([*consts, *held, *xs], code)
        self.finish(e, carries, item)
        for y in ys:
            self.written(y, item)

    def cond(self, e: Any) -> None:
        branches = e.params["branches"]
        index = self.handed(e.inputs[0], e.inputs[0].aval) if type(e.inputs[0]) is Var else None
        operands = [
            self.handed(a, v) for a, v in zip(e.inputs[1:], branches[0].in_avals, strict=True)
        ]
        targets: list[Any] = []
        for out in e.outputs:
            if out.aval.ndim == 0:
                self.env[out] = Scalar(self.module.name("s"), out.aval.dtype)
            else:
                self.array(out)
            targets.append(self.env[out])

        def code() -> None:
            chosen = self.number(index, None) if index is not None else literal(e.inputs[0], "i4")
            for i, graph in enumerate(branches):
                if i == len(branches) - 1:
                    self.line("else:" if i else "if True:")
                else:
                    test = f"{chosen} <= 0" if i == 0 else f"{chosen} == {i}"
                    if index is not None and str(index.aval.dtype) == "bool":
                        test = f"not {chosen}"
                    self.line(f"{'el' if i else ''}if {test}:")
                equations, outs = renamed(graph, operands, self.module.constant)
                self.inside().lower(equations, list(zip(outs, targets, strict=True)))
                self.line("pass", 1)

        reads = operands if index is None else [index, *operands]
        item = self.add_code(reads, code)
        for out in e.outputs:
            self.written(out, item)

    # ------------------------------------------------------------- results

    def output(self, atom: Any, target: Any) -> None:
        """Has a value end up in a place of the caller's."""
        if isinstance(target, Scalar):
            self.add_code(
                [atom], lambda: self.line(f"{target.name} = {self.number(atom, target.dtype)}")
            )
            return
        s = self.makers.get(atom) if type(atom) is Var else None
        if s is not None and self.stored.get(atom) is None and 0 not in s.reduced:
            self.stored[atom] = target
        elif atom in self.filled:
            # Nothing is written down yet: the copies go to the place that is wanted.
            stored = self.filled.pop(atom)
            self.module.give(stored.name)
            stored.name, stored.first = target.name, target.first
        else:
            self.copy(atom, target)

    def memory(self, item: Item) -> dict[Any, str]:
        """Memory for values that are read outside of their nest; the names of new buffers."""
        owned: dict[Any, str] = {}
        for s in item.statements:
            v = s.out
            if v is None or v not in self.stored:
                continue
            if self.stored[v] is None:
                if v.aval.size == 1:
                    self.env[v] = Scalar(self.module.name("s"), v.aval.dtype)
                    continue
                owned[v] = self.module.take(v.aval.size, v.aval.dtype)
                self.stored[v] = Stored(owned[v], v.aval.shape, v.aval.dtype)
            self.env[v] = self.stored[v]
        return owned

    def nest(self, item: Item) -> None:
        """The function of a nest, and its call."""
        module = self.module
        (loop,) = loops(item.statements, 0, self.makers_of(item), self.base)
        assert isinstance(loop, Loop)
        work = sum(s.cost() for s in item.statements)
        least = PARALLEL if self.indent == 1 else PARALLEL_INSIDE
        parts = min(PARTS, loop.length) if work >= least else 1
        partials: list[tuple[Statement, int, str]] = []

        def partial(s: Statement, size: int) -> str:
            assert s.reduction is not None
            name = module.take(size * parts, s.reduction.accumulator)
            partials.append((s, size, name))
            return name

        needed = {v: x for v, x in self.stored.items() if isinstance(x, Stored)}
        name = f"nest_{len(module.nests)}"
        writer = NestWriter(name, loop, self.env, self.makers_of(item), self.base, needed, partial)
        module.nests.append(writer.text())
        n = loop.length
        arguments = "".join(f", {a}" for a in writer.arguments())
        if parts == 1:
            self.line(f"{name}(0, {n}, 0{arguments})")
        else:
            module.parallel = True
            self.line(f"for p in prange({parts}):")
            self.line("part = np.int64(p)", 1)
            bounds = f"part * {n} // {parts}, (part + 1) * {n} // {parts}, part"
            self.line(f"{name}({bounds}{arguments})", 1)
        for s, size, where in partials:
            self.combine(s, size, where, parts)
            module.give(where)

    def makers_of(self, item: Item) -> dict[Any, Statement]:
        return {s.out: s for s in item.statements if s.out is not None}

    def combine(self, s: Statement, size: int, where: str, parts: int) -> None:
        """Adds up what the parts of a nest have left."""
        assert s.reduction is not None
        acc, item = self.module.name("s"), self.module.name("s")
        deeper = 0
        if size > 1:
            self.line(f"for q in range({size}):")
            deeper = 1
        q = "q" if size > 1 else "0"
        self.line(f"{acc} = {where}[U({q})]", deeper)
        if parts > 1:
            self.line(f"for r in range(1, {parts}):", deeper)
            self.line(f"{item} = {where}[U(r * {size} + {q})]", deeper + 1)
            self.line(s.reduction.step(acc, item), deeper + 1)
        result = s.reduction.last(acc)
        ref = self.stored.get(s.out) or self.env[s.out]
        if isinstance(ref, Scalar):
            self.line(f"{ref.name} = {result}", deeper)
        else:
            self.line(
                f"{ref.name}[U({ref.first.plus(Index({q: 1})).value({}) if size > 1 else 0})]"
                f" = {result}",
                deeper,
            )


def indices_like(atom: Any) -> list[Index]:
    return [ZERO] * (atom.aval.ndim if type(atom) is Var else 0)


class _Broadcast:
    """Stands for the primitive in views that the lowering makes itself."""

    name = "broadcast_in_dim"
    elementwise = False


_BROADCAST: Any = _Broadcast()


HEAD = """\
import math

import numpy as np
from numba import prange
from numba.core.types import boolean, float32, float64, int8, int16, int32, int64
from numba.core.types import uint8, uint16, uint32, uint64

from arrayx_numba.build import array, input_array, main, nest
from arrayx_numba.elementary import exp32, log32, tanh32

U = np.uint64

"""


def native_text(graph: Graph) -> tuple[str, list[Any], list[tuple[int, Any]]]:
    """The program of a graph as text; its constants, and the sizes and dtypes of its buffers.

    The function `run` takes the graph's inputs, the constants, the outputs' memory and buffers.
    """
    module = Module()
    for i, v in enumerate(graph.inputs):
        module.env[v] = input_of(f"x{i}", v.aval)
    names = {v: f"x{i}" for i, v in enumerate(graph.inputs)}
    equations, outs = renamed(graph, graph.inputs, module.constant)
    results = [Stored(f"y{i}", v.aval.shape, v.aval.dtype) for i, v in enumerate(graph.outputs)]
    Scope(module, 1).lower(equations, list(zip(outs, results, strict=True)))
    parameters, types, first = [], [], []
    given = [(names[v], v.aval) for v in graph.inputs]
    given += [(f"k{i}", v.aval) for i, (v, _) in enumerate(module.constant_vars.values())]
    for name, aval in given:
        if aval.ndim == 0:
            parameters.append(name)
            types.append(numba_type(aval.dtype))
        else:
            parameters.append(f"{name}_")
            types.append(f"input_array({numba_type(aval.dtype)}, {aval.ndim})")
            first.append(f"    {name} = {name}_.reshape({name}_.size)")
    for r in results:
        parameters.append(r.name)
        types.append(f"array({numba_type(r.dtype)}, True)")
    for name, (_, dtype) in module.buffers.items():
        parameters.append(name)
        types.append(f"array({numba_type(dtype)}, True)")
    text = HEAD + "\n".join(
        [
            *module.nests,
            f"@main(({', '.join(types)},), {module.parallel})",
            f"def run({', '.join(parameters)}):",
            *first,
            *module.lines,
            "",
        ]
    )
    return text, module.constants, [*module.buffers.values()]


__all__ = ["can_be_native", "native_text"]
