{{define "experiment" -}}
# Paths and variables of the experiment mean what they meant when this was written.
cd -- {{quote .Directory}} || exit
{{- range .Exports}}
{{.}}
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
