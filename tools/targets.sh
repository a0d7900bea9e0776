#!/bin/sh
# shellcheck disable=SC2034
# For scripts that read it, in the repository's root: the systems and processors for which iwrun is packed, its version, and
# how it is built, the same bytes from the same sources.
targets='linux/amd64 linux/arm64 windows/amd64 darwin/arm64'
version=$(sed -n 's/^const Version = "\(.*\)"/\1/p' internal/version/version.go)

# build PACKAGE FILE: a program that refers to nothing of the machine that built it.
build() { go build -trimpath -buildvcs=false -ldflags '-s -w' -o "$2" "$1"; }

# build_for TARGET FOLDER: iwrun, or iwrun.exe.
build_for() (
	export CGO_ENABLED=0 GOOS="${1%/*}" GOARCH="${1#*/}"
	build ./cmd/iwrun "$2/iwrun$(go env GOEXE)"
)

# notices_for TARGET PACKAGES: the licences of what is linked there.
notices_for() (
	export GOOS="${1%/*}" GOARCH="${1#*/}"
	shift
	sh tools/notices.sh "$@"
)
