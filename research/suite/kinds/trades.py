"""Tables of flight and sport: aircraft, baseball, athletes."""
import numpy as np

from draws import Task
from kinds import r, tables


def aircraft():
    """Aircraft by power, size, weight, speed and range, in logarithms; when they were built is the class, in three."""
    columns = r.frame("sm", "aircraft")
    period = np.array(["before 1936", "until 1955", "later"])[columns["Period"].astype(int) - 1]
    said = {name.lower(): np.log10(columns[name]).round(4) for name in ("Power", "Span", "Length", "Weight", "Speed", "Range")}
    return tables.tasks(481, r.domain(said, period), [("shares", (0.7, 0.3, 0.5)), ("span", "span", 3)])


POSITIONS = {"1B": "first", "C": "catcher", "2B": "middle", "SS": "middle", "3B": "third", "CF": "field", "LF": "field", "RF": "field", "OF": "field"}


def baseball():
    """Players of baseball by a season, a career and pay; their position is the class, in five. One league and the other."""
    columns = r.frame("vcd", "Baseball")
    position = np.array([POSITIONS.get(text, "") for text in columns["posit86"]])
    names = ["atbat86", "hits86", "homer86", "runs86", "rbi86", "walks86", "years", "atbat", "hits", "homeruns", "runs", "rbi", "walks", "outs86", "assist86", "error86", "sal87"]
    said, known, national = {name: columns[name] for name in names}, position != "", columns["league86"] == "N"
    yield Task("american-national", "gap", 1, *(r.domain(said, position, rows=known & rows) for rows in (~national, national)))


def athletes():
    """Athletes by blood and body; the sport is the class. Women and men."""
    columns = r.frame("ggridges", "Aus_athletes")
    sports, men = np.isin(columns["sport"], ["basketball", "field", "rowing", "swimming", "track (400m)"]), columns["sex"] == "m"
    yield Task("women-men", "gap", 1, *(r.domain(columns, "sport", ["sex"], sports & rows) for rows in (~men, men)))
