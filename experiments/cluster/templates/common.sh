{{define "experiment" -}}
# Paths of the experiment mean what they meant when this was written, and variables what they did when
# submit.sh was called, as sbatch hands on its environment.
cd -- {{quote .Directory}} || exit
iwrun={{quote .Program}}
experiment=(
  --config {{quote .ConfigPath}}
  --results {{quote .Results}}
{{- range .Set}}
  --set {{quote .}}
{{- end}}
)
{{- end}}
