"""Packs a folder as a wheel and prints its path: wheel.py FOLDER VERSION PLATFORMS OUTPUT.

FOLDER holds the package iwda and licenses/. The same files make the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import zipfile

ABOUT = """Metadata-Version: 2.1
Name: iwda
Version: {version}
Summary: Domain adaptation if class shares differ: predictions for a target without labels
License: MIT
Requires-Python: >=3.9
Requires-Dist: numpy
Description-Content-Type: text/markdown

{readme}"""
COMMANDS = """[console_scripts]
iwrun = iwda._native:iwrun
"""
KIND = """Wheel-Version: 1.0
Generator: iwda
Root-Is-Purelib: false
{tags}
"""
TIME = (1980, 1, 1, 0, 0, 0)


def main(folder, version, platforms, output):
    tag = "py3-none-" + platforms  # the programs are the same for every Python
    about = f"iwda-{version}.dist-info"
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            files[f"{about}/{name}" if name.startswith("licenses/") else name] = (path.read_bytes(), path.stat().st_mode & 0o111)
    tags = "\n".join(f"Tag: py3-none-{platform}" for platform in platforms.split("."))
    readme = pathlib.Path("README.md").read_text(encoding="utf-8")
    for name, text in {"METADATA": ABOUT.format(version=version, readme=readme), "WHEEL": KIND.format(tags=tags), "entry_points.txt": COMMANDS}.items():
        files[f"{about}/{name}"] = (text.encode(), 0)
    record = f"{about}/RECORD"
    lines = [f"{name},sha256={digest(data)},{len(data)}\n" for name, (data, _) in files.items()]
    files[record] = ("".join([*lines, f"{record},,\n"]).encode(), 0)

    wheel = output / f"iwda-{version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, (data, executable) in files.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            archive.writestr(entry, data)
    print(wheel)


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


main(pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], pathlib.Path(sys.argv[4]))
