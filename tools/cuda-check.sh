#!/bin/sh
# Proves that iwda computes on this machine's GPU: compiles its two libraries against the
# libtorch that is here ($LIBTORCH, or the torch of python3), runs the tests of the packages
# that compute, and measures training. It needs a C++ compiler, no Go and no network, and
# ends within 15 minutes: every part has a limit of its own, and what one of them fails
# at does not keep the others from running.
#
# usage: sh cuda-check.sh [--device cuda|cpu]
#
# It prints a line for each part, leaves what the parts printed in logs/, and writes
# cuda-check.json and cuda-check.md anew after every part. The exit status is 1 where one
# failed. PATIENCE=4 gives every part four times its limit, for a machine that is busy.
set -u

cd "$(dirname "$0")" || exit
device=cuda
case "${1:-}${2:+ $2}" in
'' | '--device cuda') ;;
'--device cpu') device=cpu ;;
*)
	echo "usage: sh cuda-check.sh [--device cuda|cpu]" >&2
	exit 2
	;;
esac
rm -rf logs results cuda-check.json cuda-check.md
mkdir -p logs build lib
: >build/parts
: >build/facts

fact() { printf '%s\t%s\n' "$1" "$2" >>build/facts; }

# part NAME SECONDS FUNCTION runs a function of this script in a shell of its own.
part() {
	started=$(date +%s)
	limit=$(($2 * ${PATIENCE:-1}))
	timeout --kill-after=5 "$limit" sh -c '. ./build/functions.sh; "$0"' "$3" >"logs/$1.txt" 2>&1
	status=$?
	seconds=$(($(date +%s) - started))
	case $status in
	0) outcome=passed ;;
	124 | 137) outcome="stopped after $limit s" ;;
	*) outcome="failed with status $status" ;;
	esac
	printf '%s\t%s\t%s\n' "$1" "$outcome" "$seconds" >>build/parts
	printf '%-14s %-24s %4d s\n' "$1" "$outcome" "$seconds"
	report
}

# report writes both files from what is known so far.
report() {
	cat logs/steps.txt logs/graphs.txt 2>/dev/null | sed -n 's/^step of //p' >build/steps
	awk -F '\t' '
		function quoted(s) { gsub(/\\/, "\\\\", s); gsub(/"/, "\\\"", s); gsub(/[\001-\037]/, " ", s); return "\"" s "\"" }
		FILENAME ~ /facts$/ { facts = facts (facts ? ",\n" : "") "    " quoted($1) ": " quoted($2) }
		FILENAME ~ /parts$/ { parts = parts (parts ? ",\n" : "") "    {\"part\": " quoted($1) ", \"outcome\": " quoted($2) ", \"seconds\": " $3 "}" }
		FILENAME ~ /steps$/ { steps = steps (steps ? ",\n" : "") "    {\"method\": " quoted($1) ", \"milliseconds\": " $2 "}" }
		END { printf "{\n  \"facts\": {\n%s\n  },\n  \"parts\": [\n%s\n  ],\n  \"steps\": [\n%s\n  ]\n}\n", facts, parts, steps }
	' build/facts build/parts build/steps >cuda-check.json
	{
		echo '# What this machine computes'
		echo
		awk -F '\t' '{ print "- " $1 ": " $2 }' build/facts
		printf '\n| part | outcome | seconds |\n| --- | --- | ---: |\n'
		awk -F '\t' '{ print "| " $1 " | " $2 " | " $3 " |" }' build/parts
		if [ -s build/steps ]; then
			printf '\n| a step of 2 × 64 drawn digits | ms |\n| --- | ---: |\n'
			awk -F '\t' '{ print "| " $1 " | " $2 " |" }' build/steps
		fi
		awk -F '\t' '$2 != "passed" { print $1 }' build/parts | while read -r name; do
			printf '\n## The end of %s\n\n```\n' "$name"
			tail -n 40 "logs/$name.txt"
			echo '```'
		done
	} >cuda-check.md
}

cat >build/functions.sh <<'FUNCTIONS'
set -e

find_libtorch() {
	sh tools/find-libtorch.sh build/libtorch.env
	cat build/libtorch.env
	[ "$device" != cuda ] || grep -q "^libtorch_cuda='1'" build/libtorch.env || {
		echo 'this libtorch was built without CUDA'
		exit 1
	}
}

compile() {
	sh tools/compile.sh build lib
}

doctor() {
	bin/iwrun doctor
	[ "$device" = cpu ] || bin/iwrun doctor | grep -q 'CUDA devices: [1-9]'
}

torch_tests() { cd torch && ../bin/torch.test -test.v; }
losses_tests() { cd losses && ../bin/losses.test -test.v; }
nets_tests() { cd nets && ../bin/nets.test -test.v; }

methods='source-only dann iwdan cdan iwcdan dan jan'

# experiment has 100 steps an epoch; a CPU, which tries the kit, makes 20 of them.
experiment() {
	images=640
	[ "$device" = cuda ] || images=128
	cat >build/steps.yaml <<EXPERIMENT
experiment: steps
dataset: {name: glyphs, train_per_class: $images, test_per_class: 10}
tasks: [clean-warped]
variants: [full]
methods: [source-only, dann, iwdan, cdan, iwcdan, dan, jan]
seeds: [1]
train: {epochs: 3, batch: 64}
EXPERIMENT
}

