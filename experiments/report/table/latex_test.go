//go:build latex

package table

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"iwda/experiments/config"
	"iwda/experiments/report/internal/sample"
	"iwda/experiments/report/sheet"
	"iwda/experiments/report/summary"
	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// TestLaTeXCompiles sets every kind of table of every experiment in configs/, without
// runs and with one of each, in one document. pdflatex must be installed, with booktabs.
func TestLaTeXCompiles(t *testing.T) {
	var document bytes.Buffer
	document.WriteString("\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n")
	add := func(what string, built sheet.Sheet) {
		document.WriteString("\n% " + what + "\n")
		if err := built.Write(&document, sheet.LaTeX); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		document.WriteString("\\clearpage\n")
	}
	files, err := filepath.Glob(filepath.Join("..", "..", "..", "configs", "*.yaml"))
	if err != nil || len(files) < 7 {
		t.Fatalf("experiments %q, error %v", files, err)
	}
	var all []summary.Selection
	for _, file := range files {
		experiment := loadExperiment(t, file)
		var results []store.Result
		for _, variant := range experiment.Variants {
			for _, task := range experiment.Tasks {
				for _, method := range experiment.Methods {
					one := sample.Result(variant, task, method, experiment.Seeds[0], 0.5, 0.25)
					one.Experiment = experiment.Experiment
					results = append(results, one)
				}
			}
		}
		results = sample.Detailed(results)
		for _, kind := range Kinds() {
			add(kind+" of nothing in "+file, Build(kind, nil, experiment))
			add(kind+" of "+file, Build(kind, sample.Runs(results...), experiment))
		}
		all = append(all, summary.Select(sample.Runs(results...), experiment))
	}
	add("average", Average(all))
	add("divergences", Divergences())
	document.WriteString("\\end{document}\n")

	folder := t.TempDir()
	testfiles.Write(t, filepath.Join(folder, "tables.tex"), document.String())
	latex := exec.Command("pdflatex", "-halt-on-error", "-interaction=nonstopmode", "tables.tex")
	latex.Dir = folder
	if out, err := latex.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out[max(0, len(out)-3000):])
	}
	if pdf, err := os.ReadFile(filepath.Join(folder, "tables.pdf")); err != nil || !bytes.HasPrefix(pdf, []byte("%PDF")) {
		t.Errorf("%d bytes and error %v instead of a PDF", len(pdf), err)
	}
}

func loadExperiment(t *testing.T, file string) config.Config {
	t.Helper()
	experiment := must.Have(config.Load(file))(t)
	return experiment.Config
}
