#!/bin/bash
# Makes the table of the experiment digits from the runs that are finished.
# submit.sh, beside this file, submits it to start after the last of them.
#SBATCH --job-name=digits-tables
#SBATCH --output=logs/tables-%j.txt
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=0:30:00
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
table='/home/me/my work/results'/digits/table.md
# The former table stays until there is a new one.
if ! "$iwrun" table "${experiment[@]}" >"$table.new"; then
  rm -f -- "$table.new"
  exit 1
fi
mv -- "$table.new" "$table"
