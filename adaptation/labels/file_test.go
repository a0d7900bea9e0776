package labels

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testfiles.Write(t, path, text)
	return path
}

// A file is written over as long as nobody has typed anything into it.
func TestStateOf(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if StateOf(path).Touched {
		t.Error("no file is touched")
	}
	rows := []Row{{ID: "a,b", Class: "cat", Confidence: 0.5}, {ID: "7", Class: "dog", Confidence: float64(float32(0.9))}}
	must.Do(t, Write(path, rows))
	text, err := os.ReadFile(path)
	if want := "id,predicted_class,probability,label\n\"a,b\",cat,0.5,\n7,dog,0.9,\n"; err != nil || string(text) != want {
		t.Errorf("%q, want %q, %v", text, want, err)
	}
	if StateOf(path).Touched {
		t.Error("what was written is touched")
	}
	if StateOf(file(t, "labels.csv", "id,predicted_class,probability,stratum,stratum_share,label\n1,cat,0.5,0-1,1,\n")).Touched {
		t.Error("what 0.4 wrote is touched")
	}
	if s := StateOf(file(t, "labels.csv", "id,predicted_class,probability,label\n1,cat,0.5,\n2,cat,0.5,dog\n3,cat,0.5,\n")); s != (State{3, 1, true}) {
		t.Errorf("%+v", s)
	}
	if s := StateOf(file(t, "labels.csv", "my notes\n1\n")); s != (State{Touched: true}) {
		t.Errorf("something else: %+v", s)
	}
	for what, text := range map[string]string{
		"a label":            "id,predicted_class,probability,label\n1,cat,0.5,\n2,cat,0.5,dog\n",
		"by a spreadsheet":   "id;class;confidence;label\n1;cat;0,5;dog\n",
		"another column":     "id,predicted_class,probability,label,note\n1,cat,0.5,,\n",
		"columns in a line":  "id,predicted_class,probability,label\n1,cat,0.5\n",
		"a quote left open":  "id,predicted_class,probability,label\n\"1,cat,0.5,\n",
		"something else":     "my notes\n",
		"nothing any longer": "",
	} {
		if !StateOf(file(t, "labels.csv", text)).Touched {
			t.Errorf("%s: may be written over", what)
		}
	}
}

func TestRead(t *testing.T) {
	classes := []string{"cat", "dog"}
	path := file(t, "labels.csv", "\xef\xbb\xbfnote;label;id\nfirst;dog;7\n;;8\n\"two\nlines\"; cat ;9\n;NaN;10\n")
	got, err := Read(path, classes, "out", "")
	want := Labels{path, []Label{{ID: "7", Class: "dog", Line: 2}, {ID: "9", Class: "cat", Line: 4}}, false}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	// Classes that are numbers, as pandas writes them beside empty cells.
	got, err = Read(file(t, "labels.csv", "id,label\n1,3.0\n2,\n3,4.0\n"), []string{"3", "4"}, "out", "")
	if err != nil || got.Rows[0].Class != "3" || got.Rows[1].Class != "4" {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]string{
		"id,label\n1,cat\n2,cow\n":         `:3: id "2": label "cow" is not a class of out, which has cat, dog`,
		"id,label\n1,cat\n2,dog\n1,cat\n":  `:4: id "1" has a label in line 2 already`,
		"id,class\n1,cat\n":                ":1: the columns are [\"id\" \"class\"]; want id and label",
		"id,label\n1,cat\n2,\n":            "rows with a label: 1; at least 2 are needed",
		"":                                 "is empty",
		"id,label\n1,cat\n2\n":             ":3: 1 column; the first line names 2",
		"id,stratum,stratum_share,label\n": ":1: its rows were drawn in strata",
	} {
		path := file(t, "labels.csv", text)
		if _, err := Read(path, classes, "out", ""); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), path+":") {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
