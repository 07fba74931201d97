"""How operations on eight lanes are made: plain Python beside LLVM code on vectors.

`operation` joins the two. The plain form says what an operation does and runs under ``NUMBA_DISABLE_JIT=1``, for
debuggers and tests; kernels are compiled with the LLVM form. The vectors are LLVM's own, so every processor runs them
with what it has: AVX registers, pairs of SSE or NEON registers. Only `Code.packed`, which moves marked lanes to the
front, uses an instruction by name (AVX2 ``vpermd``), and only where the target has it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import config
from numba.extending import intrinsic

LANES = 8  # numbers that an operation handles at once
Array: TypeAlias = Any  # a contiguous array of one dimension
Arrays: TypeAlias = Any  # a tuple of such arrays
Int: TypeAlias = Any  # a signed number of 64 bits
Word: TypeAlias = Any  # an unsigned number of 32 bits
Real: TypeAlias = Any  # a number of the float type of the first argument, an array
I1, I8, I32, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(32), ir.IntType(64)
V8I = ir.VectorType(I32, LANES)
Plain = TypeVar("Plain", bound=Callable[..., Any])


def operation(write: Callable[..., Any]) -> Callable[[Plain], Plain]:
    """Make an operation of a plain function; ``write(code, *values)`` writes its LLVM code and returns the result.

    The annotations of the plain function, `Array`, `Arrays`, `Int`, `Word` or `Real`, decide what its arguments are
    converted to in a kernel. It returns an int or None.
    """

    def decorate(plain: Plain) -> Plain:
        is_plain = getattr(config, "DISABLE_JIT", False)
        return plain if is_plain else cast("Plain", _compiled(plain, write))

    return decorate


def _compiled(plain: Callable[..., Any], write: Callable[..., Any]) -> Any:
    signature = inspect.signature(plain)
    kinds = [str(parameter.annotation) for parameter in signature.parameters.values()]
    result = types.void if signature.return_annotation == "None" else types.int64

    def typed(_: Any, *given: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            code = Code(context, builder)
            answer = write(code, *(code.argument(*pair) for pair in zip(signature.args, values, strict=True)))
            return context.get_dummy_value() if result is types.void else answer

        return result(*(_wanted(kind, one, given[0]) for kind, one in zip(kinds, given, strict=True))), generate

    context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    typed.__signature__ = signature.replace(parameters=[context, *signature.parameters.values()])  # type: ignore[attr-defined]
    for name in ("__name__", "__qualname__", "__doc__", "__module__"):
        setattr(typed, name, getattr(plain, name))
    made: Any = intrinsic(typed)
    made.plain = plain
    return made


def _wanted(kind: str, given: Any, first: Any) -> Any:
    """Return the Numba type that an argument is converted to."""
    if kind in ("Array", "Arrays"):
        return given
    if kind == "Real":
        return first.dtype
    return {"Int": types.int64, "Word": types.uint32}[kind]


class Pointer:
    """The data of an array, and the LLVM type of an element."""

    def __init__(self, start: Any, element: Any) -> None:
        self.start = start
        self.element = element
        self.vector = ir.VectorType(element, LANES)


class Code:
    """Writes LLVM code: loads, stores, and the steps that operations share. Indices may be Python numbers."""

    def __init__(self, context: Any, builder: Any) -> None:
        self.context = context
        self.builder = builder
        # of the processor compiled for, which need not be this one; Numba keeps kernels on disk by it
        self.has_avx2 = "+avx2" in context.codegen()._tm_features

    def argument(self, kind: Any, value: Any) -> Any:
        """Return the value of a scalar, or the `Pointer` of an array, or of each of a tuple of arrays."""
        if isinstance(kind, (types.Tuple, types.UniTuple)):
            return [self.argument(part, self.builder.extract_value(value, at)) for at, part in enumerate(kind)]
        if not isinstance(kind, types.Array):
            return value
        array = self.context.make_array(kind)(self.context, self.builder, value)
        return Pointer(array.data, self.context.get_data_type(kind.dtype))

    def call(self, name: str, result: Any, values: list[Any]) -> Any:
        """Call a function of LLVM's by its name."""
        found = self.builder.module.globals.get(name)
        if found is None:
            kind = ir.FunctionType(result, [value.type for value in values])
            found = ir.Function(self.builder.module, kind, name)
        return self.builder.call(found, values)

    def repeat(self, start: list[Any], enters: Any, step: Callable[[list[Any]], tuple[list[Any], Any]]) -> list[Any]:
        """Repeat ``held, again = step(held)`` while ``again``, from ``start`` on; not at all unless ``enters``."""
        builder = self.builder
        before, body, done = builder.block, builder.append_basic_block("body"), builder.append_basic_block("done")
        builder.cbranch(enters, body, done)
        builder.position_at_end(body)
        held = [builder.phi(value.type) for value in start]
        found, again = step(held)
        builder.cbranch(again, body, done)
        builder.position_at_end(done)
        last = [builder.phi(value.type) for value in start]
        for begin, end, *phis in zip(start, found, held, last, strict=True):
            for phi in phis:
                phi.add_incoming(begin, before)
                phi.add_incoming(end, body)
        return last

    # Numbers and places

    def number(self, value: Any) -> Any:
        """Return a Python number as one of 64 bits; others as they are."""
        return I64(value) if isinstance(value, int) else value

    def plus(self, first: Any, second: Any) -> Any:
        """Return the sum of two indices."""
        return self.builder.add(self.number(first), self.number(second))

    def times(self, first: Any, second: Any) -> Any:
        """Return the product of two indices."""
        return self.builder.mul(self.number(first), self.number(second))

    def load(self, source: Pointer, index: Any, kind: Any = None) -> Any:
        """Load an element, or a value of another ``kind`` that begins at its place."""
        place = self.builder.gep(source.start, [self.number(index)])
        if kind is None:
            return self.builder.load(place)
        value = self.builder.load(self.builder.bitcast(place, kind.as_pointer()))
        value.align = _size(source.element)
        return value

    def store(self, value: Any, target: Pointer, index: Any) -> None:
        """Store a number or a vector from the element ``index`` on."""
        place = self.builder.gep(target.start, [self.number(index)])
        self.builder.store(value, self.builder.bitcast(place, value.type.as_pointer())).align = _size(target.element)

    def eight(self, source: Pointer, index: Any) -> Any:
        """Load eight elements."""
        return self.load(source, index, source.vector)

    def eight_words(self, source: Pointer, index: Any) -> Any:
        """Load eight numbers of 32 bits that lie in elements of 32 or 64 bits, floats or not."""
        wide = ir.VectorType(ir.IntType(8 * _size(source.element)), LANES)
        found = self.load(source, index, wide)
        return found if wide == V8I else self.builder.trunc(found, V8I)

    # Vectors

    def splat(self, scalar: Any) -> Any:
        """Return a vector with one number in all lanes."""
        none = ir.Constant(ir.VectorType(scalar.type, LANES), ir.Undefined)
        first = self.builder.insert_element(none, scalar, I32(0))
        return self.builder.shuffle_vector(first, none, ir.Constant(V8I, [0] * LANES))

    def shuffle(self, first: Any, second: Any, order: list[int]) -> Any:
        """Return the lanes of two vectors, numbered one after the other, in this order."""
        return self.builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(I32, len(order)), order))

    def bits(self, lanes: Any) -> Any:
        """Return eight truth values as the low bits of a number."""
        return self.builder.zext(self.builder.bitcast(lanes, I8), I64)

    def meeting(self, box: list[Any], lower: list[Any], upper: list[Any], or_equal: bool = True) -> Any:
        """Return the bits of the boxes ``lower`` to ``upper`` (a vector an axis) that a box of six splats overlaps."""
        found, equal = None, "=" if or_equal else ""
        for axis in range(3):
            for test in (
                self.builder.fcmp_ordered(f"<{equal}", lower[axis], box[axis + 3]),
                self.builder.fcmp_ordered(f">{equal}", upper[axis], box[axis]),
            ):
                found = test if found is None else self.builder.and_(found, test)
        return self.bits(found)

    def packed(self, words: Any, mask: Any, table: str) -> Any:
        """Return eight words with those whose bits are set moved to the front, as ``table`` orders them (AVX2)."""
        name = f"left_pack_{table}"
        if name not in self.builder.module.globals:
            content = _TABLES[table]
            kind = ir.ArrayType(I8, content.size)
            constant = ir.GlobalVariable(self.builder.module, kind, name)
            constant.initializer = ir.Constant(kind, bytearray(content.tobytes()))
            constant.global_constant, constant.linkage, constant.align = True, "internal", 64
        start = self.builder.bitcast(self.builder.module.globals[name], I8.as_pointer())
        places = self.load(Pointer(start, I8), self.times(mask, LANES), ir.VectorType(I8, LANES))
        return self.call("llvm.x86.avx2.permd", V8I, [words, self.builder.zext(places, V8I)])

    def write_keys(self, first: Any, second: Any, mask: Any, out: Pointer, place: Any) -> None:
        """Store first << 32 | second of each lane whose bit is set from ``place`` on; eight places are written.

        With AVX2 the marked lanes have been packed "for_keys".
        """
        if self.has_avx2:
            # Little endian: the second word is the low half of a key. More than four hits in eight are rare.
            self.store(self.shuffle(first, second, [8, 0, 9, 1, 12, 4, 13, 5]), out, place)
            is_full = self.builder.icmp_unsigned(">", self.builder.ctpop(mask), I64(4))
            with self.builder.if_then(is_full, likely=False):
                rest = self.shuffle(first, second, [10, 2, 11, 3, 14, 6, 15, 7])
                self.store(rest, out, self.plus(place, 4))
            return
        for lane in range(LANES):
            high, low = (self.builder.zext(self.builder.extract_element(v, I32(lane)), I64) for v in (first, second))
            self.store(self.builder.or_(self.builder.shl(high, I64(32)), low), out, place)
            place = self.plus(place, self.builder.and_(self.builder.lshr(mask, I64(lane)), I64(1)))


def _size(element: Any) -> int:
    """Return the bytes of a scalar LLVM type."""
    if isinstance(element, ir.FloatType):
        return 4
    return 8 if isinstance(element, ir.DoubleType) else int(element.width) // 8


def _left_pack(lane_of: list[int]) -> Any:
    """Return (256, 8): for each mask, which lane goes where, so that the k-th set one goes to ``lane_of[k]``."""
    table = np.zeros((256, LANES), np.uint8)
    for mask in range(256):
        for place, lane in enumerate(lane for lane in range(LANES) if mask >> lane & 1):
            table[mask, lane_of[place]] = lane
    return table


_TABLES = {
    "in_order": _left_pack([0, 1, 2, 3, 4, 5, 6, 7]),
    # Interleaving within the halves of a register, which is cheap, then gives keys 0 to 3 and 4 to 7 in order.
    "for_keys": _left_pack([0, 1, 4, 5, 2, 3, 6, 7]),
}
