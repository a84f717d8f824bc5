"""Sets of rows (or leaves) as bits, 64 to a word: comparing, counting, adding where a bit is set."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

WORD = 64
_BYTE, _INT, _DOUBLE = ir.IntType(8), ir.IntType(64), ir.DoubleType()
_LONG = ir.VectorType(_DOUBLE, WORD)
_SHORT = ir.VectorType(_DOUBLE, 8)


def _pointer(builder: Any, address: Any, kind: Any) -> Any:
    return builder.inttoptr(address, ir.PointerType(kind))


def _load(builder: Any, address: Any, kind: Any) -> Any:
    found = builder.load(_pointer(builder, address, kind))
    found.align = 8
    return found


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    empty = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(empty, value, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), kind.count), [0] * kind.count)
    return builder.shuffle_vector(first, empty, zeros)


@intrinsic
def at_most(typing: Any, address: Any, threshold: Any) -> Any:  # noqa: ARG001
    """Bit i: the i-th of 64 doubles is at most the threshold; never for NaN."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        x = _load(builder, args[0], _LONG)
        return builder.bitcast(builder.fcmp_ordered("<=", x, _spread(builder, args[1], _LONG)), _INT)

    return types.uint64(types.int64, types.float64), code


@intrinsic
def missing(typing: Any, address: Any) -> Any:  # noqa: ARG001
    """Bit i: the i-th of 64 doubles is NaN."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        x = _load(builder, args[0], _LONG)
        return builder.bitcast(builder.fcmp_unordered("uno", x, x), _INT)

    return types.uint64(types.int64), code


def _apart(bits: int) -> Any:
    kind = ir.VectorType(ir.IntType(bits), WORD)

    @intrinsic
    def apart(typing: Any, one: Any, other: Any) -> Any:  # noqa: ARG001
        def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
            x, y = (_load(builder, address, kind) for address in args)
            for found in (x, y):
                found.align = bits // 8
            none = ir.Constant(kind, [0] * WORD)
            return builder.bitcast(builder.icmp_unsigned("==", builder.and_(x, y), none), _INT)

        return types.uint64(types.int64, types.int64), code

    return apart


# Bit i: the i-th of 64 sets of bits here and the i-th there have nothing in common; sets of 8 or of 32 bits.
apart_8, apart_32 = _apart(8), _apart(32)


@intrinsic
def count_bits(typing: Any, word: Any) -> Any:  # noqa: ARG001
    """How many bits are set."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(args[0])

    return types.int64(types.uint64), code


@intrinsic
def first_bit(typing: Any, word: Any) -> Any:  # noqa: ARG001
    """Position of the lowest bit of a word that is not zero."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), code


@intrinsic
def add_where(typing: Any, address: Any, bits: Any, value: Any) -> Any:  # noqa: ARG001
    """Adds a number to those of eight doubles whose bits are set in the low byte."""

    def code(context: Any, builder: Any, sig: Any, args: Any) -> Any:  # noqa: ARG001
        old = _load(builder, args[0], _SHORT)
        chosen = builder.bitcast(builder.trunc(args[1], _BYTE), ir.VectorType(ir.IntType(1), 8))
        new = builder.select(chosen, builder.fadd(old, _spread(builder, args[2], _SHORT)), old)
        done = builder.store(new, _pointer(builder, args[0], _SHORT))
        done.align = 8
        return context.get_dummy_value()

    return types.none(types.int64, types.uint64, types.float64), code
