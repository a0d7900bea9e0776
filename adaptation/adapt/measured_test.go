package adapt

import (
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Labels of the target say how many predictions are right, in whatever order classes come, and choose
// nothing: what is predicted is what it is without them.
func TestMeasuredByLabels(t *testing.T) {
	source, target := bothDomains(t)
	text := testfiles.Read(t, target)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")[1:]
	truth := func(row int) string {
		if row < 30 {
			return "cat"
		}
		return "dog"
	}
	without := ""
	for _, c := range []struct {
		name     string
		labelled func(row int) bool
		labels   int
	}{
		{"none", func(int) bool { return false }, 0},
		{"some", func(row int) bool { return row%2 == 0 }, 60},
		{"all", func(int) bool { return true }, 120},
	} {
		withLabels := filepath.Join(t.TempDir(), "target.csv")
		var b strings.Builder
		b.WriteString("x,y,label\n")
		for row, line := range lines {
			b.WriteString(line + ",")
			if c.labelled(row) {
				b.WriteString(truth(row))
			}
			b.WriteString("\n")
		}
		testfiles.Write(t, withLabels, b.String())
		folder := filepath.Join(t.TempDir(), "out")
		outcome, err := runHere(context.Background(), source, withLabels, Options{Folder: folder, Set: []string{"methods=[source-only]", "seeds=[1]", "train.epochs=8", "network.features=8"}})
		if err != nil {
			t.Fatal(err)
		}
		predictions := testfiles.Read(t, filepath.Join(folder, names.Predictions))
		if without == "" {
			without = string(predictions)
		}
		if string(predictions) != without {
			t.Errorf("%s: other predictions than without labels", c.name)
		}
		records := must.Have(csv.NewReader(strings.NewReader(string(predictions))).ReadAll())(t)
		right := 0
		for row, record := range records[1:] {
			if c.labelled(row) && record[1] == truth(row) {
				right++
			}
		}
		_, err = os.Stat(filepath.Join(folder, names.ToLabel))
		if drawn := err == nil; drawn != (c.name != "all") || drawn != (outcome.Files["to_label"] != "") {
			t.Errorf("%s: to_label.csv is there: %v", c.name, drawn)
		}
		report := testfiles.Read(t, filepath.Join(folder, names.Report))
		m := outcome.Measured
		if c.labels == 0 {
			if m != nil || !strings.Contains(string(report), "No target label was used.") {
				t.Errorf("%s: %+v", c.name, m)
			}
			continue
		}
		if m == nil || m.Rows != 120 || m.Labels != c.labels || m.Right != right || m.Low > m.Value || m.High < m.Value || (m.Low == m.High) != (c.name == "all") {
			t.Fatalf("%s: %+v, want %d right", c.name, m, right)
		}
		if !strings.Contains(string(report), "<dt>Accuracy by the target's ") {
			t.Errorf("%s: not in the report", c.name)
		}
	}
}
