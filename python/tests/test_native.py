"""How the programs and their libraries are found and compiled, with a torch and a compiler that are made up."""

from __future__ import annotations

import os
import platform
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from iwda import _native

TOOLS = Path(__file__).resolve().parents[2] / "tools"
MACHINES = {"x86_64": 62, "aarch64": 183, "riscv64": 243}


class Installation:
    """What the wheel brings, with a compile.sh that notes that it ran, and a torch."""

    def __init__(self, folder: Path, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.brought, self.cache, self.bin = folder / "programs", folder / "cache", folder / "path"
        for made in ("bin", "tools", "torch/csrc", "gotorch"):
            (self.brought / made).mkdir(parents=True)
        shutil.copy(TOOLS / "find-libtorch.sh", self.brought / "tools")
        (self.brought / "torch/csrc/tensor.cc").write_text("int one;")
        self.compiles("touch $2/libiwtorch.so $2/libcgotorch.so")
        self.bin.mkdir()
        for tool in ("sh", "sed", "grep", "od", "tr", "uname", "cmp", "rm", "dirname", "readlink", "mv", "touch", "sleep", "cat"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.script(self.bin / "g++", "echo 12.2.0")
        monkeypatch.setattr(_native, "_BROUGHT", str(self.brought))
        monkeypatch.setenv("XDG_CACHE_HOME", str(self.cache))
        monkeypatch.setenv("PATH", str(self.bin))
        for name in ("IWDA_PROGRAMS", "LIBTORCH", "CXX", "CUDA_HOME", "LD_LIBRARY_PATH"):
            monkeypatch.delenv(name, raising=False)
        self.torch = self.make_torch(folder / "one/site-packages", "2.6")

    def script(self, path: Path, text: str) -> None:
        path.write_text(f"#!{shutil.which('sh')}\n{text}\n")
        path.chmod(0o755)

    def compiles(self, text: str) -> None:
        """Says what compile.sh does, after it has noted that it runs."""
        self.script(self.brought / "tools/compile.sh", f'echo "$CXX" >>{self.folder}/compiled\n{text}')

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
        setting = f"import sys; sys.path[:0] = {[str(self.torch.parent), *sys.path]!r}; from iwda import _native; _native._BROUGHT = {str(self.brought)!r}; "
        return subprocess.Popen([sys.executable, "-c", setting + code, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8")


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
    variables = _native.environment()
    (entry,) = installation.entries()
    assert entry.name.startswith("torch2.6-abi1-") and entry.name.endswith("-g++12.2.0")
    assert variables["LD_LIBRARY_PATH"] == f"{entry}:{installation.torch}/lib:/mine"
    assert "once for this torch" in capsys.readouterr().err
    assert _native.environment() == variables
    assert capsys.readouterr().err == ""
    assert installation.compiled() == 1


def test_what_makes_other_libraries(installation):
    def compiles_again() -> bool:
        before = installation.compiled()
        _native.environment()
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
    with pytest.raises(_native.Error, match=r"against torch 2.6 with .*/g\+\+:\ntensor.cc:3: error: no such type\nAll that was said is in (.*)$") as raised:
        _native.environment()
    assert installation.entries() == []
    assert "compiled tensor.cc" in Path(str(raised.value).rpartition(" is in ")[2]).read_text()
    installation.compiles("touch $2/libiwtorch.so $2/libcgotorch.so")
    _native.environment()
    assert len(installation.entries()) == 1


def test_without_a_compiler(installation):
    compiler = installation.bin / "g++"
    compiler.rename(installation.bin / "c++-12")
    with pytest.raises(_native.Error, match="there is no C.. compiler: install g"):
        _native.environment()
    installation.monkeypatch.setenv("CXX", "c++-12")
    _native.environment()
    installation.monkeypatch.delenv("CXX")
    _native.environment()  # what was compiled before is used
    assert installation.compiled() == 1


def test_a_cache_that_cannot_be_written(installation):
    installation.cache.write_text("a file")
    with pytest.raises(_native.Error, match="cannot keep what is compiled: .*XDG_CACHE_HOME"):
        _native.environment()


@pytest.mark.parametrize("part", ["", "iwda", "iwda/native", "entry", "library"])
def test_a_cache_in_which_others_can_write(installation, part):
    """What lies there runs in the program."""
    _native.environment()
    (entry,) = installation.entries()
    path = {"entry": entry, "library": entry / "libiwtorch.so"}.get(part, installation.cache / part)
    path.chmod(path.stat().st_mode | 0o002)
    if part == "":  # whoever may put folders there cannot replace those of others if it is as /tmp is
        with pytest.raises(_native.Error, match="others can write there"):
            _native.environment()
        path.chmod(0o1777)
        _native.environment()
        return
    with pytest.raises(_native.Error, match="others can write there: remove .* or name another folder with XDG_CACHE_HOME"):
        _native.environment()


def test_two_processes_compile_once(installation):
    ready, go = installation.folder / "ready", installation.folder / "go"
    installation.compiles(f"touch {ready}; until [ -e {go} ]; do sleep 0.01; done; touch $2/libiwtorch.so $2/libcgotorch.so")
    first = installation.start("_native.environment()")
    until_there(ready, first)
    second = installation.start("_native.environment()")
    assert second.stderr.readline() == "iwda: another process compiles the parts in C++; waiting for it\n"
    go.touch()
    assert first.wait() == 0 and second.wait() == 0
    assert installation.compiled() == 1


def test_interruption_ends_the_compiler(installation):
    ready = installation.folder / "ready"
    installation.compiles(f"echo $$ >{ready}.new; mv {ready}.new {ready}; while :; do sleep 0.01; done")
    installation.script(installation.brought / "bin/iwrun", "")
    process = installation.start("_native.iwrun()", "doctor")
    assert "once for this torch" in process.stderr.readline()
    until_there(ready, process)
    process.send_signal(signal.SIGINT)
    assert process.wait() == 130
    with pytest.raises(ProcessLookupError):
        os.kill(int(ready.read_text()), 0)
    assert installation.entries() == []


def test_what_a_killed_process_left_is_removed(installation):
    installation.compiles("exit 1")
    with pytest.raises(_native.Error):
        _native.environment()
    (log,) = (installation.cache / "iwda/native").glob("*.log")
    left = Path(str(log)[:-4] + ".new-killed")
    left.mkdir()
    with pytest.raises(_native.Error):
        _native.environment()
    assert not left.exists()


@pytest.mark.skipif(any(os.path.exists(f"{folder}/include/cuda_runtime_api.h") for folder in ("/usr", "/usr/local/cuda")), reason="this machine has the headers of CUDA")
def test_torch_with_cuda(installation):
    for name in ("libtorch_cuda.so", "libc10_cuda.so"):
        (installation.torch / "lib" / name).touch()
    with pytest.raises(_native.Error, match="no cuda_runtime_api.h was found; set CUDA_HOME"):
        _native.environment()
    include = installation.torch.parent / "nvidia/cuda_runtime/include"
    include.mkdir(parents=True)
    (include / "cuda_runtime_api.h").touch()
    installation.compiles("cat $1/libtorch.env; touch $2/libiwtorch.so $2/libcgotorch.so")
    _native.environment()
    (log,) = (installation.cache / "iwda/native").glob("*.log")
    assert f"-DWITH_CUDA\n-isystem\n{include}" in log.read_text()


def test_torch_of_links(installation):
    """Debian's torch has links to the system's libraries."""
    system = installation.folder / "system"
    (installation.torch / "lib").rename(system)
    (installation.torch / "lib").mkdir()
    for library in system.iterdir():
        (installation.torch / "lib" / library.name).symlink_to(library)
    assert _native.environment()["LD_LIBRARY_PATH"].endswith(f":{system}")


def test_a_torch_that_is_too_old(installation):
    torch = installation.make_torch(installation.folder / "old/site-packages", "1.12")
    with pytest.raises(_native.Error, match=r"the torch of Python \(.*old/site-packages/torch\) is version 1.12; 1.13 or later is needed"):
        _native.environment()
    # Another one can be named.
    installation.monkeypatch.setenv("LIBTORCH", str(installation.torch))
    assert f"{installation.torch}/lib" in _native.environment()["LD_LIBRARY_PATH"]
    assert torch.exists()


@pytest.mark.parametrize("has_torch, message", [(True, "brings no headers, .*apt-get install libtorch-dev"), (False, "there is no torch, .*: pip install torch")])
def test_no_torch_that_can_be_compiled_against(installation, has_torch, message):
    script = installation.brought / "tools/find-libtorch.sh"  # whether the system has one is not asked
    script.write_text(script.read_text().replace("/usr/include", "/nowhere"))
    shutil.rmtree(installation.torch / "include")
    if not has_torch:
        installation.monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(_native.Error, match=message):
        _native.environment()


def test_the_command_becomes_the_program(installation):
    installation.script(installation.brought / "bin/iwrun", "printf '<%s>' \"$@\"; [ $# -gt 0 ] || kill -PIPE $$; exit 7")

    def command(*words: str):
        process = installation.start("_native.iwrun()", *words)
        said, _ = process.communicate()
        return said, process.returncode

    assert command("labelshift", "a b", "") == ("<labelshift><a b><>", 7)
    assert command("--version") == ("<--version>", 7)
    assert command() == ("<>", -signal.SIGPIPE)
    assert installation.compiled() == 0  # these need no torch
    assert command("-c", "labelshift") == ("<-c><labelshift>", 7)
    assert installation.compiled() == 1


def test_commands_say_what_is_missing(installation):
    process = installation.start("_native.iwrun()", "doctor")
    _, said = process.communicate()
    assert process.returncode == 1
    assert said == f"iwrun: there is no iwrun in {installation.brought}/bin: install iwda's wheel, or set IWDA_PROGRAMS to the folder that `make build` fills\n"
