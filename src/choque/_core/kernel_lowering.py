"""Translation of kernels to LLVM's language, in a quarter of the instructions that Numba writes.

Each instruction that is written has to be printed, read and optimised away by LLVM: half the time of compiling. Numba
loads all members of an array from memory for each item and writes fifty instructions, a loop over a range takes a
hundred, and a call thirty. `KernelLower` writes five to ten for each. It serves functions that count no references,
and leaves to Numba what it does not know; the results are the same to the last bit.
"""

# mypy: disallow-untyped-calls=False

from __future__ import annotations

import operator
from collections import Counter
from functools import partial, reduce
from typing import Any

from llvmlite import ir
from llvmlite.ir.instructions import ExtractValue, InsertValue, LoadInstr
from numba.core import ir as numba_ir
from numba.core import types
from numba.core.callwrapper import PyCallWrapper
from numba.core.cgutils import alloca_once
from numba.core.lowering import Lower
from numba.core.pythonapi import NativeValue, PythonAPI
from numba.np.arrayobj import load_item, store_item

INTP = ir.IntType(types.intp.bitwidth)  # type: ignore[attr-defined]
DATA, SHAPE = 4, 5  # places of the address and of the shape in Numba's structure of an array
NUMBERS = (types.Integer, types.Float, types.Boolean)
COMPARISONS = {operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">="}
COMPARISONS |= {operator.eq: "==", operator.ne: "!="}
INTEGERS = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
FLOATS = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}

RAISES_NOTHING = {0, -2}  # codes that a function returns: there is a result, or None


class Builder(ir.IRBuilder):  # type: ignore[misc]
    """Writes instructions; a member of a structure that was put together here is that member, without one."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a member of a structure."""
        path = list(idx) if isinstance(idx, (list, tuple)) else [idx]
        while path:
            if isinstance(agg, ExtractValue):
                agg, path = agg.aggregate, [*agg.indices, *path]
            if not isinstance(agg, InsertValue):
                return super().extract_value(agg, path, name)
            placed = list(agg.indices)
            if path[: len(placed)] == placed:
                agg, path = agg.value, path[len(placed) :]
            elif placed[: len(path)] == path:  # a part of the member was put in after the member
                return super().extract_value(agg, path, name)
            else:
                agg = agg.aggregate
        return agg


def remove_unused(function: Any) -> None:
    """Remove structures that are put together, taken apart or loaded and not used."""
    written = [each for block in function.blocks for each in block.instructions]
    uses = Counter(id(operand) for each in written for operand in each.operands)
    uses.update(id(value) for each in written for value, _ in getattr(each, "incomings", ()))
    for block in function.blocks:
        kept = []
        for each in reversed(block.instructions):
            if isinstance(each, (InsertValue, ExtractValue, LoadInstr)) and not uses[id(each)]:
                uses.subtract(map(id, each.operands))
            else:
                kept.append(each)
        block.instructions[:] = kept[::-1]


