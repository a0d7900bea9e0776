#!/bin/sh
# Fuzzes every target, or those that the arguments name, for FUZZTIME each.
set -eu

cd "$(dirname "$0")/.."
# Files lie in memory: a disk takes longer than all else.
if [ -w /dev/shm ]; then
	export TMPDIR=/dev/shm GOTMPDIR=/dev/shm
fi

grep -o '^func Fuzz[A-Za-z0-9]*' $(find . -path ./build -prune -o -name '*_test.go' -print) | while IFS=: read -r file target; do
	target=${target#func } folder=${file%/*}
	[ $# -eq 0 ] || case " $* " in *" $target "*) ;; *) continue ;; esac
	# An input of new coverage is made smaller in ten attempts, not for the minute of the
	# default, in which nothing else is tried.
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 10x "./$folder"
done
