#!/bin/bash
# Runs wrong commands with the program $1 in a new folder and prints what each says.
# usage: bash errors.sh IWRUN
program=$(realpath "$1")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
export COLUMNS=100

awk 'BEGIN { srand(1); print "age,ward,label"; for (i = 0; i < 120; i++) { y = i % 3 == 0; printf "%.1f,%s,%s\n", 40 + 20 * y + 10 * rand(), rand() < 0.5 ? "north" : "south", y ? "sick" : "well" } }' >s.csv
awk 'BEGIN { srand(2); print "age,ward"; for (i = 0; i < 90; i++) printf "%.1f,%s\n", 45 + 20 * rand(), rand() < 0.5 ? "north" : "south" }' >t.csv
cut -d, -f1 t.csv >narrow.csv
sed 's/ward/room/' t.csv >renamed.csv
awk -F, '{ print $1 "," $2 }' s.csv >unlabelled.csv
awk -F, 'NR == 1 || $3 == "well"' s.csv >one.csv
sed '5s/^/"/' s.csv >quote.csv
sed '5s/$/,7/' s.csv >wide.csv
tr '\n' '\r' <s.csv >cr.csv
tr ',' '|' <s.csv >pipes.csv
{ echo '# of the ward'; cat s.csv; } >comment.csv
: >empty.csv
head -1 s.csv >header.csv
awk -F, 'NR == 1 { print; next } { print (NR == 7 ? "1e300" : $1) "," $2 "," $3 }' s.csv >huge.csv
awk -F, 'NR == 1 { print; next } { print $1 "%," $2 "," $3 }' s.csv >percent.csv
awk -F, 'NR == 1 { gsub(",", ";"); print; next } { printf "%d,%03d;%s;%s\n", $1, 1000 * rand(), $2, $3 }' s.csv >decimals.csv
awk -F, 'NR == 1 { print; next } { printf "%s,%s,", $1, $2; if ($3 == "sick") { for (i = 0; i < 100000; i++) printf "x"; print "" } else print $3 }' s.csv >long.csv
awk 'BEGIN { print "cat,dog,label"; for (i = 0; i < 60; i++) { p = i % 2 ? 0.9 : 0.2; printf "%.2f,%.2f,%s\n", p, 1 - p, i % 2 ? "cat" : "dog" } }' >bare.csv
awk 'BEGIN { print "probability_cat,probability_dog,label"; for (i = 0; i < 60; i++) printf "%.2f,%.2f,%s\n", 3 * i, 2 - i, i % 2 ? "cat" : "dog" }' >logits.csv
sed 's/,label//; s/,cat$//; s/,dog$//' logits.csv >logits-target.csv
mkdir photos sketches && for class in a b; do mkdir photos/$class; printf 'no image' >photos/$class/1.png; done; printf x >sketches/1.png
cat >e.yaml <<'Y'
experiment: e
dataset: {name: glyphs, train_per_class: 20, test_per_class: 5}
tasks: [clean-warped]
variants: [full]
methods: [dann, iwdan]
seeds: [1]
train: {epochs: 1, batch: 16}
Y
sed 's/epochs/epoch/' e.yaml >key.yaml
sed 's/iwdan/iwdam/' e.yaml >method.yaml
sed 's/glyphs/glpyhs/' e.yaml >data.yaml

try() {
	printf '$ iwrun %s\n' "$*"
	timeout 20 "$program" "$@" </dev/null >out 2>&1
	status=$?
	LC_ALL=C.UTF-8 cut -c1-300 out | sed "s#$folder#.#g" | grep -v "^  *iwrun [A-Za-z]\|^Usage:\|^Help:\|^$\|^running\|^started" | head -5
	echo "[status $status]"
	echo
}

try help adpat
try adpat s.csv t.csv
try adapt s.csv
try adapt s.csv missing.csv -o o1
try adapt s.csv narrow.csv -o o2
try adapt s.csv renamed.csv -o o3
try adapt unlabelled.csv t.csv -o o4
try adapt one.csv t.csv -o o5
try adapt empty.csv t.csv -o o6
try adapt header.csv t.csv -o o7
try check-data quote.csv t.csv
try check-data wide.csv t.csv
try check-data cr.csv t.csv
try check-data pipes.csv t.csv
try check-data comment.csv t.csv
try check-data huge.csv t.csv
try check-data percent.csv t.csv
try check-data decimals.csv t.csv
try adapt long.csv t.csv -o o8
try adapt s.csv t.csv -o s.csv
try adapt s.csv t.csv --steps many
try adapt photos sketches -o o9 --dry-run
try labelshift bare.csv bare.csv
try labelshift logits.csv logits-target.csv
try labelshift bare.csv bare.csv -o x
try run -c s.csv
try -c key.yaml -o r1
try -c method.yaml -o r2
try -c data.yaml -o r3
try -c e.yaml -o r4 --set train.epochs=2305843009213693952
try -c e.yaml -o r5 --set train.eval_batch=1000000
try -c e.yaml -o r6 --set weights.every=4611686018427387904
try -c e.yaml -o r7 --set network.features=1000000000000
try -c e.yaml -o r8 --only '*@*'
try predict s.csv t.csv -o p.csv
try evaluate s.csv t.csv
printf '$ iwrun --version >/dev/full\n'
"$program" --version >/dev/full 2>out
echo "[status $?] $(head -c 200 out)"
