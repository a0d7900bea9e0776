package adapt

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
		seen, err := Look([]string{filepath.Join(root, "source")}, filepath.Join(root, "target"), Naming{})
		if err != nil {
			t.Fatal(err)
		}
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
	if got, want := d.rareClasses(d.Source), `"bee" has 2, "dog" has 0`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	d = Data{Source: Domain{Counts: make([]int, 13)}, Classes: strings.Split("abcdefghijklm", "")}
	if got := d.rareClasses(d.Source); strings.Count(got, " has 0") != 10 || !strings.HasSuffix(got, `"j" has 0, 3 more`) {
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
