package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/experiments/store"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// drawTo writes the figure to each path.
func drawTo(t *testing.T, figure Figure, paths ...string) {
	t.Helper()
	for _, path := range paths {
		var b bytes.Buffer
		must.Do(t, figure.Write(&b))
		testfiles.Write(t, path, b.String())
	}
}

// drawAll writes the figures into the folder, and returns the paths.
func drawAll(t *testing.T, figures []Figure, folder string) (paths []string) {
	t.Helper()
	for _, f := range figures {
		paths = append(paths, filepath.Join(folder, f.Name+".svg"))
		drawTo(t, f, paths[len(paths)-1])
	}
	return paths
}

// storedRuns writes the results' metrics below root.
func storedRuns(t *testing.T, root string, results []store.Result) []store.Run {
	t.Helper()
	var runs []store.Run
	for _, r := range results {
		run := store.Run{Dir: store.NewDir(root, r.Experiment, store.ID{Variant: r.Variant, Task: r.Task, Method: r.Method, Seed: r.Seed}.String()), Result: r}
		must.Do(t, run.Dir.Begin())
		must.Do(t, run.Dir.WriteMetrics(metrics(0.1, r.BestAccuracy.Value, r.LastAccuracy.Value)))
		runs = append(runs, run)
	}
	return runs
}

// TestFigures: what is missing, foreign or broken is left out, and what is broken is
// said.
func TestFigures(t *testing.T) {
	folder := t.TempDir()
	results := detailed(append(digitsResults(), resultOf("subsampled", "usps-mnist", "cdan", 1, 1, 1)))
	runs := storedRuns(t, t.TempDir(), results)
	broken := runs[0].Dir.Path(store.MetricsFile) // the only one of source-only
	testfiles.Write(t, broken, "x\n")
	figures, err := Figures(runs, digitsSample())
	must.Fail(t, err, broken)
	paths := drawAll(t, figures, folder)
	var want []string
	for _, place := range []string{"full-mnist-usps", "subsampled-mnist-usps", "subsampled-usps-mnist"} {
		want = append(want, filepath.Join(folder, "curves-"+place+".svg"))
	}
	if diff := cmp.Diff(want, paths); diff != "" {
		t.Fatal(diff)
	}
	texts := svgTexts(t, filepath.Join(folder, "curves-subsampled-usps-mnist.svg"))
	for label, there := range map[string]bool{"digits: subsampled, usps-mnist": true, "dann": true, "iwdan": true, "source-only": false, "cdan": false} {
		if strings.Contains(texts, "\n"+label+"\n") != there {
			t.Errorf("label %q: want %v in%s", label, there, texts)
		}
	}
	if figures, err := Figures(nil, digitsSample()); len(figures) != 0 || err != nil {
		t.Errorf("without runs: %v, %v", figures, err)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content := testfiles.Read(t, path)
	return content
}

// svgTexts returns the texts of the drawing, each between line feeds.
func svgTexts(t *testing.T, path string) string {
	t.Helper()
	var texts strings.Builder
	decoder := xml.NewDecoder(bytes.NewReader(read(t, path)))
	inText := false
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts.String() + "\n"
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
		case xml.EndElement:
			inText = false
		case xml.CharData:
			if inText {
				texts.WriteString("\n" + string(token) + "\n")
			}
		}
	}
}
