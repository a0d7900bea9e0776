package wholefile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/wholefile"
)

// Files and folders that are replaced in one step are in order; without their flushes they are not.
func TestOrdered(t *testing.T) {
	keep := func(string) bool { return true }
	for name, work := range map[string]func(disk *wholefile.Disk, folder string) error{
		"file": func(disk *wholefile.Disk, folder string) error {
			return disk.WriteText(filepath.Join(folder, "f"), "new text")
		},
		"folder": func(disk *wholefile.Disk, folder string) error {
			write := func(made string) error { return disk.WriteText(filepath.Join(made, "a"), "1") }
			return errors.Join(disk.WriteFolder(filepath.Join(folder, "m"), keep, write), disk.WriteFolder(filepath.Join(folder, "m"), keep, write))
		},
		"one after the other": func(disk *wholefile.Disk, folder string) error {
			return errors.Join(disk.WriteText(filepath.Join(folder, "f"), "new text"), disk.RemoveFrom(folder, "f"))
		},
	} {
		var calls []wholefile.Call
		recording := &wholefile.Disk{Before: func(c *wholefile.Call) error {
			calls = append(calls, *c)
			return nil
		}}
		must.Do(t, work(recording, t.TempDir()))
		for _, without := range []wholefile.Op{"", wholefile.OpSync, wholefile.OpSyncFolder} {
			disk, broken := orderedDisk()
			for _, c := range calls {
				if c.Op != without {
					disk.Before(&c)
				}
			}
			if err := broken(); (err == nil) != (without == "") {
				t.Errorf("%s without %q: %v", name, without, err)
			}
		}
	}
}

// The call that is to fail is the one that fails, a write with a half of its bytes.
func TestNth(t *testing.T) {
	folder := t.TempDir()
	for n := 1; ; n++ {
		disk, reached := nth(n, errShortWrite, true)
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
		if !errors.Is(err, errShortWrite) || n == 2 && len(half) != 50_000 {
			t.Errorf("call %d: %v, %d bytes", n, err, len(half))
		}
		os.RemoveAll(folder)
		os.Mkdir(folder, 0o777)
	}
}
