package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// What means the same gives the same predictions: columns in another order or of another unit, a column that
// says nothing, rows of new data in another order; research/torture/metamorphic.md has all such relations.
func TestMetamorphic(t *testing.T) {
	t.Chdir(t.TempDir())
	writeDomains(t)
	domains := [2]string{string(testfiles.Read(t, "source.csv")), string(testfiles.Read(t, "target.csv"))}
	predictions := func(path string) map[string][]string {
		rows, err := csv.NewReader(strings.NewReader(readFile(t, path))).ReadAll()
		if err != nil || len(rows) != 601 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		of := map[string][]string{}
		for _, row := range rows[1:] {
			of[row[0]] = row[1:]
		}
		return of
	}
	each := func(change func(row []string, first bool) []string) func(string) string {
		return func(text string) string {
			return testfiles.Cells(t, text, func(rows [][]string) {
				for i := range rows {
					rows[i] = change(rows[i], i == 0)
				}
			})
		}
	}
	same := func(text string) string { return text }
	columns := each(func(row []string, _ bool) []string { slices.Reverse(row); return row })
	scaled := func(name string, factor float64) func(string) string {
		at := -1
		return each(func(row []string, first bool) []string {
			if first {
				at = slices.Index(row, name)
			} else {
				n, _ := strconv.ParseFloat(row[at], 64)
				row[at] = fmt.Sprint(n * factor)
			}
			return row
		})
	}
	constant := each(func(row []string, first bool) []string {
		return append(row, map[bool]string{true: "extra", false: "7"}[first])
	})
	rows := func(text string) string {
		return testfiles.Cells(t, text, func(rows [][]string) { slices.Reverse(rows[1:]) })
	}
	compare := func(name string, got, want map[string][]string, within float64) {
		for id, row := range want {
			for j, cell := range row {
				n, err := strconv.ParseFloat(cell, 64)
				if m, _ := strconv.ParseFloat(got[id][j], 64); err == nil && math.Abs(m-n) > within || err != nil && got[id][j] != cell {
					t.Errorf("%s: row %s is %q, and was %q", name, id, got[id], row)
					return
				}
			}
		}
	}
	var want map[string][]string
	for _, c := range []struct {
		name           string
		source, target func(string) string
		within         float64
	}{
		{"first", same, same, 0}, {"same", same, same, 0}, {"columns of the target", same, columns, 0}, {"columns of both", columns, columns, 1e-5},
		{"a column × 1024", scaled("x", 1024), scaled("x", 1024), 0}, {"a column × 1000", scaled("y", 1000), scaled("y", 1000), 1e-4}, {"a constant column", constant, constant, 1e-5},
	} {
		testfiles.Write(t, "source.csv", c.source(domains[0]))
		testfiles.Write(t, "target.csv", c.target(domains[1]))
		out := strings.ReplaceAll(c.name, " ", "-")
		succeed(t, "adapt", "source.csv", "target.csv", "-o", out, "--quiet", "--device", "cpu", "--set", "methods=[source-only@linear]", "--set", "seeds=[1]", "--steps", "60")
		got := predictions(out + "/predictions.csv")
		if want == nil {
			want = got
		}
		compare(c.name, got, want, c.within)
	}
	for name, change := range map[string]func(string) string{"rows": rows, "columns": columns, "constant": constant} {
		testfiles.Write(t, name+".csv", change(domains[1]))
		succeed(t, "predict", "first", name+".csv", "-o", name+"-out.csv", "--batch", "7", "--device", "cpu")
		compare("predict: "+name, predictions(name+"-out.csv"), want, 1e-6)
	}
}

// The order of a batch's rows changes nothing that is watched.
func TestWatchOfRowsInAnotherOrder(t *testing.T) {
	inNights(t)
	metrics := func(state string) string {
		if status, _, said := call(t, append(nightly[:8:8], "--state", state, "--metrics", state+".prom", "--time-column", "when")...); status != 0 && status != 3 {
			t.Fatalf("status %d: %s", status, said)
		}
		return readFile(t, state+".prom")
	}
	want := metrics("a.json")
	for night := range 6 {
		name := fmt.Sprintf("night%d.csv", night)
		testfiles.Write(t, name, testfiles.Cells(t, readFile(t, name), func(rows [][]string) { slices.Reverse(rows[1:]) }))
	}
	if got := metrics("b.json"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
