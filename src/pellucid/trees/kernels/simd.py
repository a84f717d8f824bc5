"""Eight doubles at a time, in numba.

numba vectorises a loop only when it can prove that no two arrays overlap, which a walk over a tree with its
stack of intermediate results never allows. So the kernels say what they mean: `Vec` holds eight doubles in
whatever registers the machine has (LLVM splits them where they are narrower), and addresses are plain
integers, which also keeps calls cheap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from platform import machine
from typing import Any

from llvmlite import ir
from llvmlite.binding import get_host_cpu_features
from numba import types
from numba.core.typing.templates import ConcreteTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

LANES = 8
VECTOR_BYTES = 8 * LANES
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_INDEX = ir.VectorType(ir.IntType(32), LANES)
# Where a product and a sum become one operation is written out (`fused`), never left to the compiler: it would decide
# anew in every place, and a row explained alone would differ in its last bits from the same row among others.
_FUSES = bool(get_host_cpu_features().get("fma")) or machine().lower() in ("arm64", "aarch64")


class VecType(types.Type):  # type: ignore[misc]
    """The numba type of a vector."""

    def __init__(self) -> None:
        super().__init__(name="Vec")


vec = VecType()


@register_model(VecType)
class _VecModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, front: Any) -> None:
        super().__init__(manager, front, _VECTOR)


def _arithmetic(operation: Callable[[Any, Any], Any], instruction: str) -> None:
    @infer_global(operation)
    class _Typing(ConcreteTemplate):  # type: ignore[misc]
        cases = [signature(vec, vec, vec)]  # noqa: RUF012 - numba reads it from the class

    @lower_builtin(operation, VecType, VecType)
    def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return getattr(builder, instruction)(*args)


for _operation, _instruction in (
    (operator.add, "fadd"),
    (operator.sub, "fsub"),
    (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):
    _arithmetic(_operation, _instruction)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, ir.PointerType(kind))


def _spread(builder: Any, number: Any) -> Any:
    empty = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(empty, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(_INDEX, [0] * LANES))


def _constant_memory(builder: Any, instruction: Any) -> Any:
    """Promise that nobody writes there while the kernel runs, so that LLVM may move the load."""
    instruction.set_metadata("invariant.load", builder.module.add_metadata([]))
    return instruction


@intrinsic
def load(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Eight doubles from an address."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        found = builder.load(_pointer(builder, args[0], _VECTOR))
        found.align = 8
        return found

    return vec(types.int64), code


@intrinsic
def fetch(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Eight doubles from memory that is only read."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        found = builder.load(_pointer(builder, args[0], _VECTOR))
        found.align = 8
        return _constant_memory(builder, found)

    return vec(types.int64), code


@intrinsic
def store(typing: Any, address: Any, value: Any) -> Any:  # noqa: ARG001
    """Eight doubles to an address."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        done = builder.store(args[1], _pointer(builder, args[0], _VECTOR))
        done.align = 8
        return context.get_dummy_value()

    return types.none(types.int64, vec), code


