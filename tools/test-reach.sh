#!/bin/sh
# Runs iwrun where there is nothing else: in an empty folder, for Linux on amd64 and, by qemu, on ARM, and for Windows
# by Wine. All must predict the same classes, with probabilities that differ by 1e-6 at most. As root.
set -eu

cd "$(dirname "$0")/.."
folder=$(mktemp -d)
trap 'wineserver -k -w || :; rm -rf "$folder"' EXIT # which Wine's server still writes to
export CGO_ENABLED=0 WINEPREFIX="$folder/wine" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=d;mshtml=d'
for system in amd64 arm64 windows; do mkdir -p "$folder/$system/tmp"; done
go build -o "$folder/amd64/iwrun" ./cmd/iwrun
GOARCH=arm64 go build -o "$folder/arm64/iwrun" ./cmd/iwrun
GOOS=windows go build -o "$folder/windows/iwrun.exe" ./cmd/iwrun
# Debian's Wine has no bcryptprimitives.dll, from which Go takes random numbers.
printf 'LIBRARY bcryptprimitives.dll\nEXPORTS\nProcessPrng=advapi32.SystemFunction036\n' >"$folder/bcryptprimitives.def"
wineboot -i >/dev/null 2>&1
x86_64-w64-mingw32-ld -shared -o "$WINEPREFIX/drive_c/windows/system32/bcryptprimitives.dll" "$folder/bcryptprimitives.def"

awk 'BEGIN {
	srand(3); print "label,a,b"
	for (i = 0; i < 300; i++) { y = rand() < 0.7; printf "%s,%.4f,%.4f\n", y ? "yes" : "no", 2 * y + 2 * rand() + rand(), y + 2 * rand() }
}' >"$folder/source.csv"
awk 'BEGIN {
	srand(4); print "a,b"
	for (i = 0; i < 300; i++) { y = rand() < 0.3; printf "%.4f,%.4f\n", 2 * y + 2 * rand() + rand(), y + 2 * rand() }
}' >"$folder/target.csv"
run() { # SYSTEM ARGUMENTS: iwrun in its folder
	system=$1
	shift
	case $system in
	amd64) chroot "$folder/amd64" /iwrun "$@" ;;
	arm64) proot -q qemu-aarch64-static -r "$folder/arm64" -w / /iwrun "$@" ;;
	windows) (cd "$folder/windows" && wine ./iwrun.exe "$@") ;;
	esac
}
for system in amd64 arm64 windows; do
	start=$(date +%s)
	cp "$folder/source.csv" "$folder/target.csv" "$folder/$system/"
	input=/target.csv
	[ "$system" != windows ] || input=Z:$(printf %s "$folder/windows/target.csv" | tr / '\\') # a path with a drive
	for time in first again; do # over what is there
		run "$system" adapt --source source.csv --target "$input" -o out >"$folder/$system/adapt.txt" 2>&1 || { echo "test-reach: adapt on $system, $time:"; cat "$folder/$system/adapt.txt"; exit 1; } >&2
	done
	run "$system" predict out "$input" -o predictions.csv
	run "$system" labelshift --run out/runs/adapt/full/source-target/source-only@linear/seed-1 -o shares.csv >/dev/null
	for file in out/predictions.csv predictions.csv; do
		[ "$(wc -l <"$folder/$system/$file")" = 301 ]
		paste -d, "$folder/amd64/$file" "$folder/$system/$file" | tr -d '\r' | awk -F, -v what="$system/$file" '{
			for (i = 1; i <= NF / 2; i++) { a = $i; b = $(i + NF / 2); d = a - b; if (a != b && (a !~ /^[0-9]/ || d > 1e-6 || d < -1e-6)) { print what ":" NR ": " a " and " b; wrong = 1 } }
		} END { exit wrong }'
	done
	cmp "$folder/amd64/shares.csv" "$folder/$system/shares.csv" || echo "test-reach: shares on $system have other last digits"
	echo "test-reach: $system passes, $(($(date +%s) - start)) s"
done
