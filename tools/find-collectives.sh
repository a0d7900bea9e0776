#!/bin/sh
# Prints the flags with which torch/csrc/process_group.cc is compiled: which of c10d's back
# ends are in the libtorch that the file $1, of find-libtorch.sh, describes. Each has a line.
set -euf

# shellcheck disable=SC1090
. "$1"
IFS='
'
flags=-idirafter$IFS$(dirname "$0")/../torch/csrc

# has LIBRARY CLASS: the library holds the constructor of that class of c10d.
# shellcheck disable=SC2154
has() {
	[ -f "$libtorch_lib/$1" ] && grep -q "_ZN4c10d${#2}${2}C1E" "$libtorch_lib/$1"
}

if has libtorch_cpu.so ProcessGroupGloo; then
	flags=$flags$IFS-DUSE_C10D_GLOO
fi
# Wheels of PyTorch bring the headers of NCCL, and those of CUDA that c10d's include, as
# packages of their own, a folder each.
# shellcheck disable=SC2154
if [ "$libtorch_cuda" = 1 ] && has libtorch_cuda.so ProcessGroupNCCL; then
	folders=''
	set +f
	for folder in "${libtorch_lib%/torch/lib}"/nvidia/*/include; do
		[ ! -d "$folder" ] || folders=$folders$IFS-isystem$IFS$folder
	done
	set -f
	# shellcheck disable=SC2086
	if printf '#include <nccl.h>\n' | "${CXX:-g++}" -fsyntax-only -x c++ $libtorch_flags $folders - 2>/dev/null; then
		flags=$flags$folders$IFS-DUSE_C10D_NCCL
	fi
fi
printf '%s\n' "$flags"
