#!/bin/bash
# Makes runs of the experiment digits, one a task. submit.sh, beside this file, submits it.
#
# 120 seconds before its time limit a task stops its run, which writes a checkpoint, and
# queues itself again, to go on from there. So it does when it is asked to end by a
# signal. A run that fails is not queued again.
#SBATCH --job-name=digits
#SBATCH --array=1,3-4%3
#SBATCH --output=logs/%A_%a.txt
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=4:00:00
#SBATCH --gres=gpu:1
set -u

# Paths of the experiment mean what they meant when this was written, and variables what they did when
# submit.sh was called, as sbatch hands on its environment.
cd -- '/home/me/my work' || exit
iwrun=/opt/iwda/iwrun
experiment=(
  --config '/home/me/my work/results/digits/slurm/experiment-fa085725.yaml'
  --results '/home/me/my work/results'
  --set 'methods=[dann, iwdan]'
  --set 'title=it'\''s $HOME'
)
# Tasks are numbered as `iwrun --dry-run` lists the runs, from number 1001 on.
index=$((SLURM_ARRAY_TASK_ID + 1001))
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
echo "task $task: run $index, start $((${SLURM_RESTART_COUNT:-0} + 1)), on $(hostname)"

# Starts that find the same checkpoint as the one before were for nothing: either
# the time limit is too short for a first checkpoint, or the run ends its node.
starts='/home/me/my work/results/digits/slurm'/logs/$task.starts
run=$("$iwrun" status "${experiment[@]}" --index "$index" | awk -v number="$index" '$1 == number { print $2 }')
checkpoint=$(stat --format=%y -- '/home/me/my work/results'/digits/"$run"/checkpoint.safetensors 2>/dev/null)
echo "$checkpoint" >>"$starts"
if [ "$(tail -n 4 "$starts" | grep -cxF -- "$checkpoint")" -eq 4 ]; then
  echo "task $task: the last 3 starts brought no new checkpoint; give more --time, or see the run's log.txt" >&2
  exit 1
fi

stopping=no
interrupted=no
child=
ask() {
  kill -TERM "$child"
}
stop() {
  stopping=yes
  interrupted=yes
  [ -z "$child" ] || ask
}
trap stop USR1 TERM

# A GPU is used where one was asked for; one that does not work is an error.
device=cpu
[ -z "${SLURM_JOB_GPUS:-}" ] || device=cuda
"$iwrun" "${experiment[@]}" --index "$index" --jobs 1 --device "$device" --threads "${SLURM_CPUS_PER_TASK:-1}" --checkpoint-every=10m --overwrite=true &
child=$!
[ "$stopping" = no ] || ask

# A signal ends wait early, and only then is there something to wait for again.
while :; do
  interrupted=no
  wait "$child"
  status=$?
  [ "$interrupted" = yes ] || break
done

# Status 130 is that of a run with a checkpoint; 143 was too early for one. A task that
# is cancelled, or that Slurm itself queues again, is not RUNNING any more.
if [ "$stopping" = yes ] && { [ "$status" -eq 130 ] || [ "$status" -eq 143 ]; }; then
  if [ "$(squeue --noheader --format=%T --job="$task")" = RUNNING ]; then
    echo "task $task: queued again"
    scontrol requeue "$task" && exit
  fi
fi
exit "$status"
