package command

import (
	"encoding/csv"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// Rows in another order, columns in another order, other names of classes and a column that is no class's
// leave the estimates as they are, but for rounding where sums have another order; research/torture/metamorphic.md
// has all such relations.
func TestMetamorphic(t *testing.T) {
	inPhotos(t, 300, 300)
	source, target := string(testfiles.Read(t, "source.csv")), string(testfiles.Read(t, "target.csv"))
	reversed := func(text string) string {
		return testfiles.Cells(t, text, func(rows [][]string) { slices.Reverse(rows[1:]) })
	}
	columns := func(text string) string {
		return testfiles.Cells(t, text, func(rows [][]string) {
			for _, row := range rows {
				slices.Reverse(row)
			}
		})
	}
	renamed := func(text string) string {
		return strings.NewReplacer("cat", "zebra", "dog", "ant", "owl", "m").Replace(text)
	}
	constant := func(text string) string {
		return testfiles.Cells(t, text, func(rows [][]string) {
			for i := range rows {
				rows[i] = append(rows[i], map[bool]string{true: "extra", false: "7"}[i == 0])
			}
		})
	}
	estimates := func(source, target string) (numbers []float64) {
		testfiles.Write(t, "source.csv", source)
		testfiles.Write(t, "target.csv", target)
		status, out, said := callLine(t, onPhotos+" --replicas 0 --format csv")
		rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
		if status != 0 || err != nil || len(rows) != 4 {
			t.Fatalf("status %d, %v\n%s%s", status, err, out, said)
		}
		of := map[string][]float64{}
		for _, row := range rows[1:] {
			var class string
			for j, cell := range row {
				if n, err := strconv.ParseFloat(cell, 64); rows[0][j] == "class" {
					class = cell
				} else if err == nil {
					of[class] = append(of[class], n)
				}
			}
		}
		for i, name := range []string{"cat", "dog", "owl"} {
			if of[name] == nil {
				name = []string{"zebra", "ant", "m"}[i]
			}
			numbers = append(numbers, of[name]...)
		}
		return numbers
	}
	want := estimates(source, target)
	for name, c := range map[string]struct {
		source, target string
		within         float64
	}{
		"the same":           {source, target, 0},
		"rows of the source": {reversed(source), target, 1e-9},
		"rows of the target": {source, reversed(target), 1e-9},
		"columns":            {columns(source), columns(target), 1e-9},
		"target's columns":   {source, columns(target), 0},
		"names of classes":   {renamed(source), renamed(target), 0},
		"a constant column":  {constant(source), constant(target), 0},
	} {
		got := estimates(c.source, c.target)
		for i := range want {
			if len(got) != len(want) || len(got) < 12 || math.Abs(got[i]-want[i]) > c.within {
				t.Errorf("%s in another order, or other ones: %v, want %v", name, got, want)
				break
			}
		}
	}
}
