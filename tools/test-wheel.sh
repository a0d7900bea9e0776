#!/bin/sh
# Installs the wheel of build/dist that pip takes here in two new virtual environments, and uses it as its users do: in one
# that has NumPy alone, where nothing is compiled for tables, and in one of the first python3 that has numpy with all
# that this one has, where iwrun-torch is made for the torch that is found, by two at once.
set -eu

cd "$(dirname "$0")/.."
demo=$PWD/configs/demo.yaml
wheels=$PWD/build/dist
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache"
unset IWDA_PROGRAMS IWDA_TORCH IWDA_MAKE_TORCH
for python in python3 /usr/bin/python3; do
	"$python" -c 'import numpy, venv, ensurepip' 2>/dev/null && break
done
numpy=$("$python" -c 'import numpy, os; print(os.path.dirname(numpy.__file__))')
"$python" -m venv alone
for part in "$numpy" "$numpy.libs"; do # its own libraries are beside it, if pip installed it
	[ ! -e "$part" ] || ln -s "$part" alone/lib/python*/site-packages/
done
"$python" -m venv --system-site-packages environment
for made in alone environment; do
	"$made/bin/pip" install --quiet --no-index --no-deps --find-links "$wheels" iwda
done

cat >adapt.py <<'ADAPT'
import sys

import numpy as np

import iwda

r = np.random.default_rng(1)
width = int(sys.argv[1])
centres = r.normal(size=(3, width))
y, hidden = r.choice(3, 300, p=[0.6, 0.2, 0.2]), r.choice(3, 300, p=[0.2, 0.3, 0.5])
source, target = (3 * centres[c] + r.normal(size=(300, width)) for c in (y, hidden))
outcome = iwda.adapt(source, y, target, steps=200)
assert (outcome.predictions == hidden).mean() > 0.9
print(outcome)
ADAPT
[ "$(alone/bin/python -c 'import importlib.util as u; print(u.find_spec("torch"), u.find_spec("pandas"))')" = 'None None' ]
alone/bin/python adapt.py 8
LIBTORCH=/nowhere alone/bin/python adapt.py 60 >array.txt 2>said.txt # where the system has none either
tr -s '\n ' ' ' <said.txt | grep -q 'No method aligns the domains, .* $LIBTORCH (/nowhere) has no lib/libtorch_cpu.so'
printf 'label,a,b\na,0.9,0.1\na,0.8,0.2\nb,0.2,0.8\nb,0.1,0.9\n' >source.csv
printf 'a,b\n0.9,0.1\n0.2,0.8\n0.1,0.9\n' >target.csv
alone/bin/iwrun labelshift source.csv target.csv --kind probabilities >shares.md
grep -q '^| b ' shares.md
[ ! -e cache ]

environment/bin/iwrun doctor >doctor.txt &
environment/bin/iwrun doctor >other.txt
wait $!
grep ^libtorch doctor.txt
[ "$(find cache/iwda/native -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ]
environment/bin/python adapt.py 60 2>said.txt
[ "$(grep -c 'No method aligns' said.txt)" = 0 ]
status=0
environment/bin/iwrun adapt --source /nowhere.npz --target target.csv -o other 2>message.txt || status=$?
[ "$status" != 0 ] && grep -q nowhere message.txt
environment/bin/iwrun slurm -c "$demo" --results jobs >submit.txt
grep -q "$folder/environment/bin/iwrun" jobs/demo/slurm/array-1.sh
echo "test-wheel: $(ls "$wheels") pass"