class KernelLower(Lower):
    """Translates a function that counts no references.

    A variable that is assigned in one place is its value, and has no place in memory: Numba sees to it that a variable
    that may be read before it is assigned is assigned in two.
    """

    def init(self) -> None:
        """Find the variables that are assigned in one place."""
        statements = (each for block in self.blocks.values() for each in block.body)
        assigned = Counter(each.target.name for each in statements if type(each) is numba_ir.Assign)
        self._once = {name for name, count in assigned.items() if count == 1}
        self._known: dict[str, Any] = {}  # their values; of a tuple of integers, a list of them
        # of loops over ranges, by the id of the iterator: itself, where the next number is kept, the end and the step
        self._loops: dict[int, tuple[Any, Any, Any, Any]] = {}

    def setup_function(self, fndesc: Any) -> None:
        """Begin the function."""
        super().setup_function(fndesc)
        self.builder.__class__ = Builder

    def lower_normal_function(self, fndesc: Any) -> None:
        """Translate the function, and note whether it may raise."""
        super().lower_normal_function(fndesc)
        remove_unused(self.function)
        ends = [block.terminator for block in self.function.blocks]
        codes = [each.operands[0] for each in ends if each.opname == "ret"]
        self.metadata["raises"] = not all(
            isinstance(each, ir.Constant) and each.constant in RAISES_NOTHING for each in codes
        )

    def lower_function_body(self) -> Any:
        """Translate the blocks; return the one that comes first."""
        for offset in self.blocks:
            self.blkmap[offset] = self.function.append_basic_block(f"B{offset}")
        self.pre_lower()
        first = self.builder.basic_block
        for offset, block in sorted(self.blocks.items()):
            self.builder.position_at_end(self.blkmap[offset])
            for each in block.body:
                self.loc = each.loc
                self.lower_inst(each)
        self.post_lower()
        return first

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Write the function that Python calls."""
        context, code = self.context, self.fndesc
        module = context.create_module("wrapper")
        kind = context.call_conv.get_function_type(code.restype, code.argtypes)
        called = ir.Function(module, kind, code.llvm_func_name)
        wrapper, _ = KernelWrapper(context, module, called, code, self.env, self.call_helper, release_gil).build()
        for each in ("noinline", "optnone"):  # it only takes arguments apart: LLVM spent a fifth of its time on it
            wrapper.attributes.add(each)
        self.library.add_ir_module(module)

    # Statements and variables

    def lower_inst(self, inst: Any) -> None:
        """Translate a statement."""
        kind = type(inst)
        if kind is numba_ir.Assign:
            self._assign(inst.target.name, inst)
        elif kind is numba_ir.Branch:
            condition = self._cast_var(inst.cond, types.boolean)
            self.builder.cbranch(condition, self.blkmap[inst.truebr], self.blkmap[inst.falsebr])
        elif kind is numba_ir.Jump:
            self.builder.branch(self.blkmap[inst.target])
        elif kind is numba_ir.StaticSetItem and isinstance(self.typeof(inst.target.name), types.Array):
            self.lower_setitem(inst.target, inst.index_var, inst.value, self.fndesc.calltypes[inst])
        else:
            super().lower_inst(inst)

    def _assign(self, name: str, inst: Any) -> None:
        kind, value = self.typeof(name), inst.value
        is_tuple = isinstance(value, numba_ir.Expr) and value.op == "build_tuple" and name in self._once
        if is_tuple and all(isinstance(each, types.Integer) for each in kind):  # most are an index, not put together
            items = [self._cast_var(each, to) for each, to in zip(value.items, kind, strict=True)]
            self._known[name] = items
        else:
            self.storevar(self.lower_assign(kind, inst), name)

    def storevar(self, value: Any, name: str, argidx: Any = None) -> None:  # noqa: ARG002
        """Assign to a variable."""
        if name in self._once:
            self._known[name] = value
        else:
            self.builder.store(value, self.getvar(name))

    def loadvar(self, name: str) -> Any:
        """Return the value of a variable."""
        if name not in self._once:
            return self.builder.load(self.getvar(name))
        value = self._known[name]
        if isinstance(value, list):
            return self.context.make_tuple(self.builder, self.typeof(name), value)
        return value

    def getvar(self, name: str) -> Any:
        """Return the place of a variable in memory."""
        if name not in self.varmap:
            self.varmap[name] = alloca_once(self.builder, self.context.get_value_type(self.typeof(name)), name=name)
        return self.varmap[name]

    # Items of arrays

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Read an item."""
        address = self._address(value.name, index.name)
        if address is None:
            return super().lower_getitem(resty, expr, value, index, signature)
        array = self.typeof(value.name)
        item = load_item(self.context, self.builder, array, address)
        return self.context.cast(self.builder, item, array.dtype, resty)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Write an item."""
        is_number = isinstance(self.typeof(value_var.name), NUMBERS)
        address = self._address(target_var.name, index_var.name) if is_number else None
        if address is None:
            return super().lower_setitem(target_var, index_var, value_var, signature)
        array = self.typeof(target_var.name)
        return store_item(self.context, self.builder, array, self._cast_var(value_var, array.dtype), address)

    def _address(self, name: str, index: str) -> Any:
        """Return where an item of a C-contiguous array of numbers is; None if it is something else."""
        array, kind = self.typeof(name), self.typeof(index)
        if not (isinstance(array, types.Array) and array.layout == "C" and isinstance(array.dtype, NUMBERS)):
            return None
        kinds: Any = kind if isinstance(kind, types.BaseTuple) else (kind,)
        if len(kinds) != array.ndim or not all(isinstance(each, types.Integer) for each in kinds):
            return None
        builder, value = self.builder, self.loadvar(name)
        place = None
        for axis, (number, of) in enumerate(zip(self._items(index, kind), kinds, strict=True)):
            size = builder.extract_value(value, [SHAPE, axis])
            along = self._counted_from_the_end(number, of, size)
            place = along if place is None else builder.add(builder.mul(place, size), along)
        return builder.gep(builder.extract_value(value, DATA), [place])

    def _items(self, index: str, kind: Any) -> Any:
        """Return the numbers of an index."""
        known = self._known.get(index)
        if isinstance(known, list):
            return known
        value = self.loadvar(index)
        if not isinstance(kind, types.BaseTuple):
            return [value]
        return [self.builder.extract_value(value, place) for place in range(len(kind))]

    def _counted_from_the_end(self, number: Any, of: Any, size: Any) -> Any:
        """Return an index that is at least 0: a negative one counts from the end."""
        if isinstance(number, ir.Constant) and number.constant >= 0:
            return ir.Constant(INTP, number.constant)
        if not of.signed:
            return self.context.cast(self.builder, number, of, types.uintp)
        number = self.context.cast(self.builder, number, of, types.intp)
        is_negative = self.builder.icmp_signed("<", number, ir.Constant(INTP, 0))
        return self.builder.select(is_negative, self.builder.add(number, size), number)

    # Numbers

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Calculate with two numbers."""
        signature = self.fndesc.calltypes[expr]
        kind = signature.args[0]
        if signature.args[1] == kind and isinstance(kind, (types.Float, types.Integer)):
            calculate = self._calculation(op, kind, signature.return_type)
            if calculate is not None:
                result = calculate(self._cast_var(expr.lhs, kind), self._cast_var(expr.rhs, kind))
                return self.context.cast(self.builder, result, signature.return_type, resty)
        return super().lower_binop(resty, expr, op)

    def _calculation(self, op: Any, kind: Any, to: Any) -> Any:
        """Return the one instruction of an operator on numbers of a type; None if there is none."""
        builder, is_float = self.builder, isinstance(kind, types.Float)
        if op in COMPARISONS:
            sign = COMPARISONS[op]
            if is_float:
                return partial(builder.fcmp_unordered if sign == "!=" else builder.fcmp_ordered, sign)
            return partial(builder.icmp_signed if kind.signed else builder.icmp_unsigned, sign)
        name = (FLOATS if is_float else INTEGERS).get(op) if to == kind else None
        if name is None:
            return None
        return getattr(builder, name) if is_float else partial(getattr(builder, name), flags=["nsw"] * kind.signed)

    # Expressions

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Translate an expression."""
        of = self.typeof(expr.value.name) if "value" in expr._kws else None
        if isinstance(of, types.Array):
            if expr.op == "getattr" and expr.attr == "shape":
                return self.builder.extract_value(self.loadvar(expr.value.name), SHAPE)
            if expr.op == "static_getitem" and expr.index_var is not None:
                return self.lower_getitem(resty, expr, expr.value, expr.index_var, self.fndesc.calltypes[expr])
        if expr.op == "getiter" and isinstance(of, types.RangeType):
            return self._iterator(resty, expr)
        if expr.op == "iternext" and isinstance(of, types.RangeIteratorType):
            return self._next(resty, expr)
        if expr.op in {"pair_first", "pair_second"}:
            return self.builder.extract_value(self.loadvar(expr.value.name), 0 if expr.op == "pair_first" else 1)
        return super().lower_expr(resty, expr)

    def lower_call(self, resty: Any, expr: Any) -> Any:
        """Call a function."""
        signature = self.fndesc.calltypes[expr]
        called = getattr(self.typeof(expr.func.name), "typing_key", None)
        if called is bool and signature.args == (types.boolean,):
            return self.loadvar(expr.args[0].name)
        if called is range and len(expr.args) < 3:
            *starts, stop = [self._cast_var(*each) for each in zip(expr.args, signature.args, strict=True)]
            start = starts[0] if starts else ir.Constant(stop.type, 0)
            return self._structure(resty, start, stop, ir.Constant(stop.type, 1))
        return super().lower_call(resty, expr)

    def _structure(self, kind: Any, *members: Any) -> Any:
        made = ir.Constant(self.context.get_value_type(kind), ir.Undefined)
        for place, each in enumerate(members):
            made = self.builder.insert_value(made, each, place)
        return made

    def _iterator(self, resty: Any, expr: Any) -> Any:
        """Begin a loop over a range whose step is known."""
        builder, numbers = self.builder, self.loadvar(expr.value.name)
        start, stop, step = (builder.extract_value(numbers, place) for place in range(3))
        if not (isinstance(step, ir.Constant) and step.constant and self.typeof(expr.value.name).dtype.signed):
            return super().lower_expr(resty, expr)
        following = alloca_once(builder, start.type)
        builder.store(start, following)
        iterator = self._structure(resty)  # a name alone: nothing is read from it
        self._loops[id(iterator)] = iterator, following, stop, step
        return iterator

    def _next(self, resty: Any, expr: Any) -> Any:
        """Return the next number of a range, and whether there is one."""
        builder, iterator = self.builder, self.loadvar(expr.value.name)
        if id(iterator) not in self._loops:
            return super().lower_expr(resty, expr)
        _, following, stop, step = self._loops[id(iterator)]
        number = builder.load(following)
        is_within = builder.icmp_signed("<" if step.constant > 0 else ">", number, stop)
        builder.store(builder.add(number, step, flags=["nsw"] if step.constant == 1 else []), following)
        return self._structure(resty, number, is_within)


def call_that_raises_nothing(code: Any, library: Any) -> Any:
    """Return how a part of kernels is called that raises nothing: its status is not looked at."""

    def call(context: Any, builder: Any, _: Any, args: Any) -> Any:
        called = context.declare_function(builder.module, code)
        result = alloca_once(builder, called.args[0].type.pointee)
        numbers = context.get_arg_packer(code.argtypes).as_arguments(builder, args)
        builder.call(called, [result, ir.Constant(called.args[1].type, None), *numbers])
        return context.get_returned_value(builder, code.restype, builder.load(result))

    call.libs = (library,)  # type: ignore[attr-defined]
    return call


class KernelWrapper(PyCallWrapper):
    """Writes the function that Python calls."""

    def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
        """Read the arguments, call the kernel and return its result."""
        api.__class__, builder.__class__ = KernelApi, Builder
        super().build_wrapper(api, builder, closure, args, kws)


class KernelApi(PythonAPI):
    """Reads arguments whose types are right: a dispatcher has chosen the kernel by them."""

    def to_native_value(self, typ: Any, obj: Any) -> Any:
        """Return the value of an object."""
        builder = self.builder
        if type(typ) is types.Array:
            array = alloca_once(builder, self.context.get_value_type(typ))
            code = self.numba_array_adaptor(obj, builder.bitcast(array, self.voidptr))
            return NativeValue(builder.load(array), builder.icmp_signed("!=", code, code.type(0)))
        if not isinstance(typ, types.BaseTuple) or len(typ) == 0:
            return super().to_native_value(typ, obj)
        kinds: Any = typ
        items = [self.to_native_value(kind, self.tuple_getitem(obj, place)) for place, kind in enumerate(kinds)]
        value = self.context.make_tuple(builder, typ, [each.value for each in items])
        return NativeValue(value, reduce(builder.or_, [each.is_error for each in items]))
