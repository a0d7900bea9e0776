#!/usr/bin/python3
"""Writes shown.json: files whose pixels are not all that they show, with what they show.

Needs Debian's python3-pil. Pixels are those of ImageOps.exif_transpose, before white.
"""
import base64
import io
import json
import random

from PIL import Image, ImageOps

random.seed(11)
cases = []


def text(data):
    return base64.b64encode(bytes(data)).decode()


def noise(mode, width=5, height=3):
    size = width * height * len(mode)
    return Image.frombytes(mode, (width, height), bytes(random.randrange(256) for _ in range(size)))


def add(name, file, note="", width=5, height=3):
    shown = ImageOps.exif_transpose(Image.open(io.BytesIO(file))).convert("RGBA")
    shown = Image.alpha_composite(Image.new("RGBA", shown.size, "white"), shown).convert("RGB")
    cases.append({"name": name, "file": text(file), "width": shown.width, "height": shown.height, "want": text(shown.tobytes()), "note": note})


def saved(image, form, orientation=None, order=None, **options):
    if orientation:
        exif = Image.Exif()
        exif.endian = order or "<"
        exif[0x010F] = "maker"
        exif[0x0112] = orientation
        options["exif"] = exif.tobytes()
    file = io.BytesIO()
    image.save(file, form, **options)
    return file.getvalue()


for orientation in range(1, 9):
    add(f"png {orientation}", saved(noise("RGB"), "PNG", orientation, "<>"[orientation % 2]))
grey = noise("L", 16, 8)
add("jpeg 6", saved(grey, "JPEG", 6, quality=95))
add("jpeg 7", saved(grey, "JPEG", 7, ">", quality=95))
add("webp 8", saved(noise("RGB"), "WEBP", 8, lossless=True))
clear = "transparent pixels, which are taken as on white"
add("png alpha", saved(noise("RGBA"), "PNG"), clear)
add("png grey alpha", saved(noise("LA"), "PNG"), clear)
add("png alpha turned", saved(noise("RGBA"), "PNG", 5), clear)
add("png palette", saved(noise("RGB").quantize(8), "PNG", transparency=bytes([0, 255, 100, 255, 255, 255, 20, 255])), clear)
add("png one colour", saved(Image.new("RGB", (5, 3), (1, 2, 3)), "PNG", transparency=(1, 2, 3)), clear)
add("webp alpha", saved(noise("RGBA"), "WEBP", lossless=True, exact=True), clear)
opaque = noise("RGBA")
opaque.putalpha(255)
add("png opaque alpha", saved(opaque, "PNG"))
add("png animation", saved(noise("RGB"), "PNG", save_all=True, append_images=[noise("RGB")]), "an animation, of which the first picture is taken")

with open("shown.json", "w") as out:
    json.dump(cases, out, indent=1)
    out.write("\n")
