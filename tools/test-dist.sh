#!/bin/sh
# Unpacks the archive $1 in a new folder and runs it from another one: a small
# experiment, and the message where there is no libtorch.
set -eu

archive=$(readlink -f "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/unpacked" "$folder/elsewhere" "$folder/empty"
tar -C "$folder/unpacked" --strip-components=1 -xzf "$archive"
cd "$folder/elsewhere"
iwrun=$folder/unpacked/iwrun

"$iwrun" doctor | grep ^libtorch
"$iwrun" -c "$folder/unpacked/configs/demo.yaml" --set train.epochs=1 --set dataset.train_per_class=20 --set 'methods=[dann, iwdan]' --set 'seeds=[1]' -j 2 >table.md
grep -q '| iwdan ' table.md
"$iwrun" slurm -c "$folder/unpacked/configs/demo.yaml" --results other >submit.txt
grep -q "$iwrun" other/demo/slurm/array-1.sh

if LIBTORCH=$folder/empty "$iwrun" -c "$folder/unpacked/configs/demo.yaml" --results none 2>message.txt; then
	echo 'test-dist: iwrun trains without a libtorch' >&2
	exit 1
fi
grep -q 'libtorch .* is missing' message.txt
cat message.txt

# This one needs nothing of the machine.
printf 'label,a,b\na,0.9,0.1\na,0.8,0.2\nb,0.2,0.8\nb,0.1,0.9\n' >source.csv
printf 'a,b\n0.9,0.1\n0.2,0.8\n0.1,0.9\n' >target.csv
env -i "$iwrun" labelshift source.csv target.csv --kind probabilities >shares.md
grep -q '^| b ' shares.md

for text in LICENSE NOTICES; do
	[ -s "$folder/unpacked/$text" ]
done
if strings "$iwrun" "$folder/unpacked/bin/iwrun-torch" "$folder/unpacked"/lib/*.so | grep -F "$(dirname "$(dirname "$(dirname "$archive")")")"; then
	echo 'test-dist: the paths above are of the machine that built it' >&2
	exit 1
fi
echo "test-dist: $(basename "$archive") passes"
