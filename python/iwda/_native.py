"""Finds the programs, and compiles the two libraries that iwrun-torch needs against the torch that is here."""

from __future__ import annotations

import contextlib
import fcntl
import glob
import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import sysconfig
import tempfile
import time
from typing import Dict, Iterator, List, Literal, NoReturn, Optional, Tuple

Program = Literal["iwrun"]


class Error(RuntimeError):
    """Something failed; the message says what, and what to do."""


# The folder of programs that were built in a checkout, which find their libraries there.
_PROGRAMS_VARIABLE = "IWDA_PROGRAMS"
# What the wheel brings: bin/ with the programs, and the C++ sources as compile.sh wants them.
_BROUGHT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs")
_LIBRARIES = ("libiwtorch.so", "libcgotorch.so")
_INSTALL = "pip install torch, or on Debian apt-get install libtorch-dev"
_COMPILER = "install g++ (Debian: apt-get install g++; conda: conda install gxx), or name one with the variable CXX"
_GIGABYTES_A_COMPILER = 1.5
# The commands that never start iwrun-torch, and other words that a line may begin with.
_WITHOUT_TORCH = frozenset(
    "-h --help help -v --version version labelshift check check-data completion data figure kubernetes manual report show status table".split()
)


def program(name: Program) -> str:
    """The path of a program: in the folder $IWDA_PROGRAMS if that is set, else the wheel's."""
    named = os.environ.get(_PROGRAMS_VARIABLE)
    folder = os.path.abspath(named) if named else os.path.join(_BROUGHT, "bin")
    path = os.path.join(folder, name)
    if os.access(path, os.X_OK):
        return path
    if named:
        raise Error(f"{_PROGRAMS_VARIABLE} ({named}) has no program {name}")
    raise Error(f"there is no {name} in {folder}: install iwda's wheel, or set {_PROGRAMS_VARIABLE} to the folder that `make build` fills")


def version() -> str:
    """The version of the programs, which is the package's, too."""
    said = subprocess.run([program("iwrun"), "--version"], stdout=subprocess.PIPE, encoding="utf-8", check=True)
    return said.stdout.split()[-1]


def environment() -> Dict[str, str]:
    """The environment in which iwrun-torch finds its libraries, which are compiled first if need be.

    Raises Error if there is no torch, no compiler, or if it fails.
    """
    variables = dict(os.environ)
    if variables.get(_PROGRAMS_VARIABLE):
        return variables
    folders = [*_libraries(), variables.get("LD_LIBRARY_PATH", "")]
    variables["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    launcher = os.path.join(sysconfig.get_path("scripts"), "iwrun")
    if os.path.exists(launcher):  # by which scripts for a cluster start it
        variables["IWDA_LAUNCHER"] = launcher
    return variables


def _libraries() -> Tuple[str, str]:
    """The folders of the two libraries and, unless the system finds it, of libtorch."""
    facts = _libtorch()
    compiler = shutil.which(os.environ.get("CXX") or "g++")
    entry = _entry(facts, compiler)
    _check_private(entry)
    if not _whole(entry):
        if compiler is None:
            # A machine without one may have what another one compiled.
            others = [path for path in sorted(glob.glob(glob.escape(entry) + "*")) if _whole(path)]
            if not others:
                raise Error(f"the parts of iwda in C++ are compiled once for each torch, and there is no C++ compiler: {_COMPILER}")
            entry = others[-1]
            _check_private(entry)
        else:
            try:
                with _locked(entry + ".lock"):
                    if not _whole(entry):
                        _compile(facts, compiler, entry)
            except OSError as error:
                raise Error(f"cannot keep what is compiled: {error}. XDG_CACHE_HOME names another folder") from error
    lib = facts["libtorch_lib"]
    return entry, "" if lib.startswith("/usr/lib") else lib


def _check_private(entry: str) -> None:
    """Raises Error if somebody else can have put the libraries there, which run in this program."""
    cache = os.path.dirname(os.path.dirname(entry))
    for path in (os.path.dirname(cache), cache, os.path.dirname(entry), entry, *(os.path.join(entry, name) for name in _LIBRARIES)):
        try:
            found = os.stat(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        others = found.st_mode & stat.S_IWOTH and not found.st_mode & stat.S_ISVTX
        if found.st_uid not in (0, os.geteuid()) or others:
            raise Error(f"{path} holds what iwda compiled, and others can write there: remove {cache} and make it yours alone, or name another folder with XDG_CACHE_HOME")


def _whole(entry: str) -> bool:
    return all(os.path.isfile(os.path.join(entry, name)) for name in _LIBRARIES)


def _libtorch() -> Dict[str, str]:
    """What find-libtorch.sh says of the libtorch that is used."""
    spec = importlib.util.find_spec("torch")
    folder = os.path.dirname(spec.origin) if spec and spec.origin else ""
    with tempfile.TemporaryDirectory(prefix="iwda-") as temporary:
        output = os.path.join(temporary, "libtorch.env")
        script = os.path.join(_BROUGHT, "tools", "find-libtorch.sh")
        found = subprocess.run(["sh", script, output, folder], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace")
        if found.returncode != 0:
            why = found.stderr.strip().replace("libtorch: ", "", 1)
            if folder and "none with headers" in why:
                why = f"the torch of Python ({folder}) brings no headers, and the system has none. On Debian: apt-get install libtorch-dev; or set LIBTORCH to a folder with include/ and lib/"
            elif "none with headers" in why:
                why = f"there is no torch, which iwrun trains with: {_INSTALL}"
            raise Error(why)
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
        for part in ("gotorch", "torch", "tools")
        for folder, _, names in os.walk(os.path.join(_BROUGHT, part))
        for name in names
    ]


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    """Holds a lock between processes, which ends with the process that holds it."""
    for folder in (os.path.dirname(os.path.dirname(path)), os.path.dirname(path)):  # by no umask one in which others write
        os.makedirs(folder, mode=0o755, exist_ok=True)
    with open(path, "w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _say("iwda: another process compiles the parts in C++; waiting for it\n")
            fcntl.flock(file, fcntl.LOCK_EX)
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
        if process.returncode != 0 or not _whole(made):
            with open(entry + ".log", encoding="utf-8", errors="replace") as file:
                said = file.readlines()
            errors = [line for line in said if re.search(r"\berror\b", line)] or said
            raise Error(
                f"cannot compile the parts in C++ against torch {facts['libtorch_version']} with {compiler}:\n"
                f"{''.join(errors[:5])}All that was said is in {entry}.log"
            )
        for library in _LIBRARIES:
            with open(os.path.join(made, library), "rb") as compiled:
                os.fchmod(compiled.fileno(), 0o755)
                os.fsync(compiled.fileno())
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


def needs_torch(words: List[str]) -> bool:
    """Whether a command line of iwrun may start iwrun-torch."""
    return bool(words) and words[0] not in _WITHOUT_TORCH and "--help" not in words


def iwrun() -> NoReturn:
    """The command iwrun: becomes the program, to which signals come then, and whose exit status counts."""
    try:
        path = program("iwrun")
        variables = environment() if needs_torch(sys.argv[1:]) else dict(os.environ)
    except Error as error:
        sys.exit(f"iwrun: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    # Python passes over these, and the program would too.
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(ignored, signal.SIG_DFL)
    os.execve(path, sys.argv, variables)
