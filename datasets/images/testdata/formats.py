#!/usr/bin/python3
"""Writes formats.json: files in the forms that pillow.json lacks, with their pixels.

Needs Debian 12's python3-pil (Pillow 9.4 with libwebp 1.2.4). Pixels are those of
Image.convert("RGB"), but for grey of 16 bits, which Pillow clips: there they are the
upper 8 bits.
"""
import base64
import io
import json
import random

from PIL import Image

random.seed(7)


def text(data):
    return base64.b64encode(bytes(data)).decode()


def picture(mode, width, height):
    """Gradients, a sharp diagonal and noise, with alpha from 0 to 255."""
    image = Image.new(mode, (width, height))
    for y in range(height):
        for x in range(width):
            edge = 120 if x > y else 0
            colour = (edge + 5 * x % 130, 255 - edge - 3 * y % 120, random.randrange(256) if x % 3 else 11 * x % 256)
            alpha = (x * 40) % 256
            image.putpixel((x, y), (colour + (alpha,))[: len(mode)])
    return image


cases = []


def add(name, image, form, want=None, **options):
    file = io.BytesIO()
    image.save(file, form, **options)
    if want is None:
        want = Image.open(io.BytesIO(file.getvalue())).convert("RGB").tobytes()
    cases.append({"name": name, "width": image.width, "height": image.height, "file": text(file.getvalue()), "want": text(want)})


add("webp lossy", picture("RGB", 37, 35), "WEBP", quality=80)
add("webp lossy even", picture("RGB", 20, 18), "WEBP", quality=30)
add("webp lossy column", picture("RGB", 1, 9), "WEBP", quality=90)
add("webp lossy narrow", picture("RGB", 3, 2), "WEBP", quality=90)
add("webp lossy alpha", picture("RGBA", 21, 17), "WEBP", quality=80, exact=True)
add("webp lossless", picture("RGB", 21, 17), "WEBP", lossless=True)
add("webp lossless alpha", picture("RGBA", 21, 17), "WEBP", lossless=True, exact=True)
add("webp lossless four colours", picture("RGB", 21, 17).quantize(4).convert("RGB"), "WEBP", lossless=True)
add("webp grey", picture("RGB", 21, 17).convert("L").convert("RGB"), "WEBP", quality=75)

grey = [(977 * i) % 65536 for i in range(21 * 17)]
deep = Image.new("I;16", (21, 17))
deep.putdata(grey)
add("png 16 bits grey", deep, "PNG", want=[value >> 8 for value in grey for _ in range(3)])

with open("formats.json", "w") as out:
    json.dump({"decode": cases}, out, indent=1)
    out.write("\n")
