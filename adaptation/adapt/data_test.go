package adapt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Folders of a target are classes where they are called as the source's, and else none.
func TestLookAtImages(t *testing.T) {
	for name, test := range map[string]struct {
		target []string
		counts []int // of ten times as many
	}{
		"one folder":           {[]string{"1.png", "2.png"}, []int{0, 0}},
		"folders of something": {[]string{"2023/1.png", "2024/2.png", "2025/3.png", "4.png"}, []int{0, 0}},
		"folders of classes":   {[]string{"dog/1.png", "cat/2.png", "dog/3.png"}, []int{10, 20}},
		"one class":            {[]string{"dog/1.png"}, []int{0, 10}},
	} {
		root := t.TempDir()
		for _, path := range slices.Concat(below("source", "cat/1.png", "cat/2.png", "cat/3.png", "dog/1.png", "dog/2.png", "dog/3.png"), below("target", test.target...)) {
			testfiles.Write(t, filepath.Join(root, path), "")
			for i := range 9 {
				testfiles.Write(t, filepath.Join(root, fmt.Sprintf("%s-%d.png", path, i)), "")
			}
		}
		seen := must.Have(Look([]string{filepath.Join(root, "source")}, filepath.Join(root, "target"), Naming{}))(t)
		if seen.Source.Rows != 60 || !slices.Equal(seen.Classes, []string{"cat", "dog"}) || seen.Target.Rows != 10*len(test.target) || !slices.Equal(seen.Target.Counts, test.counts) {
			t.Errorf("%s: %+v", name, seen)
		}
	}
}

func below(folder string, paths ...string) []string {
	for i, path := range paths {
		paths[i] = filepath.Join(folder, path)
	}
	return paths
}

// Classes with too few rows are named all at once, as one mends them, but for very many.
func TestRareClasses(t *testing.T) {
	d := Data{Source: Domain{Counts: []int{3, 2, 70, 0}}, Classes: []string{"ant", "bee", "cat", "dog"}}
	got, of := d.rareClasses(d.Source)
	if want := `"bee" has 2, "dog" has 0`; got != want || of != "rows" {
		t.Errorf("%s, want %s", got, want)
	}
	d = Data{Source: Domain{Counts: make([]int, 13)}, Classes: strings.Split("abcdefghijklm", "")}
	if got, _ := d.rareClasses(d.Source); strings.Count(got, " has 0") != 10 || !strings.HasSuffix(got, `"j" has 0, 3 more`) {
		t.Error(got)
	}
}

// An image beside the folders of classes is named.
func TestImageWithoutClass(t *testing.T) {
	root := t.TempDir()
	for _, path := range append(below("s", "cat/1.png", "cat/2.png", "cat/3.png", "dog/1.png", "dog/2.png", "dog/3.png", "stray.png"), "t/1.png") {
		testfiles.Write(t, filepath.Join(root, path), "")
	}
	source := filepath.Join(root, "s")
	if _, err := Look([]string{source}, filepath.Join(root, "t"), Naming{}); err == nil || !strings.HasPrefix(err.Error(), filepath.Join(source, "stray.png")+": 1 of 7 rows has no label") {
		t.Error(err)
	}
}

// A column of which the target has no word, or no date within the source's, is left out and named, after it was asked
// whether it says which rows belong together; the experiment file says so.
func TestColumnsApart(t *testing.T) {
	rows := func(first, year int, who string, label bool) string {
		text := "when,who,x,y"
		if label {
			text += ",label"
		}
		for i := range 60 {
			text += fmt.Sprintf("\n%d-03-%02d,%s%d,%d,%d", year, 1+i%28, who, i%6, i%7, (i+first)%5)
			if label {
				text += fmt.Sprintf(",c%d", i/12%2)
			}
		}
		return writeFile(t, t.TempDir(), "rows.csv", text+"\n")
	}
	source, target := rows(0, 2024, "n", true), rows(3, 2025, "m", false)
	d := must.Have(Look([]string{source}, target, Naming{}))(t)
	want := []string{
		`Column "when" is left out: its dates are from 2024-03-01 to 2024-03-28, and all of ` + target + ` from 2025-03-01 to 2025-03-28.`,
		`Column "who" is left out: none of its words is in ` + target + `.`,
	}
	if diff := cmp.Diff(want, d.Learnt.LeftOut); diff != "" {
		t.Error(diff)
	}
	if d.Width != 2 || d.belong.outside != "" {
		t.Errorf("%d values, %q", d.Width, d.belong.outside)
	}
	text := must.Have(d.Experiment(Options{}))(t)
	if n := strings.Count(string(text), "ignore: [when, who]"); n != 2 {
		t.Errorf("%d times:\n%s", n, text)
	}
}
