#!/bin/sh
# Makes the paper's digits that are still missing on this machine's GPU, many runs at a time
# under MPS, and packs what has finished. Needs the kit's libraries, which cuda-check.sh
# compiles, and the images in $IWDA_DATA/digits.
#
# usage: sh cuda-runs.sh SECONDS [JOBS [cuda|cpu]]
#
# It ends after SECONDS and leaves runs.tar.gz: result.json, metrics.csv and weights.csv of
# every finished run, in the folders of research/; those that train longer are in long/, beside
# the first epochs of the same in research/. What is finished in results/ and long/, as what was
# copied there from research/, is not made again.
set -eu

cd "$(dirname "$0")"
seconds=$1
jobs=${2:-16}
device=${3:-cuda}

runs() {
	experiment=$1
	folder=$2
	shift 2
	left=$((end - $(date +%s)))
	[ "$left" -gt 0 ] || return 0
	timeout --signal=INT --kill-after=20 "$left" bin/iwrun -c "configs/$experiment.yaml" -o "$folder" \
		-j "$jobs" --threads 1 --device "$device" --retries 0 "$@" >>"logs/$experiment.txt" 2>&1 || true
}

mkdir -p logs results long
end=$(($(date +%s) + seconds))
if [ "$device" = cuda ] && command -v nvidia-cuda-mps-control >/dev/null; then
	CUDA_MPS_PIPE_DIRECTORY=$PWD/build/mps CUDA_MPS_LOG_DIRECTORY=$PWD/build/mps
	export CUDA_MPS_PIPE_DIRECTORY CUDA_MPS_LOG_DIRECTORY
	mkdir -p build/mps
	nvidia-cuda-mps-control -d
	trap 'echo quit | nvidia-cuda-mps-control' EXIT
fi
runs digits-jsd results --set train.epochs=8
runs digits-jsd long --only '*[05]/*/dann/*' --only '*[05]/*/iwdan/*'
runs digits-jsd long --only '*[05]/*/iwdan-o/*'
runs ablation long --only 'subsampled/*/*+w*/*'
find results long -name result.json -exec dirname {} ';' | sed 's|.*|&/result.json\n&/metrics.csv\n&/weights.csv|' | tar -czf runs.tar.gz -T -
printf 'runs.tar.gz: %s runs\n' "$(find results long -name result.json | wc -l)"
