#!/bin/sh
# Fuzzes every target, or those that the arguments name, for FUZZTIME each. Then those that read
# bytes try INPUTS mutants of the inputs that were found, without a look at what they cover, which
# takes most of the time.
set -eu

cd "$(dirname "$0")/.."
# Files lie in memory: a disk takes longer than all else.
if [ -w /dev/shm ]; then
	export TMPDIR=/dev/shm GOTMPDIR=/dev/shm
fi
found=$(go env GOCACHE)/fuzz/$(go list -m)

grep -o '^func Fuzz[A-Za-z0-9]*' $(git ls-files -co --exclude-standard '*_test.go' ':!internal/fuzzing') | while IFS=: read -r file target; do
	target=${target#func } folder=${file%/*}
	[ $# -eq 0 ] || case " $* " in *" $target "*) ;; *) continue ;; esac
	# An input of new coverage is made smaller in ten attempts, not for the minute of the
	# default, in which nothing else is tried.
	go test -run '^$' -fuzz "^$target\$" -fuzztime "$FUZZTIME" -fuzzminimizetime 10x "./$folder"
	if [ "$INPUTS" -eq 0 ] || ! grep -q 'fuzzing\.Bytes(f' "$file"; then
		continue
	fi
	corpus=$(ls "$found/$folder/$target" 2>/dev/null | wc -l)
	echo "$target: $INPUTS mutants of $corpus inputs"
	IWDA_CORPUS=$found/$folder IWDA_MUTANTS=$((INPUTS / (corpus + 1) + 1)) go test -count=1 -timeout 0 -run "^$target\$" "./$folder"
done
