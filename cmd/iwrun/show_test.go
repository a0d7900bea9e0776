package main

import (
	"os"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// The exit status tells what is wrong with the command line or the input, 2, from what failed, 1,
// and what is said names the file and what to do.
func TestExitStatus(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	testfiles.Write(t, "tiny.yaml", tiny)
	testfiles.Write(t, "broken.csv", "x,y,label\n1,2,ant\n1,two\n")
	testfiles.Write(t, "numbers.csv", "1,2\n3,4\n")
	testfiles.Write(t, "predictions.csv", "id,predicted_class,probability\na,ant,0.9\nb,bee,0.8\n")
	testfiles.Write(t, "labels.csv", "id,label\na,ant\nc,bee\n")
	testfiles.MakeFolder(t, "empty")
	missing := ": no such file or folder; "
	for line, want := range map[string]struct {
		status int
		said   string
	}{
		"":                                        {0, ""},
		"help":                                    {0, ""},
		"help data check":                         {0, ""},
		"--version":                               {0, ""},
		"version":                                 {0, ""},
		"data list":                               {0, ""},
		"run -c tiny.yaml --dry-run":              {0, "2 runs"},
		"table -c tiny.yaml":                      {1, "no run is finished"},
		"figure -c tiny.yaml":                     {1, "no run is finished"},
		"frobnicate":                              {2, `"frobnicate" is neither a flag nor a command`},
		"help frobnicate":                         {2, `"frobnicate" is no command of iwrun; choose from check-data, adapt, show, predict, evaluate, labelshift, watch, export, run, status, table, figure, data, slurm, doctor, completion` + "\n"},
		"adapt":                                   {2, "name a source and a target, or one file with both and --domain-column"},
		"adapt a b c":                             {2, "one too many"},
		"adapt source.csv target.csv --steps 0":   {2, "--steps 0: a run takes one step or more"},
		"adapt a b --source c":                    {2, "one too many"},
		"adapt source.csv trget.csv":              {2, "trget.csv" + missing + "did you mean"},
		"adapt nowhere/a.csv b":                   {2, "a.csv" + missing + "there is no folder"},
		"adapt source.csv target.txt":             {2, "target.txt" + missing},
		"adapt broken.csv target.csv":             {2, "broken.csv:3: 2 columns; the first line names 3"},
		"adapt numbers.csv target.csv":            {2, "numbers.csv:1: the first line holds numbers alone"},
		"adapt target.csv source.csv":             {2, "label"},
		"adapt source.csv empty":                  {2, "empty"},
		"adapt a b --dry-run --json":              {2, "--dry-run trains nothing"},
		"run -c tiny.yml":                         {2, "-c: tiny.yml" + missing + "did you mean tiny.yaml?"},
		"table -c numbers.csv":                    {2, "numbers.csv:1"},
		"predict empty a.csv -o b.csv":            {2, "empty is no model"},
		"predict nothing a -o b.csv":              {2, "nothing" + missing},
		"export empty --onnx a.onnx":              {2, "empty is no model"},
		"evaluate nothing labels.csv":             {2, "nothing" + missing},
		"evaluate predictions.csv none":           {2, "none" + missing},
		"evaluate predictions.csv broken.csv":     {2, "want id and label"},
		"evaluate predictions.csv labels.csv":     {2, `labels.csv:3: id "c" is not among the 2 rows`},
		"evaluate predictions.csv a.csv --choose": {2, "no methods to choose from"},
		"labelshift sources.csv target.csv":       {2, "iwrun: sources.csv" + missing + "did you mean source.csv?"},
		"labelshift numbers.csv target.csv":       {2, "numbers.csv:1"},
		"labelshift a b c":                        {2, "one too many"},
		"labelshift --run empty":                  {2, "empty"},
		"show":                                    {2, "name one folder"},
		"show source.csv":                         {2, "source.csv is a file; name the folder"},
		"show nothing":                            {2, "nothing" + missing},
		"show empty":                              {2, "empty holds no outcome of iwrun adapt"},
		"show empty --json":                       {2, "empty holds no outcome of iwrun adapt"},
		"completion ksh":                          {2, "one of bash, fish, zsh"},
		"data check digit":                        {2, "digits"},
	} {
		status, _, said := call(t, strings.Fields(line)...)
		if status != want.status || !strings.Contains(said, want.said) || want.said == "" && said != "" {
			t.Errorf("%q: status %d, want %d; %q is to be in\n%s", line, status, want.status, want.said, said)
		}
	}
	if _, err := os.Stat("adapt-out"); err == nil {
		t.Error("something was written")
	}
}
