package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestWriteKeepsFormerFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "metrics.csv")
	if err := os.WriteFile(path, []byte("former"), 0o666); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, strings.Repeat("new", 1<<16))
		if left := names(t, folder); len(left) != 2 || !IsTemporary(left[0]) || IsTemporary(left[1]) {
			t.Errorf("files while it is written: %v", left)
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want one that names %s", err, path)
	}
	if got, err := os.ReadFile(path); string(got) != "former" || err != nil {
		t.Errorf("the file became %q, %v", got, err)
	}
	if got := names(t, folder); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}

	if err := Write(filepath.Join(folder, "none", "x"), func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := Write(folder, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := names(t, filepath.Dir(folder)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

func TestWriteThatPanicsLeavesNothing(t *testing.T) {
	folder := t.TempDir()
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was lost")
			}
		}()
		Write(filepath.Join(folder, "metrics.csv"), func(io.Writer) error { panic("broken") })
	}()
	if got := names(t, folder); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

// A link is the same file, one that was there before is replaced, also by itself, and nothing
// else is left.
func TestLink(t *testing.T) {
	folder := t.TempDir()
	from, path := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	for what, text := range map[string]string{from: "new", path: "former"} {
		if err := os.WriteFile(what, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := Link(path, from); err != nil {
			t.Fatal(err)
		}
	}
	first, err := os.Stat(from)
	if err != nil {
		t.Fatal(err)
	}
	if second, err := os.Stat(path); err != nil || !os.SameFile(first, second) {
		t.Errorf("two files; error %v", err)
	}
	// Replacing one name leaves the other.
	if err := Copy(from, path); err != nil {
		t.Fatal(err)
	}
	if first, err = os.Stat(from); err != nil {
		t.Fatal(err)
	}
	if second, err := os.Stat(path); err != nil || os.SameFile(first, second) {
		t.Errorf("still one file; error %v", err)
	}
	if text, err := os.ReadFile(from); string(text) != "new" || err != nil {
		t.Errorf("the copy is %q, %v", text, err)
	}
	if got := names(t, folder); len(got) != 2 {
		t.Errorf("files left: %v", got)
	}
	if err := Link(path, filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
}

func TestCheckApart(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("rows", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Symlink("rows", "soft"), os.Link("rows", "hard"), os.Mkdir("folder", 0o777)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rows", "./rows", "folder/../rows", "soft", "hard"} {
		if err := CheckApart([]string{"", "new", name}, []string{"", "missing", "rows"}); err == nil || !strings.Contains(err.Error(), name+" would be written over rows") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckApart([]string{"", "new", "folder", "rows"}, []string{"", "new", "soft2", "-"}); err != nil {
		t.Error(err)
	}
}
