#!/bin/sh
# Runs the command $2... and shows on a terminal, every second, how many of the files $1
# that it makes are there. Does nothing of its own elsewhere, or where none is missing.
set -u

files=$1
shift

missing() {
	n=0
	for file in $files; do
		[ -e "$file" ] || n=$((n + 1))
	done
	echo "$n"
}

total=$(missing)
if [ ! -t 1 ] || [ "$total" = 0 ]; then
	exec "$@"
fi
start=$(date +%s)
# The cursor returns to the line's beginning, so that the next line of a step replaces it.
(
	while sleep 1; do
		done=$((total - $(missing)))
		bar=$(printf '%*s' $((20 * done / total)) '' | tr ' ' '#')
		printf '  [%-20s] %d of %d steps, %d s\r' "$bar" "$done" "$total" $(($(date +%s) - start))
	done
) &
ticker=$!
trap 'kill $ticker 2>/dev/null' EXIT
trap 'exit 130' INT TERM
"$@"
status=$?
kill $ticker
printf '%60s\r' ''
exit $status
