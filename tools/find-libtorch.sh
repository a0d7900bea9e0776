#!/bin/sh
# Finds libtorch and writes how to compile and link against it to the file $1, as
# shell assignments. Flags stand on lines of their own, so that folders may have any name
# without a line end: set IFS to one, and set -f, where they are used. The file is touched
# only where its content changes, so that make rebuilds the C++ parts when, and only when,
# another libtorch is found.
#
# Looked for in this order: $LIBTORCH (a folder with include/ and lib/), the torch in the
# folder $2, by default that of python3, and Debian's libtorch-dev.
set -eu

output=$1
minimum=1.13

fail() {
	printf 'libtorch: %s\n' "$*" >&2
	exit 1
}

# The header that holds the version lies at one of three places.
version_header() {
	for h in "$1/torch/headeronly/version.h" "$1/torch/csrc/api/include/torch/version.h" "$1/torch/version.h"; do
		if [ -f "$h" ]; then
			printf '%s' "$h"
			return
		fi
	done
}

include='' lib='' origin='' python_root=${2-}
if [ -n "${LIBTORCH:-}" ]; then
	origin="\$LIBTORCH ($LIBTORCH)"
	include=$LIBTORCH/include
	lib=$LIBTORCH/lib
	[ -f "$lib/libtorch_cpu.so" ] || fail "$origin has no lib/libtorch_cpu.so; it must be the folder that holds include/ and lib/"
	[ -n "$(version_header "$include")" ] || fail "$origin has no include/torch/csrc/api/include/torch/version.h"
else
	if [ $# -lt 2 ] && command -v python3 >/dev/null 2>&1; then
		python_root=$(python3 -c 'import importlib.util as u; s = u.find_spec("torch"); print(s.submodule_search_locations[0] if s else "")' 2>/dev/null || true)
	fi
	if [ -n "$python_root" ] && [ -f "$python_root/lib/libtorch_cpu.so" ] && [ -n "$(version_header "$python_root/include")" ]; then
		origin="the torch of Python ($python_root)"
		include=$python_root/include
		# Debian's folder has links to some of the system's libraries, and none to those for CUDA.
		lib=$(dirname "$(readlink -f "$python_root/lib/libtorch_cpu.so")")
	else
		for l in /usr/lib/*-linux-gnu /usr/lib64 /usr/lib; do
			if [ -f "$l/libtorch_cpu.so" ] && [ -n "$(version_header /usr/include)" ]; then
				origin="the libtorch of the system ($l)"
				include=/usr/include
				lib=$l
				break
			fi
		done
	fi
fi
case $include$lib in
*"
"*) fail "$origin has a line end in its name" ;;
esac
[ -n "$origin" ] || fail "none with headers found. Install PyTorch (pip install torch) or, on Debian, libtorch-dev (make setup does), or set LIBTORCH to the folder of a libtorch $minimum or later that holds include/ and lib/"

header=$(version_header "$include")
major=$(sed -n 's/^#define TORCH_VERSION_MAJOR *\([0-9]*\).*/\1/p' "$header")
minor=$(sed -n 's/^#define TORCH_VERSION_MINOR *\([0-9]*\).*/\1/p' "$header")
[ -n "$major" ] && [ -n "$minor" ] || fail "$origin: no version in $header"
if [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 13 ]; }; then
	fail "$origin is version $major.$minor; $minimum or later is needed"
fi

# The C++ ABI that the library was built with shows in the name of any function
# that takes a std::string.
core=$lib/libc10.so
symbols=$(LC_ALL=C grep -aoE 'c105ErrorC[12]E[A-Za-z0-9_]*' "$core" 2>/dev/null || true)
case $symbols in
*__cxx11*) abi=1 ;;
*Ss*) abi=0 ;;
*) fail "$origin: $core shows neither C++ ABI; is it a libtorch for this machine ($(uname -m))?" ;;
esac
case $(LC_ALL=C od -An -j18 -N2 -tu2 "$core" | tr -d ' ')/$(uname -m) in
62/x86_64 | 183/aarch64 | 243/riscv64) ;;
62/* | 183/* | 243/*) fail "$origin is built for another kind of processor than this machine's ($(uname -m))" ;;
esac

# Folders of the compiler's own search path must not be named again: naming them
# changes the order of the C library's headers.
between='
'
flags="-D_GLIBCXX_USE_CXX11_ABI=$abi"
add() {
	for flag in "$@"; do flags=$flags$between$flag; done
}
for folder in "$include" "$include/torch/csrc/api/include"; do
	if [ "$folder" != /usr/include ] && [ -d "$folder" ]; then
		add -isystem "$folder"
	fi
done

# Its headers say which C++ they need; the Makefile asks for C++17, and the last one counts.
if grep -qs 'error C++20' "$include/ATen/ATen.h"; then
	add -std=c++20
fi

link=-L$lib$between-Xlinker$between-rpath$between-Xlinker$between$lib$between-Wl,--no-as-needed$between-ltorch_cpu$between-lc10
cuda=0
if [ -f "$lib/libtorch_cuda.so" ] && [ -f "$lib/libc10_cuda.so" ]; then
	for folder in "${CUDA_HOME:-/usr/local/cuda}/include" /usr/local/cuda/include "${include%/torch/include}"/nvidia/*/include /usr/include; do
		if [ -f "$folder/cuda_runtime_api.h" ]; then
			cuda=1
			add -DWITH_CUDA
			[ "$folder" = /usr/include ] || add -isystem "$folder"
			link=$link$between-ltorch_cuda$between-lc10_cuda
			break
		fi
	done
	[ "$cuda" = 1 ] || fail "$origin is built with CUDA, but no cuda_runtime_api.h was found; set CUDA_HOME to the CUDA toolkit's folder, or install NVIDIA's package of these headers (pip install nvidia-cuda-runtime-cu12, or nvidia-cuda-runtime for CUDA 13)"
fi

# assign NAME VALUE prints what gives the variable that value when it is sourced.
assign() {
	printf "%s='%s'\n" "$1" "$(printf '%s' "$2" | sed "s/'/'\\\\''/g")"
}
{
	assign libtorch_origin "$origin"
	assign libtorch_version "$major.$minor"
	assign libtorch_flags "$flags"
	assign libtorch_link "$link"
	assign libtorch_lib "$lib"
	assign libtorch_cuda "$cuda"
} >"$output.new"
if cmp -s "$output.new" "$output"; then
	rm "$output.new"
else
	mv "$output.new" "$output"
	printf 'libtorch %s: %s\n' "$major.$minor" "$origin" >&2
fi
