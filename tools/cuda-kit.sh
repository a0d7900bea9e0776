#!/bin/sh
# Packs build/cuda-kit.tar.gz: programs that are compiled here, and the C++ sources of the
# two libraries that they load, for cuda-check.sh to compile where there is a GPU. `make
# cuda-kit` sets what go needs to know.
set -eu

cd "$(dirname "$0")/.."
kit=build/cuda-kit
most=60000000 # bytes

rm -rf "$kit" "$kit.tar.gz"
mkdir -p "$kit/bin"
CGO_ENABLED=0 go build -ldflags='-s -w' -o "$kit/bin/iwrun" ./cmd/iwrun
go build -ldflags='-s -w' -o "$kit/bin/iwrun-torch" ./cmd/iwrun-torch
for package in torch nets losses; do
	mkdir -p "$kit/$package"
	go test -c -ldflags='-s -w' -o "$kit/bin/$package.test" "./$package"
done

sh tools/native-sources.sh "$kit"
cp -R torch/testdata "$kit/torch/"
cp -R testdata go.mod LICENSE "$kit/" # the tests look for go.mod to find testdata
cp -R configs "$kit/"
cp tools/cuda-check.sh tools/cuda-runs.sh "$kit/"

tar -C build -czf "$kit.tar.gz" "${kit#build/}"
size=$(wc -c <"$kit.tar.gz")
if [ "$size" -gt "$most" ]; then
	echo "cuda-kit: $kit.tar.gz has $size bytes, more than $most" >&2
	exit 1
fi
printf '%s.tar.gz: %d MB. There: tar xzf cuda-kit.tar.gz && sh cuda-kit/cuda-check.sh\n' "$kit" "$((size / 1000000))"
