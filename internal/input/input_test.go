package input

import (
	"errors"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"iwda/internal/must"
)

// Whatever is no file is an error at once, under each of the ways to open one.
func TestOnlyFilesAreOpened(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder) // the names of sockets are short
	must.Do(t, errors.Join(syscall.Mkfifo("pipe", 0o600), os.Mkdir("folder", 0o700), os.Symlink("pipe", "link")))
	socket := must.Have(net.Listen("unix", "socket"))(t)
	defer socket.Close()
	for _, name := range []string{"pipe", "folder", "link", "socket", "/dev/zero", "/dev/null"} {
		if _, err := Open(name); !errors.Is(err, ErrNotFile) || !strings.HasPrefix(err.Error(), name+": ") {
			t.Errorf("opened %s: %v", name, err)
		}
		if _, err := Read(name, Words); !errors.Is(err, ErrNotFile) {
			t.Errorf("read %s: %v", name, err)
		}
		if _, err := OpenIn(".", name); !filepath.IsAbs(name) && !errors.Is(err, ErrNotFile) {
			t.Errorf("opened %s in its folder: %v", name, err)
		}
	}
	for _, open := range []func(string) error{
		func(name string) error { _, err := Open(name); return err },
		func(name string) error { _, err := Read(name, Words); return err },
		func(name string) error { _, err := OpenIn(folder, name); return err },
		func(name string) error { _, err := OpenIn(name, "file"); return err },
	} {
		if err := open("none"); !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "open") {
			t.Errorf("of what is not there: %v", err)
		}
	}
}

func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, text := range []string{"", "abc", strings.Repeat("0123456789", 1000)} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := Read(path, int64(len(text))); string(got) != text || err != nil {
			t.Errorf("%d bytes of %d, %v", len(got), len(text), err)
		}
		if _, err := Read(path, int64(len(text))-1); err == nil || !strings.Contains(err.Error(), path+": more than") {
			t.Errorf("%d bytes where fewer are allowed: %v", len(text), err)
		}
	}
	// The system says of its own files that they are empty.
	if got, err := Read("/proc/self/maps", Text); len(got) == 0 || err != nil {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := Read("/proc/self/maps", 10); err == nil {
		t.Error("more bytes were read than are allowed")
	}
}

// Links lead to files inside a folder alone, also those of folders on the way.
func TestLinksStayInside(t *testing.T) {
	folder, elsewhere := t.TempDir(), t.TempDir()
	inside := filepath.Join(folder, "below", "file")
	must.Do(t, errors.Join(
		os.Mkdir(filepath.Join(folder, "below"), 0o700),
		os.WriteFile(inside, []byte("inside"), 0o600),
		os.WriteFile(filepath.Join(elsewhere, "file"), []byte("outside"), 0o600),
		os.Symlink("below/file", filepath.Join(folder, "near")),
		os.Symlink("../below", filepath.Join(folder, "below", "again")),
		os.Symlink(filepath.Join(elsewhere, "file"), filepath.Join(folder, "far")),
		os.Symlink(inside, filepath.Join(folder, "absolute")),
		os.Symlink(elsewhere, filepath.Join(folder, "other")),
		os.Symlink("../"+filepath.Base(elsewhere), filepath.Join(folder, "beside")),
		os.Symlink(folder, filepath.Join(elsewhere, "in")),
	))
	for _, root := range []string{folder, filepath.Join(elsewhere, "in")} {
		for _, name := range []string{"below/file", "near", "below/again/again/file"} {
			file, err := OpenIn(root, name)
			if err != nil {
				t.Error(err)
				continue
			}
			if text, err := io.ReadAll(file); string(text) != "inside" || err != nil {
				t.Errorf("%s holds %q, %v", name, text, err)
			}
			file.Close()
		}
		for _, name := range []string{"far", "absolute", "other/file", "beside/file", "../" + filepath.Base(elsewhere) + "/file", inside} {
			if _, err := OpenIn(root, name); err == nil {
				t.Errorf("%s was opened", name)
			}
		}
	}
}
