package labelshift

import (
	"encoding/csv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/datasets/table"
	"iwda/experiments/report/sheet"
	"iwda/internal/must"
)

// Each class's rows have it in their sets as often as was asked for, though cats are rarer in the target
// than in the source; that file, table and JSON say the same.
func TestSets(t *testing.T) {
	const n, level = 2000, 0.9
	folder, random := t.TempDir(), rand.New(rand.NewPCG(5, 6))
	probabilities, labels := three.SourceRows(3*n, random)
	source := writeRows(t, filepath.Join(folder, "s.csv"), animals, probabilities[:n*3], labels[:n])
	var values []float64
	var hidden []int
	for i, class := range labels[n:] {
		if class > 0 || i%5 == 0 {
			values, hidden = append(values, probabilities[(n+i)*3:(n+i+1)*3]...), append(hidden, class)
		}
	}
	held, target := read(t, source, writeRows(t, filepath.Join(folder, "t.csv"), animals, values, nil))
	settings := withoutIntervals()
	settings.Sets = level
	a := analyse(t, held, target, settings)
	path := filepath.Join(folder, "corrected.csv")
	must.Do(t, a.WriteCorrected(path))
	var rows, has [3]int
	sizes := make([]int, 4)
	place, row := -1, 0
	must.Do(t, table.ReadText(path, func(columns []string) error {
		place = slices.Index(columns, "set")
		return nil
	}, func(_ int, cells []string) error {
		set := strings.Split(cells[place], " | ")
		if cells[place] == "" {
			set = nil
		}
		sizes[len(set)]++
		class := hidden[row]
		row++
		if rows[class]++; slices.Contains(set, animals[class]) {
			has[class]++
		}
		return nil
	}))
	for class := range animals {
		if share := float64(has[class]) / float64(rows[class]); share < level-0.06 || share > level+0.06 {
			t.Errorf("%d of %d rows of %s have it in their sets", has[class], rows[class], animals[class])
		}
	}
	if !slices.Equal(sizes, a.Sets.Sizes) {
		t.Errorf("sets of sizes %v, want %v", sizes, a.Sets.Sizes)
	}
	facts := factsOf(t, a.Sheet())
	if facts["sets.level"] != level || facts["sets.rows_by_size"].([]any)[1] != float64(a.Sets.Sizes[1]) || facts["sets.classes_in_every_set"] != nil {
		t.Errorf("%v", facts)
	}
}

// A class with too few held-out rows, or groups of them, is in every set, and named.
func TestSetsOfRareClasses(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, lines [][]string) string {
		file := must.Have(os.Create(filepath.Join(folder, name)))(t)
		defer file.Close()
		must.Do(t, csv.NewWriter(file).WriteAll(lines))
		return file.Name()
	}
	source, target := [][]string{{"probability_cat", "probability_dog", "label", "patient"}}, [][]string{{"probability_cat", "probability_dog"}}
	for i := range 90 {
		line := []string{"0.9", "0.1", "cat", string(rune('A' + i%40))}
		if i%3 == 0 {
			line = []string{"0.2", "0.8", "dog", string(rune('a' + i%4))}
		}
		source, target = append(source, line), append(target, line[:2])
	}
	for _, of := range []struct {
		groups string
		level  float64
		every  []string
	}{{"", 0.9, nil}, {"patient", 0.9, []string{"dog"}}, {"", 0.98, []string{"dog"}}, {"", 0.99, []string{"cat", "dog"}}} {
		settings, options := withoutIntervals(), table.Options{Roles: table.Roles{Group: of.groups}}
		settings.Sets = of.level
		held := must.Have(ReadSource(write("s.csv", source), options))(t)
		rows := must.Have(ReadTarget(write("t.csv", target), options, held))(t)
		a := analyse(t, held, rows, settings)
		var text strings.Builder
		must.Do(t, a.Sheet().Write(&text, sheet.Markdown))
		if !slices.Equal(a.Sets.Everywhere, of.every) || strings.Contains(text.String(), "are in every set") != (of.every != nil) {
			t.Errorf("groups %q, level %v: in every set %v, want %v\n%s", of.groups, of.level, a.Sets.Everywhere, of.every, text.String())
		}
	}
}

// A level that is none is an error.
func TestLevelsOfSets(t *testing.T) {
	for _, level := range []float64{-0.1, 1, 2} {
		settings := withoutIntervals()
		if settings.Sets = level; settings.Check() == nil {
			t.Errorf("sets of %v pass", level)
		}
	}
}
