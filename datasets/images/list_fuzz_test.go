package images

import (
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/allocation"
)

// Whatever a list says, its paths stay below the root and its labels are classes.
func FuzzParseList(f *testing.F) {
	for _, seed := range []string{
		"", "a.jpg 0", "Real World/Bed/1.jpg 2\r\n\n\tb 1\n", "../a 0", "/a 0", "a/../../b 1", "a 3", "a  -1", "a\x00 0", "a 0\na 1", ". 0", "~ 0",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, list string) {
		const classes = 3
		var lines []listLine
		var err error
		allocation.Within(t, 1<<20+200*len(list), func() {
			lines, err = parseList(strings.NewReader(list), "list", classes)
		})
		if err != nil {
			if lines != nil || !strings.HasPrefix(err.Error(), "images: list:") {
				t.Errorf("lines %v with the error %q", lines, err)
			}
			return
		}
		if filled := len(strings.FieldsFunc(list, func(r rune) bool { return r == '\n' })); len(lines) > filled {
			t.Errorf("%d images of %d lines", len(lines), filled)
		}
		for _, line := range lines {
			if line.label < 0 || line.label >= classes {
				t.Errorf("label %d", line.label)
			}
			if !filepath.IsLocal(filepath.FromSlash(line.path)) {
				t.Errorf("path %q", line.path)
			}
		}
	})
}
