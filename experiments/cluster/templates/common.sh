{{define "experiment" -}}
# Paths and variables of the experiment mean what they meant when this was written.
cd -- {{quote .Directory}} || exit
{{- if .VariablesPath}}
. {{quote .VariablesPath}} || exit
{{- end}}
iwrun={{quote .Program}}
experiment=(
  --config {{quote .ConfigPath}}
  --results {{quote .Results}}
{{- range .Set}}
  --set {{quote .}}
{{- end}}
)
{{- end}}
