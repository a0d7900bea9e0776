#!/bin/bash
# Makes the table of the experiment {{.Name}} from the runs that are finished.
# submit.sh, beside this file, submits it to start after the last of them.
#SBATCH --job-name={{.Name}}-tables
#SBATCH --output=logs/tables-%j.txt
#SBATCH --nodes=1
#SBATCH --ntasks=1
{{- range .TableOptions}}
#SBATCH {{.}}
{{- end}}
set -u

{{template "experiment" .}}
table={{quote .Results}}/{{.Name}}/table.md
# The former table stays until there is a new one.
if ! "$iwrun" table "${experiment[@]}" >"$table.new"; then
  rm -f -- "$table.new"
  exit 1
fi
mv -- "$table.new" "$table"
