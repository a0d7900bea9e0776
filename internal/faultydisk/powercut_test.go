package faultydisk

import (
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"iwda/internal/wholefile"
)

// after returns what a power cut can leave of the file f, which was "former", in words.
func after(t *testing.T, work func(disk *wholefile.Disk, path string) error, drop wholefile.Op) []string {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "f")
	if err := os.WriteFile(path, []byte("former"), 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := work(r.Disk(), path); err != nil {
		t.Fatal(err)
	}
	r.calls = slices.DeleteFunc(r.calls, func(c wholefile.Call) bool { return c.Op == drop })
	found := map[string]bool{}
	for _, state := range r.Cuts(rand.New(rand.NewPCG(1, 0)), 20) {
		to := t.TempDir()
		if err := state.Write(to); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(to, "f"))
		if err != nil {
			text = []byte("missing")
		}
		found[string(text)] = true
	}
	var all []string
	for text := range found {
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}

// A file that is replaced in one step is the former one or the new one after every power cut; if
// it were not flushed first, it could be empty or in parts.
func TestCuts(t *testing.T) {
	write := func(disk *wholefile.Disk, path string) error { return disk.WriteText(path, "new text") }
	if got := after(t, write, ""); !slices.Equal(got, []string{"former", "new text"}) {
		t.Errorf("the states are %q", got)
	}
	if got := after(t, write, wholefile.OpSync); !slices.Contains(got, "") || !slices.Contains(got, "new") && !slices.Contains(got, "ne") {
		t.Errorf("without a flush the states are %q", got)
	}
	folders := func(disk *wholefile.Disk, path string) error {
		return disk.WriteFolder(filepath.Join(filepath.Dir(path), "m"), func(string) bool { return true }, func(made string) error {
			return errors.Join(disk.WriteText(filepath.Join(made, "a"), "1"), disk.WriteText(filepath.Join(made, "b"), "1"))
		})
	}
	if got := after(t, folders, ""); !slices.Equal(got, []string{"former"}) {
		t.Errorf("the states of another file are %q", got)
	}
}

// What a state is written as is what a recorder of it finds.
func TestStateIsWritten(t *testing.T) {
	folder, to := t.TempDir(), t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(folder, "m"), 0o777), os.WriteFile(filepath.Join(folder, "m", "a"), []byte("1"), 0o666), os.Symlink("m", filepath.Join(folder, "l"))); err != nil {
		t.Fatal(err)
	}
	r, err := NewRecorder(folder)
	if err != nil {
		t.Fatal(err)
	}
	states := r.Cuts(rand.New(rand.NewPCG(1, 0)), 3)
	if len(states) != 1 {
		t.Fatalf("%d states where nothing was done", len(states))
	}
	if err := states[0].Write(to); err != nil {
		t.Fatal(err)
	}
	again, err := NewRecorder(to)
	if err != nil || again.initial.print() != r.initial.print() {
		t.Errorf("another folder; error %v", err)
	}
}

// The call that is to fail is the one that fails, a write with a half of its bytes.
func TestNth(t *testing.T) {
	folder := t.TempDir()
	for n := 1; ; n++ {
		disk, reached := nth(n, ErrShortWrite, true)
		path := filepath.Join(folder, "f")
		var half string
		err := disk.Write(path, func(w io.Writer) error {
			_, err := w.Write(make([]byte, 100_000))
			left, _ := filepath.Glob(filepath.Join(folder, ".f*"))
			if text, _ := os.ReadFile(strings.Join(left, "")); err != nil {
				half = string(text)
			}
			return err
		})
		if !reached() {
			if err != nil || n < 5 {
				t.Errorf("after %d calls: %v", n, err)
			}
			return
		}
		if !errors.Is(err, ErrShortWrite) || n == 2 && len(half) != 50_000 {
			t.Errorf("call %d: %v, %d bytes", n, err, len(half))
		}
		os.RemoveAll(folder)
		os.Mkdir(folder, 0o777)
	}
}
