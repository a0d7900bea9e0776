#!/bin/sh
# Prints the licences of all modules that are linked into the packages $@, and of Go, and of the fonts whose digits
# datasets has, which only its tests link.
set -eu

# licences NAME FOLDER: the texts that lie in a folder.
licences() {
	printf '%s\n\n' "==== $1"
	found=''
	for file in $(find "$2" -type f \( -iname '*licen[cs]e*' -o -ipath '*licen[cs]es/*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'patents*' -o -iname 'ofl*' \) ! -name '*.go' ! -path '*/testdata/*' | sort); do
		printf '%s\n\n' "---- ${file#"$2"/}"
		cat "$file"
		printf '\n'
		found=yes
	done
	if [ -z "$found" ]; then
		echo "notices: $1 has no licence in $2" >&2
		exit 1
	fi
}

echo 'The programs of this folder are linked with the following modules.'
echo
root=$(go env GOROOT)
printf '%s\n\n' "==== Go $(go env GOVERSION)"
cat "$root/LICENSE"
echo
format='{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}'
modules=$({ go list -deps -f "$format" "$@" && go list -deps -test -f "$format" ./datasets; } | sort -u)
printf '%s\n' "$modules" | while read -r path version folder; do
	licences "$path $version" "$folder"
done
