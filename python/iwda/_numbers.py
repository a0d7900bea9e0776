"""Numbers as people write them, read as the programs read them."""

import datetime
import re
import unicodedata
from typing import List, Optional, Tuple

from . import _data

_BOUND = re.compile("[<>≤≥]=? *")
_ACCOUNT = re.compile(r"\(([^()+-]*\d[^()+-]*)\)")
_PARTED = re.compile("[+-]?[1-9]\\d{0,2}([ '’\u00a0\u202f]\\d{3})+([.,]\\d+)?")
_COMMAS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3}(,\d{3})+|(,\d{3})+\.\d+)")  # 1,234,567 and 1,234.5
_POINTS = re.compile(r"[+-]?[1-9]\d{0,2}(\.\d{3}(\.\d{3})+|(\.\d{3})+,\d+)")
_ONE_GROUP = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CLOCK = re.compile(r"([+-]?)(\d{1,3}):(\d\d?)(?::(\d\d?(?:\.\d+)?))?", re.ASCII)
_UNIT_AT_END = re.compile(r"[^\d]*$")


def read(text: str, decimal: str, unit: str = "") -> Optional[float]:
    """The number of a cell, with this decimal sign ("" for none known) and unit; None if it is none."""
    if unit:
        text, found = _cut_unit(text.strip(), decimal)
        if found != unit:
            return None
    word = text.strip().lower()
    if word in ("true", "false"):
        return float(word == "true")
    value = _float(text, decimal)
    if value is None:
        value = _float(_plain(text.strip()), decimal)
    if value is None:
        value = _data.days(text)
    return _hours(word) if value is None else value


def without_groups(texts: List[str], decimal: str) -> List[str]:
    """Cells of a column: 1,234 is thousands where another one has a point before a fraction, as in 1.5."""
    if decimal != "." or not any("." in text and _float(text, decimal) is not None for text in texts):
        return texts
    return [text.replace(",", "") if _ONE_GROUP.fullmatch(text.strip()) else text for text in texts]


def _float(text: str, decimal: str) -> Optional[float]:
    """A number as programs write it, and with signs between thousands that can be nothing else."""
    if decimal == "," and text.count(",") == 1 and "." not in text:
        text = text.replace(",", ".")
    elif decimal == "," and _POINTS.fullmatch(text):
        text = text.replace(".", "").replace(",", ".")
    elif decimal != "," and _COMMAS.fullmatch(text):
        text = text.replace(",", "")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def _plain(text: str) -> str:
    """The bound of <0.5, a minus for the parentheses of accounts and the typeset sign, nothing between thousands."""
    if bound := _BOUND.match(text):
        text = text[bound.end() :]
    if account := _ACCOUNT.fullmatch(text):
        text = "-" + account[1].strip()
    if text.startswith("−"):
        text = "-" + text[1:]
    if _PARTED.fullmatch(text):
        text = re.sub("[ '’\u00a0\u202f]", "", text)
    return text


def _cut_unit(word: str, decimal: str) -> Tuple[str, str]:
    """A number and its unit: a currency before it, and letters and signs after it. The unit is "" if there is none."""
    word = _plain(word)
    bare = word.lstrip("+-")
    at = 0
    while at < len(bare) and unicodedata.category(bare[at]) == "Sc":
        at += 1
    rest = bare[at:]
    end = len(rest) - len(_UNIT_AT_END.search(rest)[0])  # type: ignore[index]  # it matches any text
    unit = bare[:at] + rest[end:].strip()
    number = _plain(word[: len(word) - len(bare)] + rest[:end].strip())
    one_group = _ONE_GROUP.fullmatch(number) if decimal != "," else None  # thousands beside a unit
    return (number.replace(",", "") if one_group else number), unit


def _hours(word: str) -> Optional[float]:
    """The hours of a time of the day, and of others with seconds or a sign. Without these, 4:3 may be a ratio."""
    if match := _CLOCK.fullmatch(word.replace("−", "-", 1)):
        sign, hours, minutes, seconds = match.group(1, 2, 3, 4)
        if int(minutes) >= 60 or float(seconds or 0) >= 60 or not (sign or seconds or (int(hours) < 24 and len(minutes) == 2)):
            return None
        value = int(hours) + (60 * int(minutes) + float(seconds or 0)) / 3600
        return -value if sign == "-" else value
    for form in ("%I:%M %p", "%I:%M%p", "%I:%M:%S %p"):
        try:
            at = datetime.datetime.strptime(word, form)
        except ValueError:
            continue
        return at.hour + (60 * at.minute + at.second) / 3600
    return None
