package system

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"iwda/internal/must"
)

// open opens a file of a folder until the test ends.
func open(t *testing.T, path string, flags int) *os.File {
	t.Helper()
	file := must.Have(OpenFile(path, flags, 0o666))(t)
	t.Cleanup(func() { file.Close() })
	return file
}

// TestLocks: one has a lock, or several share it, until they let go of it or close the file. What is locked can be read.
func TestLocks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	first := open(t, path, os.O_RDWR|os.O_CREATE)
	must.Have(first.WriteString("mine"))(t)
	second := open(t, path, Reading)
	for _, step := range []struct {
		file *os.File
		how  int
		want error
	}{
		{first, Exclusive, nil}, {second, Shared | NoWaiting, ErrLocked}, {second, Exclusive | NoWaiting, ErrLocked}, {first, Unlock, nil},
		{second, Shared | NoWaiting, nil}, {first, Shared | NoWaiting, nil}, {first, Unlock, nil}, {first, Exclusive | NoWaiting, ErrLocked},
		{second, Unlock, nil}, {first, Exclusive | NoWaiting, nil},
	} {
		if err := Lock(step.file, step.how); !errors.Is(err, step.want) {
			t.Fatalf("%s, %b: %v, want %v", step.file.Name(), step.how, err, step.want)
		}
	}
	if text, err := os.ReadFile(path); string(text) != "mine" {
		t.Errorf("read %q, %v", text, err)
	}
	first.Close()
	if err := Lock(second, Exclusive|NoWaiting); err != nil {
		t.Error("closing left the lock: ", err)
	}
}

// TestRenameOfOpenFiles: a file that is open, and locked, takes the place of another one that somebody reads, who goes on
// to read the former one; one that is open is removed.
func TestRenameOfOpenFiles(t *testing.T) {
	folder := t.TempDir()
	old, made := filepath.Join(folder, "file"), filepath.Join(folder, ".file.new")
	must.Do(t, os.WriteFile(old, []byte("former"), 0o666))
	reader, writer := open(t, old, Reading), open(t, made, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	_, err := writer.WriteString("new")
	must.Do(t, errors.Join(err, Lock(writer, Exclusive), Rename(made, old), SyncFolder(folder)))
	former := make([]byte, 6)
	if _, err := reader.Read(former); err != nil || string(former) != "former" {
		t.Errorf("the reader has %q, %v", former, err)
	}
	writer.Close() // os.ReadFile shares a file with no writer
	if text, err := os.ReadFile(old); string(text) != "new" {
		t.Errorf("the file is %q, %v", text, err)
	}
	second := open(t, old, Reading)
	if err := os.Remove(second.Name()); err != nil {
		t.Error(err)
	}
}

// TestPeakMemory: this process needed a megabyte, and no terabyte.
func TestPeakMemory(t *testing.T) {
	if peak := PeakMemory(); peak < 1e6 || peak > 1e12 {
		t.Errorf("%d bytes", peak)
	}
}
