"""Capital letters as 12 × 12 pixels, drawn from the typefaces of Debian's packages of fonts."""
import functools
import glob
import re
import string

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from draws import Domain, Task, halves, redraw

FAMILIES = {
    "serif": r"FreeSerif|DejaVuSerif|EBGaramond|LiberationSerif|Caladea|Junicode|LinLibertine|termes|pagella|bonum|schola|OldStandard|Gen.*R|AveriaSerif",
    "sans": r"FreeSans|DejaVuSans(?!Mono)|Lato|LiberationSans|Carlito|LinBiolinum|heros|adventor|Cabin|Cantarell|OpenSans|Roboto|AveriaSans",
    "display": r"/aenigma/",
}
SLANTED = re.compile(r"Italic|Oblique|italic|oblique|It\.|BI\.|RI\.")
SIZE = 12


def faces(family, slanted):
    found = sorted(path for end in ("ttf", "otf") for path in glob.glob(f"/usr/share/**/*.{end}", recursive=True) if "/fonts/" in path)
    found = [path for path in found if re.search(FAMILIES[family], path) and (slanted is None or bool(SLANTED.search(path)) == slanted)]
    if not found:
        raise SystemExit(f"fonts: no {family} is here; the packages stand in the Makefile, at suite_fonts")
    return found


def glyph(font, letter, turn):
    """SIZE × SIZE pixels of a letter, turned by some degrees and cut to its ink; None without any."""
    image = Image.new("L", (128, 128))
    ImageDraw.Draw(image).text((64, 64), letter, fill=255, font=font, anchor="mm")
    image = image.rotate(turn, Image.BILINEAR)
    box = image.getbbox()
    if box is None:
        return None
    image = image.crop(box)
    side = max(image.size)
    square = Image.new("L", (side, side))
    square.paste(image, ((side - image.width) // 2, (side - image.height) // 2))
    return np.asarray(square.resize((SIZE, SIZE), Image.BOX), np.float32).ravel() / 255


@functools.lru_cache(maxsize=None)
def letters(family, slanted=None, limit=60):
    """Every capital of up to `limit` faces of a family, twice, each time turned a little."""
    random = np.random.default_rng(31)
    paths = faces(family, slanted)
    values, labels = [], []
    for i in sorted(random.permutation(len(paths))[:limit]):
        font = ImageFont.truetype(paths[i], 64)
        for letter in string.ascii_uppercase * 2:
            drawn = glyph(font, letter, random.normal(0, 4))
            if drawn is not None:
                values.append(drawn)
                labels.append(letter)
    return Domain(np.stack(values), np.array(labels))


def fonts():
    def task(name, group, seed, source, target):
        random = np.random.default_rng([31, seed])
        if source is target:
            source, target = (source.take(rows) for rows in halves(len(source), random))
        return Task(name, group, seed, *(part.take(redraw(part.labels, 2000, random, 4)) for part in (source, target)))

    yield task("serif-sans", "gap", 1, letters("serif", False), letters("sans", False))
    yield task("sans-display", "gap", 2, letters("sans", False), letters("display", limit=100))
    yield task("upright-slanted", "gap", 3, letters("sans", False), letters("serif", True))
    yield task("serif-shares", "label-shift", 4, letters("serif"), letters("serif"))
