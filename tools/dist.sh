#!/bin/sh
# Packs what runs on a machine that has the libtorch of build/libtorch.env: the programs,
# our two libraries, configurations, licences, and a launcher of iwrun-torch that finds libtorch. Run
# by make, which has built the libraries and set what go needs.
set -eu

cd "$(dirname "$0")/.."
# shellcheck disable=SC1091
. build/libtorch.env
# shellcheck source=tools/targets.sh
. tools/targets.sh
cuda=''
[ "$libtorch_cuda" = 0 ] || cuda=-cuda
name=iwda-$version-linux-$(go env GOARCH)-libtorch$libtorch_version$cuda
folder=build/dist/$name

rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/lib"
build_for "linux/$(go env GOARCH)" "$folder"
build ./cmd/iwrun-torch "$folder/bin/iwrun-torch"
mkdir "$folder/completions"
for shell in bash zsh fish; do "$folder/iwrun" completion "$shell" >"$folder/completions/iwrun.$shell"; done
"$folder/iwrun" manual --man "$folder/man/man1" >/dev/null
cp build/lib/libiwtorch.so build/lib/libcgotorch.so "$folder/lib/"
cp tools/dist/iwrun-torch "$folder/iwrun-torch"
cp -R configs docs LICENSE README.md "$folder/"
sh tools/notices.sh ./cmd/iwrun ./cmd/iwrun-torch >"$folder/NOTICES"

# Nothing refers to where it was built.
patchelf --set-rpath "\$ORIGIN/../lib" "$folder/bin/iwrun-torch"
patchelf --remove-rpath "$folder/lib/libiwtorch.so" "$folder/lib/libcgotorch.so"
strip --strip-unneeded "$folder/lib/libiwtorch.so" "$folder/lib/libcgotorch.so"

file=$(patchelf --print-needed "$folder/lib/libiwtorch.so" | grep '^libtorch_cpu\.so')
case $file in
*.so) packages='' install="pip install torch==$libtorch_version.*" ;;
*)
	packages="libtorch$libtorch_version libopenblas0-openmp"
	install="on Debian: apt-get install $packages"
	;;
esac
{
	printf "libtorch_version='%s'\n" "$libtorch_version"
	printf "libtorch_file='%s'\n" "$file"
	printf "libtorch_packages='%s'\n" "$packages"
	printf "libtorch_install='%s'\n" "$install"
} >"$folder/lib/libtorch.env"

tar -C build/dist --owner=0 --group=0 -czf "build/dist/$name.tar.gz" "$name"
printf 'build/dist/%s.tar.gz\n' "$name"
