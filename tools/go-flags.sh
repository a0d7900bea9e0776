#!/bin/sh
# Prints CGO_LDFLAGS for libraries in the folder $1, as Go reads it: words between quotes of one
# kind, in which nothing else has a meaning. Programs look for the libraries beside their folder
# (../lib), then in $1.
set -eu

# shellcheck disable=SC1091
. build/libtorch.env
word() {
	case $1 in
	*\'*\"* | *\"*\'*)
		echo "go-flags: Go takes no path with both kinds of quotes: $1" >&2
		exit 1
		;;
	*\'*) printf '"%s" ' "$1" ;;
	*) printf "'%s' " "$1" ;;
	esac
}
folder=$(cd "$1" && pwd)
word "-L$folder"
printf '%s ' -Wl,--as-needed -liwtorch -lcgotorch "-Wl,-rpath,\$ORIGIN/../lib" -Xlinker -rpath -Xlinker
word "$folder"
# shellcheck disable=SC2154
word "-L$libtorch_lib"
