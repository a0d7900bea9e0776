"""Makes iwrun-torch for the torch that is here: iwrun runs this file, as IWDA_MAKE_TORCH says, where something needs it.

Two libraries in C++ are compiled, and kept in the user's cache with the program.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import itertools
import json
import lzma
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from typing import Dict, Iterator, List, Optional

assert sys.platform == "linux"


class Failure(RuntimeError):
    """It cannot be made; the message says why, and what to do."""


# What the wheel brings: the program, packed, and the C++ sources as compile.sh wants them.
_BROUGHT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs", "torch")
_PROGRAM = "iwrun-torch"
_LIBRARIES = ("libiwtorch.so", "libcgotorch.so")
_PARTS = (_PROGRAM, *_LIBRARIES)
_INSTALL = "pip install torch, or on Debian apt-get install libtorch-dev"
_COMPILER = "install g++ (Debian: apt-get install g++; conda: conda install gxx), or name one with the variable CXX"
_GIGABYTES_A_COMPILER = 1.5


def words(torch: str) -> List[str]:
    """The words that start iwrun-torch, which is compiled first if need be, with the torch in a folder, "" for none there.

    Raises Failure if there is no torch, no compiler, or if it fails.
    """
    facts = _libtorch(torch)
    return _start(_made(facts), facts)


def _start(entry: str, facts: Dict[str, str]) -> List[str]:
    lib = facts["libtorch_lib"]
    folders = [] if lib.startswith("/usr/lib") else [lib]  # which the system finds
    folders += [folder for folder in (os.environ.get("LD_LIBRARY_PATH"),) if folder]
    return [shutil.which("env") or "env", "LD_LIBRARY_PATH=" + ":".join(folders), os.path.join(entry, _PROGRAM)]


def _made(facts: Dict[str, str]) -> str:
    """The folder of the program and its libraries."""
    compiler = shutil.which(os.environ.get("CXX") or "g++")
    entry = _entry(facts, compiler)
    _check_private(entry)
    if not _whole(entry):
        if compiler is None:
            # A machine without one may have what another one compiled.
            others = [path for path in sorted(glob.glob(glob.escape(entry) + "*")) if _whole(path)]
            if not others:
                raise Failure(f"the parts of iwda in C++ are compiled once for each torch, and there is no C++ compiler: {_COMPILER}")
            entry = others[-1]
            _check_private(entry)
        else:
            try:
                with _locked(entry + ".lock"):
                    if not _whole(entry):
                        _compile(facts, compiler, entry)
            except OSError as error:
                raise Failure(f"cannot keep what is compiled: {error}. XDG_CACHE_HOME names another folder") from error
    return entry


def _check_private(entry: str) -> None:
    """Raises Error if somebody else can have put the libraries there, which run in this program."""
    cache = os.path.dirname(os.path.dirname(entry))
    for path in (os.path.dirname(cache), cache, os.path.dirname(entry), entry, *(os.path.join(entry, name) for name in _PARTS)):
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        others = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()) or others:
            raise Failure(f"{path} holds what iwda compiled, and others can write there: remove {cache} and make it yours alone, or name another folder with XDG_CACHE_HOME")


def _whole(entry: str) -> bool:
    return all(os.path.isfile(os.path.join(entry, name)) for name in _PARTS)


def _libtorch(folder: str) -> Dict[str, str]:
    """What find-libtorch.sh says of the libtorch that is used."""
    with tempfile.TemporaryDirectory(prefix="iwda-") as temporary:
        output = os.path.join(temporary, "libtorch.env")
        script = os.path.join(_BROUGHT, "tools", "find-libtorch.sh")
        found = subprocess.run(["sh", script, output, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        if found.returncode != 0:
            why = found.stderr.strip().replace("libtorch: ", "", 1)
            if folder and "none with headers" in why:
                why = f"the torch of Python ({folder}) brings no headers, and the system has none. On Debian: apt-get install libtorch-dev; or set LIBTORCH to a folder with include/ and lib/"
            elif "none with headers" in why:
                why = f"there is no torch, against which it is compiled: {_INSTALL}"
            raise Failure(why)
        with open(output, encoding="utf-8") as file:
            text = file.read()
    facts = dict(word.split("=", 1) for word in shlex.split(text))
    # The same torch at another place needs no other libraries.
    facts["text"] = text
    facts["key"] = text.replace(os.path.dirname(folder) or "\0", "")
    return facts


def _entry(facts: Dict[str, str], compiler: Optional[str]) -> str:
    """The folder in the user's cache of libraries for this libtorch by this compiler."""
    digest = hashlib.sha256(facts["key"].encode())
    core = os.path.realpath(os.path.join(facts["libtorch_lib"], "libtorch_cpu.so"))
    digest.update(f"{os.path.basename(core)} {os.path.getsize(core)}".encode())
    for path in sorted(_sources()):
        digest.update(os.path.relpath(path, _BROUGHT).encode())
        with open(path, "rb") as file:
            digest.update(file.read())
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    abi = re.sub(r"(?s).*_CXX11_ABI=(\d).*", r"\1", facts["libtorch_flags"])
    name = f"torch{facts['libtorch_version']}-abi{abi}-{digest.hexdigest()[:16]}-"
    if compiler:
        said = subprocess.run([compiler, "-dumpfullversion", "-dumpversion"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8")
        name += os.path.basename(compiler) + said.stdout.strip().replace("/", "")
    return os.path.join(os.path.abspath(cache), "iwda", "native", name)


def _sources() -> List[str]:
    return [
        os.path.join(folder, name)
        for folder, _, names in os.walk(_BROUGHT)
        for name in names
    ]


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Holds a lock between processes, which ends with the process that holds it."""
    for folder in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):  # by no umask one in which others write
        os.makedirs(folder, mode=0o755, exist_ok=True)
    with open(path, "w") as file:
        for tried in itertools.count():
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if tried == 0:
                    _say("iwda: another process compiles the parts in C++; waiting for it\n")
                time.sleep(0.1)  # a flock that waits would sleep on after an interruption that came just before it
        yield


def _compile(facts: Dict[str, str], compiler: str, entry: str) -> None:
    """Makes the entry in the cache, whole or not at all."""
    for left in glob.glob(glob.escape(entry) + ".new-*"):  # by one that was killed
        shutil.rmtree(left, ignore_errors=True)
    parent, name = os.path.split(entry)
    with tempfile.TemporaryDirectory(prefix=name + ".new-", dir=parent) as temporary:
        objects, made = os.path.join(temporary, "objects"), os.path.join(temporary, "made")
        os.mkdir(objects)
        os.mkdir(made, 0o755)
        with open(os.path.join(objects, "libtorch.env"), "w", encoding="utf-8") as file:
            file.write(facts["text"])
        with open(entry + ".log", "w") as log:
            process = subprocess.Popen(
                ["sh", os.path.join(_BROUGHT, "tools", "compile.sh"), objects, made],
                env={**os.environ, "CXX": compiler, "JOBS": str(_jobs())},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            _watch(process, f"iwda: compiling its parts in C++ against torch {facts['libtorch_version']}, once for this torch")
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if process.returncode != 0 or not all(os.path.isfile(os.path.join(made, name)) for name in _LIBRARIES):
            with open(entry + ".log", encoding="utf-8", errors="replace") as file:
                said = file.readlines()
            errors = [line for line in said if re.search(r"\berror\b", line)] or said
            raise Failure(
                f"cannot compile the parts in C++ against torch {facts['libtorch_version']} with {compiler}:\n"
                f"{''.join(errors[:5])}All that was said is in {entry}.log"
            )
        with lzma.open(os.path.join(_BROUGHT, _PROGRAM + ".xz")) as packed, open(os.path.join(made, _PROGRAM), "wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
        for part in _PARTS:
            with open(os.path.join(made, part), "rb") as written:
                os.fchmod(written.fileno(), 0o755)
                os.fsync(written.fileno())
        # Of no protocol 0, it says so if it starts: the C library may be older than that of the machine that built it.
        started = subprocess.run([*_start(made, facts), "0", "serve"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        if "protocol" not in started.stdout:
            raise Failure(f"it is compiled, and does not start here: {started.stderr.strip()}")
        os.rename(made, entry)


def _watch(process: "subprocess.Popen[bytes]", text: str) -> None:
    """Waits for a process, with a line on standard error that counts seconds on a terminal."""
    start = time.monotonic()
    terminal = sys.stderr.isatty()
    _say(text + (" " if terminal else ": one or two minutes\n"))
    while process.poll() is None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(1)
        if terminal:
            _say(f"\r{text}: {time.monotonic() - start:.0f} s ")
    _say("\n" if terminal else f"iwda: that took {time.monotonic() - start:.0f} s\n")


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody looks
        sys.stderr.write(text)
        sys.stderr.flush()


def _jobs() -> int:
    """How many compilers run at once: one for each core, as far as there is memory."""
    jobs = len(os.sched_getaffinity(0))
    with contextlib.suppress(OSError, AttributeError):
        with open("/proc/meminfo") as file:
            free = re.search(r"MemAvailable: *(\d+) kB", file.read())
        jobs = min(jobs, int(int(free[1]) / 1e6 / _GIGABYTES_A_COMPILER)) if free else jobs
    return max(1, jobs)


def main() -> None:
    """Says in a line of JSON what came of it; see experiments/engine."""
    signal.signal(signal.SIGINT, signal.default_int_handler)

    def end() -> None:
        os.read(0, 1)  # returns when iwrun ends, or wants this to end
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=end, daemon=True).start()
    answer: Dict[str, object]
    try:
        answer = {"words": words(sys.argv[1])}
    except Failure as why:
        answer = {"event": "failed", "reason": str(why)}
    except KeyboardInterrupt:
        sys.exit(130)
    print(json.dumps(answer))


if __name__ == "__main__":
    main()
