#!/bin/sh
# Packs build/dist/iwda-VERSION-py3-none-linux_ARCH.whl: the Python package, the programs,
# and the C++ sources, which the package compiles against the torch of its user. Run by
# make, which has built the libraries and set what go needs.
set -eu

cd "$(dirname "$0")/.."
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/version/version.go)
folder=build/wheel
most=60000000 # bytes

rm -rf "$folder"
mkdir -p "$folder/iwda/programs/bin" "$folder/licenses" build/dist
cp python/iwda/*.py python/iwda/py.typed "$folder/iwda/"
CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$folder/iwda/programs/bin/iwrun" ./cmd/iwrun
go build -trimpath -ldflags '-s -w' -o "$folder/iwda/programs/bin/iwrun-torch" ./cmd/iwrun-torch
patchelf --set-rpath "\$ORIGIN/../lib" "$folder/iwda/programs/bin/iwrun-torch" # nothing refers to where it was built
sh tools/native-sources.sh "$folder/iwda/programs"
cp LICENSE "$folder/licenses/"
sh tools/notices.sh ./cmd/iwrun ./cmd/iwrun-torch >"$folder/licenses/NOTICES"

file=$(python3 tools/wheel.py "$folder" "$version" build/dist)
size=$(wc -c <"$file")
if [ "$size" -gt "$most" ]; then
	echo "wheel: $file has $size bytes, more than $most" >&2
	exit 1
fi
printf '%s: %d MB\n' "$file" "$((size / 1000000))"
