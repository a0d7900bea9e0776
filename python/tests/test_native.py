"""How the programs are found and made, with a torch and a compiler that are made up."""

from __future__ import annotations

import importlib.util
import json
import lzma
import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iwda import _compile, _native

TOOLS = Path(__file__).resolve().parents[2] / "tools"
MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}


class Installation:
    """What the wheel brings, with a compile.sh that notes that it ran, and a torch."""

    def __init__(self, folder: Path, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.programs, self.cache, self.bin = folder / "programs", folder / "cache", folder / "path"
        self.brought = self.programs / "torch"
        for made in ("tools", "torch/csrc", "gotorch"):
            (self.brought / made).mkdir(parents=True)
        (self.programs / "bin").mkdir()
        self.packs("echo '{\"reason\": \"no protocol 0\"}'; exit 2")
        shutil.copy(TOOLS / "find-libtorch.sh", self.brought / "tools")
        (self.brought / "torch/csrc/tensor.cc").write_text("int one;")
        self.compiles("touch $2/libiwtorch.so $2/libcgotorch.so")
        self.bin.mkdir()
        for tool in ("sh", "sed", "grep", "od", "tr", "uname", "cmp", "rm", "dirname", "readlink", "mv", "touch", "sleep", "cat", "env"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.script(self.bin / "g++", "echo 12.2.0")
        monkeypatch.setattr(_compile, "_BROUGHT", str(self.brought))
        monkeypatch.setenv("XDG_CACHE_HOME", str(self.cache))
        monkeypatch.setenv("PATH", str(self.bin))
        for name in ("IWDA_PROGRAMS", "LIBTORCH", "CXX", "CUDA_HOME", "LD_LIBRARY_PATH", "IWDA_MAKE_TORCH"):
            monkeypatch.delenv(name, raising=False)
        self.torch = self.make_torch(folder / "one/site-packages", "2.6")

    def script(self, path: Path, text: str) -> None:
        path.write_text(f"#!{shutil.which('sh')}\n{text}\n")
        path.chmod(0o755)

    def compiles(self, text: str) -> None:
        """Says what compile.sh does, after it has noted that it runs."""
        self.script(self.brought / "tools/compile.sh", f'echo "$CXX" >>{self.folder}/compiled\n{text}')

    def packs(self, text: str) -> None:
        """Says what iwrun-torch does."""
        with lzma.open(self.brought / "iwrun-torch.xz", "wt") as packed:
            packed.write(f"#!{shutil.which('sh')}\n{text}\n")

    def words(self):
        """What starts iwrun-torch, with the torch that is found."""
        spec = importlib.util.find_spec("torch")
        return _compile.words(os.path.dirname(spec.origin) if spec else "")

    def make_torch(self, packages: Path, version: str) -> Path:
        torch = packages / "torch"
        include = torch / "include/torch"
        include.mkdir(parents=True)
        major, minor = version.split(".")
        (include / "version.h").write_text(f"#define TORCH_VERSION_MAJOR {major}\n#define TORCH_VERSION_MINOR {minor}\n")
        (torch / "__init__.py").touch()
        (torch / "lib").mkdir()
        (torch / "lib/libtorch_cpu.so").write_text("torch")
        machine = MACHINES[platform.machine()].to_bytes(2, sys.byteorder)
        (torch / "lib/libc10.so").write_bytes(b"\x7fELF" + bytes(14) + machine + b"\0_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcEE\0")
        self.use(torch)
        return torch

    def use(self, torch: Path) -> None:
        self.monkeypatch.delitem(sys.modules, "torch", raising=False)
        self.monkeypatch.syspath_prepend(str(torch.parent))

    def compiled(self) -> int:
        """How often that happened."""
        notes = self.folder / "compiled"
        return len(notes.read_text().splitlines()) if notes.exists() else 0

    def entries(self):
        return sorted(path for path in (self.cache / "iwda/native").glob("*") if path.is_dir())

    def start(self, code: str, *words: str) -> "subprocess.Popen[str]":
        """Starts a Python with this installation."""
        setting = f"import sys; sys.path[:0] = {[str(self.torch.parent), *sys.path]!r}; from iwda import _compile, _native; _compile._BROUGHT = {str(self.brought)!r}; _native._BROUGHT = {str(self.programs)!r}; "
        return subprocess.Popen([sys.executable, "-c", setting + code, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")

    def makes(self) -> "subprocess.Popen[str]":
        """Starts what makes iwrun-torch, as iwrun does."""
        return self.start("_compile.main()", str(self.torch))


@pytest.fixture
def installation(tmp_path, monkeypatch):
    return Installation(tmp_path, monkeypatch)


def until_there(path, process):
    """Waits for a file, which the process makes."""
    while not path.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.01)


def test_libraries_are_compiled_once(installation, monkeypatch, capsys):
    monkeypatch.setenv("LD_LIBRARY_PATH", "/mine")
    words = installation.words()
    (entry,) = installation.entries()
    assert entry.name.startswith("torch2.6-abi1-") and entry.name.endswith("-g++12.2.0")
    assert words == [f"{installation.bin}/env", f"LD_LIBRARY_PATH={installation.torch}/lib:/mine", f"{entry}/iwrun-torch"]
    assert "once for this torch" in capsys.readouterr().err
    assert installation.words() == words
    assert capsys.readouterr().err == ""
    assert installation.compiled() == 1


def test_what_makes_other_libraries(installation):
    def compiles_again() -> bool:
        before = installation.compiled()
        installation.words()
        return installation.compiled() > before

    assert compiles_again()
    # The same torch elsewhere, as in another virtual environment, needs no others.
    installation.make_torch(installation.folder / "two/site-packages", "2.6")
    assert not compiles_again()
    (installation.brought / "torch/csrc/tensor.cc").write_text("int two;")
    assert compiles_again()
    installation.script(installation.bin / "g++", "echo 14.2.0")
    assert compiles_again()
    torch = installation.make_torch(installation.folder / "three/site-packages", "2.7")
    assert compiles_again()
    (torch / "lib/libtorch_cpu.so").write_text("another build")
    assert compiles_again()
    (torch / "lib/libc10.so").write_bytes((torch / "lib/libc10.so").read_bytes().replace(b"NSt7__cxx1112basic_stringIcEE", b"Ss"))
    assert compiles_again()
    assert "abi0" in "".join(entry.name for entry in installation.entries())


def test_failure_leaves_nothing(installation):
    installation.compiles("touch $2/libiwtorch.so; echo compiled tensor.cc; echo 'tensor.cc:3: error: no such type' >&2; exit 1")
    with pytest.raises(_compile.Failure, match=r"against torch 2.6 with .*/g\+\+:\ntensor.cc:3: error: no such type\nAll that was said is in (.*)$") as raised:
        installation.words()
    assert installation.entries() == []
    assert "compiled tensor.cc" in Path(str(raised.value).rpartition(" is in ")[2]).read_text()
    installation.compiles("touch $2/libiwtorch.so $2/libcgotorch.so")
    installation.words()
    assert len(installation.entries()) == 1


def test_without_a_compiler(installation):
    compiler = installation.bin / "g++"
    compiler.rename(installation.bin / "c++-12")
    with pytest.raises(_compile.Failure, match="there is no C.. compiler: install g"):
        installation.words()
    installation.monkeypatch.setenv("CXX", "c++-12")
    installation.words()
    installation.monkeypatch.delenv("CXX")
    installation.words()  # what was compiled before is used
    assert installation.compiled() == 1


def test_a_cache_that_cannot_be_written(installation):
    installation.cache.write_text("a file")
    with pytest.raises(_compile.Failure, match="cannot keep what is compiled: .*XDG_CACHE_HOME"):
        installation.words()


@pytest.mark.parametrize("part", ["", "iwda", "iwda/native", "entry", "library"])
def test_a_cache_in_which_others_can_write(installation, part):
    """What lies there runs in the program."""
    installation.words()
    (entry,) = installation.entries()
    path = {"entry": entry, "library": entry / "libiwtorch.so"}.get(part, installation.cache / part)
    path.chmod(path.stat().st_mode | 0o002)
    if part == "":  # whoever may put folders there cannot replace those of others if it is as /tmp is
        with pytest.raises(_compile.Failure, match="others can write there"):
            installation.words()
        path.chmod(0o1777)
        installation.words()
        return
    with pytest.raises(_compile.Failure, match="others can write there: remove .* or name another folder with XDG_CACHE_HOME"):
        installation.words()


def test_two_processes_compile_once(installation):
    ready, go = installation.folder / "ready", installation.folder / "go"
    installation.compiles(f"touch {ready}; until [ -e {go} ]; do sleep 0.01; done; touch $2/libiwtorch.so $2/libcgotorch.so")
    first = installation.makes()
    until_there(ready, first)
    second = installation.makes()
    assert second.stderr.readline() == "iwda: another process compiles the parts in C++; waiting for it\n"
    go.touch()
    said = {process.stdout.readline() for process in (first, second)}
    (entry,) = installation.entries()
    assert [json.loads(line)["words"][-1] for line in said] == [f"{entry}/iwrun-torch"]
    assert installation.compiled() == 1


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize("how", ["a signal", "the end of iwrun"])
def test_interruption_ends_the_compiler(installation, how, waits):
    ready = installation.folder / "ready"
    installation.compiles(f"echo $$ >{ready}.new; mv {ready}.new {ready}; while :; do sleep 0.01; done")
    process = installation.makes()
    assert "once for this torch" in process.stderr.readline()
    until_there(ready, process)
    ended = installation.makes() if waits else process
    if waits:  # for the other one
        assert "waiting for it" in ended.stderr.readline()
    for interrupted in (ended, process):
        if how == "a signal":
            interrupted.send_signal(signal.SIGINT)
        else:
            interrupted.stdin.close()
        assert interrupted.wait(timeout=60) == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(ready.read_text()), 0)
    assert installation.entries() == []


def test_a_program_that_does_not_start(installation):
    installation.packs("echo 'version GLIBC_9 not found' >&2; exit 1")
    said = json.loads(installation.makes().stdout.readline())
    assert said == {"event": "failed", "reason": "it is compiled, and does not start here: version GLIBC_9 not found"}
    assert installation.entries() == []


def test_what_a_killed_process_left_is_removed(installation):
    installation.compiles("exit 1")
    with pytest.raises(_compile.Failure):
        installation.words()
    (log,) = (installation.cache / "iwda/native").glob("*.log")
    left = Path(str(log)[:-4] + ".new-killed")
    left.mkdir()
    with pytest.raises(_compile.Failure):
        installation.words()
    assert not left.exists()


@pytest.mark.skipif(any(os.path.exists(f"{folder}/include/cuda_runtime_api.h") for folder in ("/usr", "/usr/local/cuda")), reason="this machine has the headers of CUDA")
def test_torch_with_cuda(installation):
    for name in ("libtorch_cuda.so", "libc10_cuda.so"):
        (installation.torch / "lib" / name).touch()
    with pytest.raises(_compile.Failure, match="no cuda_runtime_api.h was found; set CUDA_HOME"):
        installation.words()
    include = installation.torch.parent / "nvidia/cuda_runtime/include"
    include.mkdir(parents=True)
    (include / "cuda_runtime_api.h").touch()
    installation.compiles("cat $1/libtorch.env; touch $2/libiwtorch.so $2/libcgotorch.so")
    installation.words()
    (log,) = (installation.cache / "iwda/native").glob("*.log")
    assert f"-DWITH_CUDA\n-isystem\n{include}" in log.read_text()


def test_torch_of_links(installation):
    """Debian's torch has links to the system's libraries."""
    system = installation.folder / "system"
    (installation.torch / "lib").rename(system)
    (installation.torch / "lib").mkdir()
    for library in system.iterdir():
        (installation.torch / "lib" / library.name).symlink_to(library)
    assert installation.words()[1] == f"LD_LIBRARY_PATH={system}"


def test_a_torch_that_is_too_old(installation):
    torch = installation.make_torch(installation.folder / "old/site-packages", "1.12")
    with pytest.raises(_compile.Failure, match=r"the torch of Python \(.*old/site-packages/torch\) is version 1.12; 1.13 or later is needed"):
        installation.words()
    # Another one can be named.
    installation.monkeypatch.setenv("LIBTORCH", str(installation.torch))
    assert installation.words()[1] == f"LD_LIBRARY_PATH={installation.torch}/lib"
    assert torch.exists()


@pytest.mark.parametrize("has_torch, message", [(True, "brings no headers, .*apt-get install libtorch-dev"), (False, "there is no torch, .*: pip install torch")])
def test_no_torch_that_can_be_compiled_against(installation, has_torch, message):
    script = installation.brought / "tools/find-libtorch.sh"  # whether the system has one is not asked
    script.write_text(script.read_text().replace("/usr/include", "/nowhere"))
    shutil.rmtree(installation.torch / "include")
    if not has_torch:
        installation.monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(_compile.Failure, match=message):
        installation.words()


def test_the_command_becomes_the_program(installation):
    installation.script(installation.programs / "bin/iwrun", "printf '<%s>' \"$@\"; [ $# -gt 0 ] || kill -PIPE $$; exit 7")

    def command(*words: str):
        process = installation.start("_native.iwrun()", *words)
        said, _ = process.communicate()
        return said, process.returncode

    assert command("adapt", "a b", "") == ("<adapt><a b><>", 7)
    assert command() == ("<>", -signal.SIGPIPE)
    assert installation.compiled() == 0


def test_the_program_knows_what_makes_the_other(installation):
    installation.script(installation.programs / "bin/iwrun", "printf %s \"$IWDA_MAKE_TORCH\"")

    def named() -> str:
        return installation.start("_native.iwrun()").communicate()[0]

    assert json.loads(named()) == [sys.executable, "-I", _compile.__file__, str(installation.torch)]
    installation.monkeypatch.setenv("IWDA_MAKE_TORCH", "another")
    assert named() == "another"
    installation.monkeypatch.delenv("IWDA_MAKE_TORCH")
    shutil.rmtree(installation.brought)  # as in the wheels for other systems
    assert named() == ""


def test_commands_say_what_is_missing(installation):
    process = installation.start("_native.iwrun()", "doctor")
    _, said = process.communicate()
    assert process.returncode == 1
    assert said == f"iwrun: there is no iwrun in {installation.programs}/bin: install iwda's wheel, or set IWDA_PROGRAMS to the folder that `make build` fills\n"
