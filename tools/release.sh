#!/bin/sh
# Packs iwrun, which needs nothing, for each system: build/release/iwda-VERSION-SYSTEM-PROCESSOR.tar.gz, with
# licences, completions and manual pages, and SHA256SUMS. The same sources make the same bytes.
set -eu

cd "$(dirname "$0")/.."
export CGO_ENABLED=0
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/version/version.go)
output=${1:-build/release}
mkdir -p "$output"
output=$(cd "$output" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$folder/here" ./cmd/iwrun
for target in linux/amd64 linux/arm64 windows/amd64 darwin/arm64; do
	system=${target%/*} processor=${target#*/} end=''
	[ "$system" != windows ] || end=.exe
	name=iwda-$version-$system-$processor
	made=$folder/$name
	mkdir -p "$made/completions"
	GOOS=$system GOARCH=$processor go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$made/iwrun$end" ./cmd/iwrun
	for shell in bash zsh fish; do "$folder/here" completion "$shell" >"$made/completions/iwrun.$shell"; done
	"$folder/here" manual --man "$made/man/man1" >/dev/null
	cp LICENSE README.md "$made/"
	GOOS=$system GOARCH=$processor sh tools/notices.sh ./cmd/iwrun >"$made/NOTICES"
	chmod -R u=rwX,go=rX "$made"
	find "$made" -exec touch -h -d '1980-01-01 00:00:00 UTC' {} +
	tar -C "$folder" --sort=name --owner=0 --group=0 --numeric-owner --format=ustar -cf - "$name" | gzip -9n >"$output/$name.tar.gz"
done
cd "$output"
sha256sum "iwda-$version"-*.tar.gz >SHA256SUMS
cat SHA256SUMS
