package labels

import (
	"path/filepath"
	"testing"

	"iwda/internal/testfiles"
)

// Whatever a file holds, it is read or refused, and what is read has each id once.
func FuzzRead(f *testing.F) {
	f.Add("id,label\n1,cat\n2,dog\n")
	f.Add("id;class;confidence;label\n1;cat;0,5;dog\n2;cat;0,5;dog\n")
	f.Add("\xef\xbb\xbflabel\tids\n\"a\nb\"\t1\n-1\t2\n")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "labels.csv")
		testfiles.Write(t, path, text)
		StateOf(path)
		got, err := Read(path, []string{"cat", "dog"}, "out", "")
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, l := range got.Rows {
			if seen[l.ID] || l.Class != "cat" && l.Class != "dog" {
				t.Errorf("%q: %+v", text, got)
			}
			seen[l.ID] = true
		}
	})
}
