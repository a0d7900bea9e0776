#!/bin/bash
# Makes runs of the experiment digits, one a task. submit.sh, beside this file, submits it.
#
# 120 seconds before its time limit a task stops its run, which writes a checkpoint, and
# queues itself again, to go on from there. So it does when it is asked to end by a
# signal. A run that fails is not queued again.
#SBATCH --job-name=digits
#SBATCH --array=4%3
#SBATCH --output=logs/%A_%a.txt
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --signal=B:USR1@120
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=8
#SBATCH --time=4:00:00
#SBATCH --gres=gpu:1
set -u

# Paths and variables of the experiment mean what they meant when this was written.
cd -- '/home/me/my work' || exit
. '/home/me/my work/results/digits/slurm/variables-156417cf.sh' || exit
iwrun=/opt/iwda/iwrun
experiment=(
  --config '/home/me/my work/results/digits/slurm/experiment-fa085725.yaml'
  --results '/home/me/my work/results'
  --set 'methods=[dann, iwdan]'
  --set 'title=it'\''s $HOME'
)
# Tasks are numbered as `iwrun --dry-run` lists the runs, from 0 on.
index=$((SLURM_ARRAY_TASK_ID + 0))
task=${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID
echo "task $task: run $index, start $((${SLURM_RESTART_COUNT:-0} + 1)), on $(hostname)"

# Starts that find the same checkpoint as the one before were for nothing: either
# the time limit is too short for a first checkpoint, or the run ends its node.
starts='/home/me/my work/results/digits/slurm'/logs/$task.starts
step=$("$iwrun" status "${experiment[@]}" --index "$index" --format json | grep checkpoint_step)
echo "$step" >>"$starts"
if [ "$(tail -n 4 "$starts" | grep -cxF -- "$step")" -eq 4 ]; then
  echo "task $task: the last 3 starts brought no new checkpoint; give more --time, or see the run's log.txt" >&2
  exit 1
fi

stopping=no
interrupted=no
child=
ask() {
  # srun itself would end its processes; the first step of the job is theirs.
  scancel --signal=TERM "$SLURM_JOB_ID.0" || kill -TERM "$child"
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
# The processes that make the run together find each other at the first machine.
MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_ADDR MASTER_PORT=$((20000 + SLURM_JOB_ID % 20000))
member='RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS exec "$@"'
srun --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" bash -c "$member" iwrun \
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
