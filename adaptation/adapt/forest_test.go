package adapt

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/internal/testfiles"
)

// A random forest predicts too where classes are those of a chequered board, and not where they are
// linear in many columns; asked for alone, it predicts alone. What makes no steps is made for the first seed alone.
func TestForestOrLinear(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for _, c := range []struct {
		name    string
		columns int
		set     string
		class   func(row []float64) bool
		used    []string
	}{
		{"chequered", 4, "methods=[source-only@linear, source-only@forest]", func(row []float64) bool { return (row[0] > 0) != (row[1] > 0) }, []string{"source-only@forest"}},
		{"linear", 30, "methods=[source-only@linear, source-only@forest]", func(row []float64) bool {
			sum := 0.0
			for _, v := range row {
				sum += v
			}
			return sum > 0
		}, []string{"source-only@linear"}},
		{"alone", 4, "methods=[source-only@forest]", func(row []float64) bool { return (row[0] > 0) != (row[1] > 0) }, []string{"source-only@forest"}},
	} {
		folder := t.TempDir()
		truth := map[string]string{}
		write := func(name string, rows int, labelled bool) string {
			var text strings.Builder
			text.WriteString("id")
			for j := range c.columns {
				fmt.Fprintf(&text, ",c%d", j)
			}
			text.WriteString(map[bool]string{true: ",label\n", false: "\n"}[labelled])
			for i := range rows {
				row := make([]float64, c.columns)
				fmt.Fprintf(&text, "%s-%d", name, i)
				for j := range row {
					row[j] = random.NormFloat64()
					fmt.Fprintf(&text, ",%.4f", row[j])
				}
				class := map[bool]string{true: "cat", false: "dog"}[c.class(row)]
				if labelled {
					text.WriteString("," + class)
				} else {
					truth[fmt.Sprintf("%s-%d", name, i)] = class
				}
				text.WriteString("\n")
			}
			path := filepath.Join(folder, name+".csv")
			testfiles.Write(t, path, text.String())
			return path
		}
		o := Options{Folder: filepath.Join(folder, "out"), Set: []string{c.set, "seeds=[1, 2]"}}
		outcome, err := runHere(context.Background(), write("source", 500, true), write("target", 400, false), o)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var used []string
		for _, run := range outcome.Used {
			if name := filepath.Base(filepath.Dir(run)); !slices.Contains(used, name) {
				used = append(used, name)
			}
		}
		right := 0.0
		for _, line := range lines(t, filepath.Join(o.Folder, names.Predictions))[1:] {
			cells := strings.Split(line, ",")
			if truth[cells[0]] == cells[1] {
				right++
			}
		}
		if !slices.Equal(used, c.used) || len(outcome.Used) != len(c.used) || right/400 < 0.9 {
			t.Errorf("%s: %v predict, want %v; %v are right", c.name, outcome.Used, c.used, right/400)
		}
	}
}
