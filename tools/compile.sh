#!/bin/sh
# Compiles the two libraries where there is no make and no Go: the sources beside the folder
# of this script, gotorch/ and torch/csrc/, against the libtorch that $1/libtorch.env of
# find-libtorch.sh describes. Objects go to the folder $1, the libraries to the folder $2.
# Prints a line for each file; JOBS says how many are compiled at once.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
lib=$(cd "$2" && pwd)
export here build CXX="${CXX:-g++}"
cd "$here/.."

cat >"$build/one.sh" <<'ONE'
set -ef
. "$build/libtorch.env"
IFS='
'
object=$build/$(basename "$1" .cc).o
compile() { "$CXX" $(sh "$here/cxx-flags.sh" "$source") -I. "$@" -c "$source" -o "$object"; }
source=$1
[ "$1" != shim.cc ] || source=$build/shim.cc
# shellcheck disable=SC2046,SC2086
case $1 in
*/graph.cc)
	compile $libtorch_flags || {
		echo "without CUDA graphs, whose headers do not compile here:"
		compile $libtorch_flags -UWITH_CUDA
	}
	;;
*/gotorch.cc) compile -Igotorch $libtorch_flags ;;
*) compile $libtorch_flags ;;
esac
echo "compiled $1"
ONE

# What takes longest comes first. All other files of the shim are one, as most of their time
# goes into reading torch's headers.
apart='convolution graph'
for source in torch/csrc/*.cc; do
	case " $apart " in
	*" $(basename "$source" .cc) "*) ;;
	*) echo "#include \"$source\"" ;;
	esac
done >"$build/shim.cc"
# shellcheck disable=SC2046,SC2086
printf '%s\n' gotorch/gotorch.cc shim.cc $(printf 'torch/csrc/%s.cc ' $apart) | xargs -P "${JOBS:-$(nproc)}" -n 1 sh "$build/one.sh"
# shellcheck disable=SC1091
. "$build/libtorch.env"
cd "$build"
apart=$(printf '%s.o\n' $apart)
IFS='
'
set -f
# shellcheck disable=SC2086,SC2154
"$CXX" -shared shim.o $apart -o "$lib/libiwtorch.so" $libtorch_link
# shellcheck disable=SC2086
"$CXX" -shared gotorch.o -o "$lib/libcgotorch.so" $libtorch_link
