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
