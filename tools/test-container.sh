#!/bin/sh
# Builds the Containerfile without a daemon or a registry, on a Debian 13 that debootstrap
# makes from packages, and runs the image.
set -eu

cd "$(dirname "$0")/.."
folder=build/container
mkdir -p "$folder"
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
run_buildah() { buildah --root "$PWD/$folder/storage" --runroot "$PWD/$folder/run" "$@"; }

if [ ! -f "$folder/debian.tar" ]; then
	debootstrap --variant=minbase trixie "$folder/debian"
	tar -C "$folder/debian" -cf "$folder/debian.tar" .
	rm -rf "$folder/debian"
fi
base=$(run_buildah from scratch)
run_buildah add --quiet "$base" "$folder/debian.tar" /
# What this machine trusts besides Debian's authorities, such as a proxy's, is trusted there too.
if [ -d /usr/local/share/ca-certificates ]; then
	run_buildah add --quiet "$base" /usr/local/share/ca-certificates /usr/local/share/ca-certificates
fi
run_buildah commit --quiet --rm "$base" localhost/debian:trixie
run_buildah build --build-arg BASE=localhost/debian:trixie --tag localhost/iwda .

container=$(run_buildah from localhost/iwda)
run_buildah run "$container" iwrun -c /opt/iwda/configs/demo.yaml --set train.epochs=1 --set dataset.train_per_class=20 --set 'methods=[dann, iwdan]' --set 'seeds=[1]' -o /tmp/results
run_buildah rm "$container"
