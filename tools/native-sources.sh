#!/bin/sh
# Copies into the folder $1 what compile.sh needs, for places without Go: the C++ sources of
# the two libraries, gotorch's with its licence, and the scripts.
set -eu

mkdir -p "$1/gotorch/cgotorch" "$1/torch" "$1/tools"
# shellcheck disable=SC1091
. build/gotorch.env
# shellcheck disable=SC2154
cp build/gotorch.cc "$gotorch_folder/LICENSE" "$1/gotorch/"
cp "$gotorch_folder"/cgotorch/*.cc "$gotorch_folder"/cgotorch/*.h "$1/gotorch/cgotorch/"
cp -R torch/csrc "$1/torch/"
cp tools/find-libtorch.sh tools/cxx-flags.sh tools/compile.sh "$1/tools/"
chmod -R u+w "$1"
