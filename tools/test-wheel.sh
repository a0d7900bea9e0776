#!/bin/sh
# Installs the wheel of build/dist in a new virtual environment of the first python3 that has
# numpy, and uses it as its users do: compiles against the torch that is found, twice at
# once, and adapts.
set -eu

cd "$(dirname "$0")/.."
demo=$PWD/configs/demo.yaml
wheel=$PWD/$(ls -t build/dist/*.whl | head -n 1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export XDG_CACHE_HOME="$folder/cache"
unset IWDA_PROGRAMS
for python in python3 /usr/bin/python3; do
	"$python" -c 'import numpy, venv, ensurepip' 2>/dev/null && break
done
"$python" -m venv --system-site-packages environment
environment/bin/pip install --quiet --no-index "$wheel"
environment/bin/python - <<'DATA'
import numpy as np

r = np.random.default_rng(1)
centres = r.normal(size=(3, 8))
for name, shares in {"source": [0.6, 0.2, 0.2], "target": [0.2, 0.3, 0.5]}.items():
    labels = r.choice(3, 300, p=shares)
    known = {"labels": labels} if name == "source" else {}
    np.savez(name, features=3 * centres[labels] + r.normal(size=(300, 8)), **known)
DATA
printf 'label,a,b\na,0.9,0.1\na,0.8,0.2\nb,0.2,0.8\nb,0.1,0.9\n' >source.csv
printf 'a,b\n0.9,0.1\n0.2,0.8\n0.1,0.9\n' >target.csv
environment/bin/iwrun labelshift --source source.csv --target target.csv --kind probabilities >shares.md
grep -q '^| b ' shares.md
[ ! -e cache/iwda/native ]

environment/bin/iwrun doctor >doctor.txt &
environment/bin/iwrun doctor >other.txt
wait $!
grep ^libtorch doctor.txt
[ "$(find cache/iwda/native -mindepth 1 -maxdepth 1 -type d | wc -l)" = 1 ]
environment/bin/iwrun adapt --source source.npz --target target.npz -o out --steps 200
[ "$(wc -l <out/predictions.csv)" = 301 ]
status=0
environment/bin/iwrun adapt --source /nowhere.npz --target target.npz -o other 2>message.txt || status=$?
[ "$status" != 0 ] && grep -q nowhere message.txt
environment/bin/iwrun slurm -c "$demo" --results jobs >submit.txt
grep -q "$folder/environment/bin/iwrun" jobs/demo/slurm/array-1.sh
echo "test-wheel: $(basename "$wheel") passes"
