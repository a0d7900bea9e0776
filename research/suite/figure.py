"""A dot a task: `adapt` over the best of twelve baselines, which labels picked; above the line it is ahead."""
from xml.sax.saxutils import escape

import numpy as np

SIDE, MARGIN, LEGEND = 480, 56, 190
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#9467bd", "#8c564b", "#7f7f7f",
           "#b2182b", "#1b7837", "#4575b4", "#f46d43", "#762a83", "#bf812d", "#35978f", "#c51b7d",
           "#bcbd22", "#17becf", "#a6761d", "#666699", "#003f5c", "#ff9da7", "#4d4d00"]
SHAPES = {"none": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", "label-shift": "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0", "covariate": "M-4.5 -4.5h9v9h-9z", "gap": "M0 -6L5.5 4.5H-5.5z"}


def write(path, results, method):
    x, y = results.column("best of twelve"), results.column(method)
    known = ~np.isnan(x + y)
    low = 10 * np.floor(min(x[known].min(), y[known].min()) / 10) if known.any() else 0

    def place(value):
        return MARGIN + SIDE * (value - low) / (100 - low)

    bottom = 2 * MARGIN + SIDE
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{bottom + LEGEND}" height="{bottom}" font-family="sans-serif" font-size="12">',
             f'<rect width="{bottom + LEGEND}" height="{bottom}" fill="white"/>',
             f'<path d="M{MARGIN} {MARGIN + SIDE}L{MARGIN + SIDE} {MARGIN}" stroke="#888"/>']
    for tick in np.arange(low, 101, 10):
        at = place(tick)
        parts += [f'<path d="M{at:.1f} {MARGIN}V{MARGIN + SIDE}M{MARGIN} {bottom - at:.1f}H{MARGIN + SIDE}" stroke="#ddd"/>',
                  f'<text x="{at:.1f}" y="{MARGIN + SIDE + 18}" text-anchor="middle">{tick:.0f}</text>',
                  f'<text x="{MARGIN - 8}" y="{bottom - at + 4:.1f}" text-anchor="end">{tick:.0f}</text>']
    parts += [f'<text x="{bottom / 2}" y="{bottom - 14}" text-anchor="middle">best of twelve baselines, accuracy in percent</text>',
              f'<text transform="translate(16 {bottom / 2}) rotate(-90)" text-anchor="middle">{escape(method)}, accuracy in percent</text>']
    kinds = list(dict.fromkeys(line["kind"] for line in results.lines))
    for i in np.flatnonzero(known):
        line = results.lines[i]
        shape, colour = SHAPES[line["group"]], COLOURS[kinds.index(line["kind"]) % len(COLOURS)]
        fill = "none" if line["group"] == "none" else colour
        parts.append(f'<path d="{shape}" transform="translate({place(x[i]):.1f} {bottom - place(y[i]):.1f})" fill="{fill}" fill-opacity="0.75" stroke="{colour}">'
                     f"<title>{escape(results.names[i])}, {line['group']}: {y[i]:.1f}, best of twelve {x[i]:.1f}</title></path>")
    entries = [(SHAPES["none"], COLOURS[i % len(COLOURS)], COLOURS[i % len(COLOURS)], kind) for i, kind in enumerate(kinds)]
    entries += [(shape, "none" if group == "none" else "#555", "#555", group) for group, shape in SHAPES.items()]
    apart = min(20, (SIDE + MARGIN) // (len(entries) + 1))
    for i, (shape, fill, colour, text) in enumerate(entries):
        down = MARGIN + apart * i + (12 if i >= len(kinds) else 0)
        parts += [f'<path d="{shape}" transform="translate({bottom} {down})" fill="{fill}" stroke="{colour}"/>', f'<text x="{bottom + 14}" y="{down + 4}">{escape(text)}</text>']
    path.write_text("\n".join([*parts, "</svg>"]) + "\n")
