#!/bin/bash
# Submits the runs of the experiment {{.Name}}, and the tables to be made after them.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
mkdir -p logs

arrays=
submit() { # script [option of sbatch]...
  job=$(sbatch --parsable "${@:2}" "$1")
  job=${job%%;*} # behind it stands the cluster's name, where there are several
  echo "$1: job $job"
}
{{- range $i, $name := .Arrays}}
submit {{$name}}{{if and $i $.AtOnce}} --dependency="afterany:$job"{{end}}
arrays+=:$job
{{- end}}
submit tables.sh --dependency="afterany$arrays"
