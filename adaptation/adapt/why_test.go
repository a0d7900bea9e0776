package adapt

import (
	"path/filepath"
	"strings"
	"testing"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/labels"
	"iwda/internal/must"
	"iwda/internal/wholefile"
)

// A shell reads the command in what is said of rows that are kept, whatever the folder's name.
func TestCommandOfKeptRows(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "an out")
	p := &Plan{options: Options{Folder: folder}}
	must.Do(t, new(wholefile.Disk).MakeFolder(folder))
	evaluate := "iwrun evaluate '" + folder + "' '" + folder + "/to_label.csv' says "
	for _, class := range []string{"a", "b"} {
		draw := labels.NewDraw(1, 1)
		draw.Add("1", class, 0.5)
		var w written
		if err := w.writeToLabel(p, draw); err != nil || strings.Contains(w.kept, evaluate) != (class == "b") {
			t.Errorf("class %s: %v; said of what is kept\n%s", class, err, w.kept)
		}
		must.Do(t, wholefile.WriteText(p.path(names.ToLabel), "id,label\n1,a\n"))
	}
}
