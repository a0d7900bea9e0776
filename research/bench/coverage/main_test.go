package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A cell that is measured replaces its own lines, and stands where it belongs.
func TestReplaceCell(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.md")
	const before = "text\n<!-- a -->\n| old head |\n| 2 | 200 | one |\n| 2 | 200 | two |\n| 10 | 1000 | kept |\n<!-- /a -->\n<!-- b -->\n| 2 | 200 | other table |\n<!-- /b -->\n"
	if err := os.WriteFile(page, []byte(before), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, add := range []struct {
		of    cell
		lines []string
	}{
		{cell{2, 200, 200}, []string{"| 2 | 200 | new |"}},
		{cell{10, 40, 400}, []string{"| 10 | 40, 400 | first |", "| 10 | 40, 400 | second |"}},
	} {
		if err := replaceCell(page, "a", "| head |", add.of, add.lines); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	const want = "text\n<!-- a -->\n| head |\n| 2 | 200 | new |\n| 10 | 40, 400 | first |\n| 10 | 40, 400 | second |\n| 10 | 1000 | kept |\n<!-- /a -->\n<!-- b -->\n| 2 | 200 | other table |\n<!-- /b -->\n"
	if string(got) != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if err := replaceCell(page, "c", "", cell{2, 200, 200}, nil); err == nil {
		t.Error("a page without the comments is no error")
	}
}
