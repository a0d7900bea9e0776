#!/bin/sh
# Prints, a word a line, how the C++ file $1 is compiled, but for what libtorch and warnings need.
set -eu

printf '%s\n' -std=c++17 -fPIC
case $(basename "$1" .cc) in
# These hold loops of their own, which deserve it, as the file of most of the shim does, shim.cc; the others
# call libtorch.
convolution | dropout | outer_product | sgd | shim) echo -O3 ;;
gotorch) printf '%s\n' -O1 -w ;;
*) echo -O1 ;;
esac