@intrinsic
def number(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """One double from memory that is only read, eight times."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        found = builder.load(_pointer(builder, args[0], ir.DoubleType()))
        return _spread(builder, _constant_memory(builder, found))

    return vec(types.int64), code


@intrinsic
def splat(typing: Any, value: Any) -> Any:  # noqa: ARG001
    """One number, eight times."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return _spread(builder, args[0])

    return vec(types.float64), code


def _fused(builder: Any, x: Any, y: Any, z: Any) -> Any:
    if not _FUSES:  # without such an instruction a library would do it, very slowly
        return builder.fadd(builder.fmul(x, y), z)
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    function = builder.module.declare_intrinsic(f"llvm.fma.v{LANES}f64", (), kind)
    return builder.call(function, [x, y, z])


@intrinsic
def fused(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001
    """``x * y + z``, rounded once."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return _fused(builder, *args)

    return vec(vec, vec, vec), code


@intrinsic
def fused_less(typing: Any, x: Any, y: Any, z: Any) -> Any:  # noqa: ARG001
    """``z - x * y``, rounded once."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return _fused(builder, builder.fneg(args[0]), *args[1:])

    return vec(vec, vec, vec), code


def _choice(unordered: bool) -> Any:
    @intrinsic
    def choose(typing: Any, x: Any, threshold: Any, yes: Any, no: Any) -> Any:  # noqa: ARG001
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
            compare = builder.fcmp_unordered if unordered else builder.fcmp_ordered
            return builder.select(compare("<=", args[0], args[1]), args[2], args[3])

        return vec(vec, vec, vec, vec), code

    return choose


# where(x <= threshold, yes, no); missing values (NaN) are no, or yes
choose = _choice(unordered=False)
choose_missing_yes = _choice(unordered=True)


@intrinsic
def gather(typing: Any, base: Any, index: Any) -> Any:  # noqa: ARG001
    """The doubles at eight positions (whole numbers held as doubles) from an address on."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        wide = ir.VectorType(ir.IntType(64), LANES)
        scaled = builder.shl(builder.fptosi(args[1], wide), ir.Constant(wide, [3] * LANES))
        start = ir.Constant(wide, ir.Undefined)
        start = builder.insert_element(start, args[0], ir.Constant(ir.IntType(32), 0))
        start = builder.shuffle_vector(start, ir.Constant(wide, ir.Undefined), ir.Constant(_INDEX, [0] * LANES))
        addresses = builder.add(start, scaled)
        out = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(LANES):
            place = ir.Constant(ir.IntType(32), lane)
            pointer = _pointer(builder, builder.extract_element(addresses, place), ir.DoubleType())
            out = builder.insert_element(out, builder.load(pointer), place)
        return out

    return vec(types.int64, vec), code


@intrinsic
def low_bits_as_exponent(typing: Any, value: Any) -> Any:  # noqa: ARG001
    """``2**n`` of doubles whose last bits hold ``n + 1023``, as they do once a large power of two is added."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        wide = ir.VectorType(ir.IntType(64), LANES)
        bits = builder.shl(builder.bitcast(args[0], wide), ir.Constant(wide, [52] * LANES))
        return builder.bitcast(bits, _VECTOR)

    return vec(vec), code


def _shifted(distance: int) -> Any:
    # Lane i gets lane i - distance where i has that bit, else zero (one of the eight zeros behind the vector).
    lanes = [i - distance if i & distance else LANES for i in range(LANES)]

    @intrinsic
    def shifted(typing: Any, value: Any) -> Any:  # noqa: ARG001
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
            zero = ir.Constant(_VECTOR, [0.0] * LANES)
            return builder.shuffle_vector(args[0], zero, ir.Constant(_INDEX, lanes))

        return vec(vec), code

    return shifted


# To every lane with one bit set the number of the lane without it, to the others zero.
from_without_1, from_without_2, from_without_4 = _shifted(1), _shifted(2), _shifted(4)


@intrinsic
def lane_sum(typing: Any, value: Any) -> Any:  # noqa: ARG001
    """The sum of eight doubles, always in the same order."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        parts = [builder.extract_element(args[0], ir.Constant(ir.IntType(32), i)) for i in range(LANES)]
        while len(parts) > 1:
            half = len(parts) // 2
            parts = [builder.fadd(parts[i], parts[i + half]) for i in range(half)]
        return parts[0]

    return types.float64(vec), code


@intrinsic
def lowest_bit(typing: Any, bits: Any) -> Any:  # noqa: ARG001
    """The position of the lowest bit that is set; 64 where none is."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64), ir.IntType(1)])
        function = builder.module.declare_intrinsic("llvm.cttz.i64", (), kind)
        return builder.call(function, [args[0], ir.Constant(ir.IntType(1), 0)])

    return types.int64(types.int64), code
