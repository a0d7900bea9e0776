#!/bin/sh
# Packs build/dist/iwda-VERSION-py3-none-SYSTEM.whl for each system: the Python package with iwrun, which needs nothing,
# and in the one for this system what iwrun-torch is made of, when something needs it, for the torch of its user. Run by
# make, which has built the libraries and set what go needs. The same sources make the same bytes.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tools/targets.sh
. tools/targets.sh
folder=build/wheel
most=20000000 # bytes

# What a program without a C library needs is the kernel: Go wants Linux 3.2, macOS 12 or Windows 10.
tag() {
	case $1 in
	linux/amd64) echo manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64 ;;
	linux/arm64) echo manylinux2014_aarch64.manylinux_2_17_aarch64.musllinux_1_1_aarch64 ;;
	windows/amd64) echo win_amd64 ;;
	darwin/arm64) echo macosx_12_0_arm64 ;;
	esac
}

mkdir -p build/dist
rm -f build/dist/*.whl
for target in $targets; do
	rm -rf "$folder"
	mkdir -p "$folder/iwda/programs/bin" "$folder/licenses"
	cp python/iwda/*.py python/iwda/py.typed "$folder/iwda/"
	build_for "$target" "$folder/iwda/programs/bin"
	torch=''
	if [ "$target" = "$(go env GOHOSTOS)/$(go env GOHOSTARCH)" ]; then
		torch=$folder/iwda/programs/torch
		mkdir "$torch"
		build ./cmd/iwrun-torch "$torch/iwrun-torch"
		patchelf --set-rpath "\$ORIGIN" "$torch/iwrun-torch" # nothing refers to where it was built
		python3 -c 'import lzma, sys; sys.stdout.buffer.write(lzma.compress(sys.stdin.buffer.read(), preset=9))' <"$torch/iwrun-torch" >"$torch/iwrun-torch.xz"
		rm "$torch/iwrun-torch"
		sh tools/native-sources.sh "$torch"
	fi
	cp LICENSE "$folder/licenses/"
	notices_for "$target" ./cmd/iwrun ${torch:+./cmd/iwrun-torch} >"$folder/licenses/NOTICES"
	file=$(python3 tools/wheel.py "$folder" "$version" "$(tag "$target")" build/dist)
	size=$(wc -c <"$file")
	if [ "$size" -gt "$most" ]; then
		echo "wheel: $file has $size bytes, more than $most" >&2
		exit 1
	fi
	printf '%s: %d MB\n' "$file" "$((size / 1000000))"
done
