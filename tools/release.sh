#!/bin/sh
# Packs iwrun, which needs nothing, for each system: build/release/iwda-VERSION-SYSTEM-PROCESSOR.tar.gz, with
# licences, completions and manual pages, and SHA256SUMS. The same sources make the same bytes.
set -eu

cd "$(dirname "$0")/.."
# shellcheck source=tools/targets.sh
. tools/targets.sh
export CGO_ENABLED=0
output=${1:-build/release}
mkdir -p "$output"
output=$(cd "$output" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

build ./cmd/iwrun "$folder/here"
for target in $targets; do
	name=iwda-$version-${target%/*}-${target#*/}
	made=$folder/$name
	mkdir -p "$made/completions"
	build_for "$target" "$made"
	for shell in bash zsh fish; do "$folder/here" completion "$shell" >"$made/completions/iwrun.$shell"; done
	"$folder/here" manual --man "$made/man/man1" >/dev/null
	cp LICENSE README.md "$made/"
	notices_for "$target" ./cmd/iwrun >"$made/NOTICES"
	chmod -R u=rwX,go=rX "$made"
	find "$made" -exec touch -h -d '1980-01-01 00:00:00 UTC' {} +
	tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
done
cd "$output"
sha256sum "iwda-$version"-*.tar.gz >SHA256SUMS
cat SHA256SUMS
