package wholefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func TestWriteKeepsFormerFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "metrics.csv")
	testfiles.Write(t, path, "former")
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		fmt.Fprint(w, strings.Repeat("new", 1<<16))
		if left := testfiles.Names(t, folder); len(left) != 2 || !IsTemporary(left[0]) || IsTemporary(left[1]) {
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
	if got := testfiles.Names(t, folder); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}

	if err := Write(filepath.Join(folder, "none", "x"), func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("in a folder that is not there: %v", err)
	}
	if err := Write(folder, func(io.Writer) error { return nil }); err == nil {
		t.Error("a folder was replaced by a file")
	}
	if got := testfiles.Names(t, filepath.Dir(folder)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

// As root, a rename would put a file in the place of the system's /dev/null.
func TestWriteRefusesPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	must.Do(t, syscall.Mkfifo(pipe, 0o600))
	must.Fail(t, WriteText(pipe, "text"), pipe, "device or a pipe")
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info.Mode(), err)
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
	if got := testfiles.Names(t, folder); len(got) != 0 {
		t.Errorf("files left: %v", got)
	}
}

// A link is the same file, one that was there before is replaced, also by itself, and nothing
// else is left.
func TestLink(t *testing.T) {
	folder := t.TempDir()
	from, path := filepath.Join(folder, "from"), filepath.Join(folder, "to")
	for what, text := range map[string]string{from: "new", path: "former"} {
		testfiles.Write(t, what, text)
	}
	for range 2 {
		must.Do(t, new(Disk).Link(path, from))
	}
	first := must.Have(os.Stat(from))(t)
	if second, err := os.Stat(path); err != nil || !os.SameFile(first, second) {
		t.Errorf("two files; error %v", err)
	}
	// Replacing one name leaves the other.
	must.Do(t, new(Disk).Copy(from, path))
	first = must.Have(os.Stat(from))(t)
	if second, err := os.Stat(path); err != nil || os.SameFile(first, second) {
		t.Errorf("still one file; error %v", err)
	}
	if text, err := os.ReadFile(from); string(text) != "new" || err != nil {
		t.Errorf("the copy is %q, %v", text, err)
	}
	if got := testfiles.Names(t, folder); len(got) != 2 {
		t.Errorf("files left: %v", got)
	}
	if err := new(Disk).Link(path, filepath.Join(folder, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is not there: %v", err)
	}
}

func TestCheckApart(t *testing.T) {
	t.Chdir(t.TempDir())
	testfiles.Write(t, "rows", "")
	must.Do(t, errors.Join(os.Symlink("rows", "soft"), os.Link("rows", "hard"), os.Mkdir("folder", 0o777)))
	for _, name := range []string{"rows", "./rows", "folder/../rows", "soft", "hard"} {
		if err := CheckApart([]string{"", "new", name}, []string{"", "missing", "rows"}); err == nil || !strings.Contains(err.Error(), name+" would be written over rows") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := CheckApart([]string{"", "new", "", "folder", "rows"}, []string{"", "new", "soft2", "-"}); err != nil {
		t.Error(err)
	}
	must.Fail(t, CheckApart([]string{"new", "folder/../new"}, nil), "folder/../new would be written twice")
}

// However a text is handed over, all of it is written, in its order.
func TestEveryWayToWrite(t *testing.T) {
	path, long := filepath.Join(t.TempDir(), "file"), strings.Repeat("0123456789", 1000)
	must.Do(t, Write(path, func(w io.Writer) error {
		var failed error
		for range 3 {
			_, first := io.WriteString(w, "a")
			_, second := io.WriteString(w, long)
			_, third := io.Copy(w, strings.NewReader(long))
			_, fourth := w.Write([]byte(long))
			failed = errors.Join(failed, first, second, third, fourth)
		}
		return failed
	}))
	if text, err := os.ReadFile(path); string(text) != strings.Repeat("a"+long+long+long, 3) || err != nil {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// What a process left that died while it wrote a file is removed by the next one that writes
// it; what another one is writing at this moment, and what belongs to other files, stays.
func TestWriteRemovesWhatWasLeft(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "predictions.csv")
	left, others := filepath.Join(folder, ".predictions.csv.tmp-1"), filepath.Join(folder, ".other.csv.tmp-1")
	for _, name := range []string{left, others} {
		testfiles.Write(t, name, "half")
	}
	err := Write(path, func(io.Writer) error {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
		return WriteText(path, "inner") // as another process would, meanwhile
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := testfiles.Names(t, folder); len(got) != 2 || got[0] != filepath.Base(others) {
		t.Errorf("files left: %v", got)
	}
}

// A folder is replaced as one, whatever fails; what is to be kept of the former one stays.
func TestWriteFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "above", "m")
	fill := func(text string) func(string) error {
		return func(made string) error { return WriteText(filepath.Join(made, "weights"), text) }
	}
	keep := func(name string) bool { return name != "weights" }
	must.Do(t, new(Disk).WriteFolder(folder, keep, fill("first")))
	run := filepath.Join(folder, "seed-9", "lock")
	must.Do(t, errors.Join(os.Mkdir(filepath.Dir(run), 0o777), os.WriteFile(run, []byte("held"), 0o666), os.Symlink("seed-9", filepath.Join(folder, "best"))))
	before := must.Have(os.Stat(run))(t)
	broken := errors.New("broken")
	expect := func(text string) {
		t.Helper()
		if got, err := os.ReadFile(filepath.Join(folder, "weights")); string(got) != text || err != nil {
			t.Errorf("the file is %q, %v, want %q", got, err, text)
		}
		if after, err := os.Stat(filepath.Join(folder, "best", "lock")); err != nil || !os.SameFile(before, after) {
			t.Errorf("what was to be kept is another file: %v", err)
		}
		if left := testfiles.Names(t, filepath.Dir(folder)); len(left) != 1 {
			t.Errorf("left beside it: %v", left)
		}
	}
	failing := func(made string) error { return errors.Join(fill("half")(made), broken) }
	if err := new(Disk).WriteFolder(folder, keep, failing); !errors.Is(err, broken) || !strings.Contains(err.Error(), folder) {
		t.Errorf("error %v", err)
	}
	expect("first")
	link := filepath.Join(t.TempDir(), "link")
	must.Do(t, os.Symlink(folder, link))
	must.Do(t, new(Disk).WriteFolder(link, keep, fill("second")))
	expect("second")
	// A file system that cannot exchange folders.
	plain := &Disk{Before: func(c *Call) error {
		if c.Op == OpExchange {
			return syscall.EINVAL
		}
		return nil
	}}
	must.Do(t, plain.WriteFolder(folder, keep, fill("third")))
	expect("third")
}
