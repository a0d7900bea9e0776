#!/bin/bash
# Submits the runs of the experiment digits, and the tables to be made after them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
mkdir -p logs

arrays=
submit() { # script [option of sbatch]...
  job=$(sbatch --parsable "${@:2}" "$1")
  job=${job%%;*} # behind it stands the cluster's name, where there are several
  echo "$1: job $job"
}
submit array-1.sh
arrays+=:$job
submit array-2.sh --dependency="afterany:$job"
arrays+=:$job
submit tables.sh --dependency="afterany$arrays"