# step_times FOLDER KIND prints the time of a step in the last of three epochs, the
# evaluation included, which has 100 rows.
step_times() {
	for method in $methods; do
		awk -F , -v method="$method$2" '
			NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
			{ step[NR] = $column["step"]; seconds[NR] = $column["seconds"] }
			END { printf "step of %s\t%.3f\n", method, 1000 * (seconds[NR] - seconds[NR - 1]) / (step[NR] - step[NR - 1]) }
		' "$1/steps/full/clean-warped/$method/seed-1/metrics.csv"
	done
}

steps() {
	experiment
	bin/iwrun -c build/steps.yaml -o results -j 1 --device "$device" --retries 0 --set train.graph=false
	step_times results ''
}

# graphs records the steps, and compares the losses of the second epoch, the first with the
# domain loss, with those of steps that were not: the same but for rounding, which grows with
# every step.
graphs() {
	experiment
	bin/iwrun -c build/steps.yaml -o results/graphs -j 1 --device "$device" --retries 0
	step_times results/graphs ', recorded'
	for method in $methods; do
		run=steps/full/clean-warped/$method/seed-1/metrics.csv
		paste -d , "results/$run" "results/graphs/$run" | awk -F , -v method="$method" '
			NR == 1 { for (i = 1; i <= NF / 2; i++) if ($i == "total_loss") loss = i }
			NR == 4 {
				off = ($loss - $(loss + NF / 2)) / $loss
				printf "%s: loss %s, recorded %s\n", method, $loss, $(loss + NF / 2)
				exit !(off < 0.05 && off > -0.05)
			}
		'
	done
}

# again makes runs a second time and says whether they have the same bits.
again() {
	experiment
	bin/iwrun -c build/steps.yaml -o results/again -j 1 --device "$device" --retries 0
	for method in $methods; do
		run=steps/full/clean-warped/$method/seed-1/weights.csv
		[ -s "results/graphs/$run" ] # without it there is nothing to compare
		if cmp -s "results/graphs/$run" "results/again/$run"; then echo "$method: the same bits"; else echo "$method: other bits"; fi
	done
}

# adapt predicts the classes of rows of numbers whose class shares differ from the source's.
adapt() {
	awk 'BEGIN {
		srand(1)
		for (set = 0; set < 2; set++) {
			file = set ? "build/target.csv" : "build/source.csv"
			print "a,b,c,d" (set ? "" : ",label") >file
			for (i = 0; i < 600; i++) {
				class = i % (set ? 6 : 3)
				if (class > 2) class = 0
				for (j = 0; j < 4; j++) printf "%s%.4f", j ? "," : "", 2 * (j == class) + rand() + rand() >file
				print set ? "" : "," class >file
			}
		}
	}'
	bin/iwrun adapt build/source.csv build/target.csv -o results/adapt --device "$device" --steps 300 -q
	[ "$(wc -l <results/adapt/predictions.csv)" -eq 601 ]
	head -n 5 results/adapt/classes.csv
}

# sharing compares the steps that eight runs make at once, each in a process, with those of one
# alone: taking turns, and under MPS, if it is here.
sharing() {
	experiment
	epochs=20
	[ "$device" = cuda ] || epochs=4
	rate alone 1
	rate 'in turns' 8
	if [ "$device" = cuda ] && command -v nvidia-cuda-mps-control; then
		CUDA_MPS_PIPE_DIRECTORY=$PWD/build/mps CUDA_MPS_LOG_DIRECTORY=$PWD/build/mps
		export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
		mkdir -p build/mps
		nvidia-cuda-mps-control -d
		trap 'echo quit | nvidia-cuda-mps-control' EXIT
		rate 'under MPS' 8
	fi
}

# rate prints how many steps a second that many runs make at once.
rate() {
	bin/iwrun -c build/steps.yaml -o "results/$1" -j "$2" --threads 1 --device "$device" --retries 0 \
		--set "seeds=[$(seq -s , "$2")]" --set train.epochs=$epochs --only '*/*/iwdan/*'
	cat "results/$1"/steps/full/clean-warped/iwdan/*/metrics.csv | awk -F , -v way="$2 runs, $1" '
		$1 == "epoch" { for (i = 1; i <= NF; i++) column[$i] = i; runs++; start = 0; next }
		$1 == 2 { start = $column["seconds"]; first = $column["step"] }
		start { steps[runs] = $column["step"] - first; seconds[runs] = $column["seconds"] - start }
		END { for (r in steps) rate += steps[r] / seconds[r]; printf "%s: %.0f steps a second\n", way, rate }
	'
}

resnet() {
	passes=10
	[ "$device" = cuda ] || passes=2
	(cd nets && ../bin/nets.test -test.run '^$' -test.bench ResNet50 -test.benchtime "${passes}x") | tee build/resnet
	[ "$(grep -c 'ns/op' build/resnet)" -eq 2 ] # a name that no benchmark has is no failure to go's tests
}
FUNCTIONS

export device
fact device "$device"
fact machine "$(uname -srm), $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
fact compiler "$(${CXX:-g++} --version 2>/dev/null | head -n 1)"
fact gpu "$(nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader 2>/dev/null | tr '\n' ';')"

part libtorch 30 find_libtorch
fact libtorch "$(sed -n "s/^libtorch_version='\(.*\)'/\1/p" build/libtorch.env 2>/dev/null), $(sed -n "s/^libtorch_origin='\(.*\)'/\1/p" build/libtorch.env 2>/dev/null)"
part compile 240 compile
part doctor 20 doctor
part losses 60 losses_tests
part nets 80 nets_tests
part torch 80 torch_tests
part steps 80 steps
part graphs 60 graphs
part again 40 again
part adapt 60 adapt
part sharing 60 sharing
part resnet 50 resnet
! awk -F '\t' '$2 != "passed"' build/parts | grep -q .
