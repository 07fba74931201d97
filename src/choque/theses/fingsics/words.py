"""Readers of single words in text formats; an error says what the word must be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

TRUE, FALSE = ("true", "1"), ("false", "0")


def number(text: str) -> float:
    """Read a number; its range, and NaN, are checked with the bodies."""
    try:
        if "_" in text:
            raise ValueError
        return float(text)
    except ValueError:
        raise ValueError("a number, such as 2.5") from None


def triplet(text: str) -> tuple[float, float, float]:
    """Read three numbers between commas."""
    try:
        if "_" in text:
            raise ValueError
        x, y, z = map(float, text.split(","))
        return x, y, z
    except ValueError:
        raise ValueError("three numbers separated by commas, such as 1,2.5,-3") from None


def color(text: str) -> tuple[int, int, int]:
    """Read three whole numbers from 0 to 255 between commas."""
    try:
        given = triplet(text)
        red, green, blue = map(int, given)
        if (red, green, blue) == given and min(given) >= 0 and max(given) <= 255:
            return red, green, blue
    except (ValueError, OverflowError):
        pass
    raise ValueError("three whole numbers from 0 to 255 separated by commas, such as 200,0,0")


def flag(text: str) -> bool:
    """Read true or false."""
    word = text.strip().lower()
    if word not in (*TRUE, *FALSE):
        raise ValueError("true or false")
    return word in TRUE


def whole(text: str) -> int:
    """Read a whole number."""
    word = text.strip()
    if not (word.removeprefix("-").isascii() and word.removeprefix("-").isdigit() and len(word) <= 12):
        raise ValueError("a whole number, such as 60")
    return int(word)


def remark_lines(remarks: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """Return each remark once, with its first line and its number of occurrences."""
    return tuple(
        f"Line {lines[0]}: {words}{f' ({len(lines)} times)' if len(lines) > 1 else ''}."
        for words, lines in remarks.items()
    )
