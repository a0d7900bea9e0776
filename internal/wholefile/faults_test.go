package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/wholefile"
)

// Whatever call fails, alone or with all after it, and in whatever way, a file or a folder is
// the former one or the new one, and the error names it. No power cut leaves a part.
func TestEveryCallFails(t *testing.T) {
	for name, write := range map[string]func(disk *wholefile.Disk, folder string) error{
		"file": func(disk *wholefile.Disk, folder string) error {
			return disk.WriteText(filepath.Join(folder, "file"), "new")
		},
		"folder": func(disk *wholefile.Disk, folder string) error {
			return disk.WriteFolder(folder, func(name string) bool { return name == "kept" }, func(made string) error {
				return disk.WriteText(filepath.Join(made, "file"), "new")
			})
		},
		"copy": func(disk *wholefile.Disk, folder string) error {
			return disk.Copy(filepath.Join(folder, "file"), filepath.Join(folder, "kept"))
		},
		"link": func(disk *wholefile.Disk, folder string) error {
			return disk.Link(filepath.Join(folder, "file"), filepath.Join(folder, "kept"))
		},
	} {
		ordered, broken := orderedDisk()
		try := func(disk *wholefile.Disk, fault string) {
			folder := filepath.Join(t.TempDir(), "folder")
			path, kept := filepath.Join(folder, "file"), filepath.Join(folder, "kept")
			must.Do(t, errors.Join(os.Mkdir(folder, 0o777), os.WriteFile(path, []byte("former"), 0o666), os.WriteFile(kept, []byte("new"), 0o666)))
			err := write(disk, folder)
			if err != nil && !strings.Contains(err.Error(), folder) {
				t.Errorf("%s: %s: the error names no file: %v", name, fault, err)
			}
			text, readErr := os.ReadFile(path)
			if readErr != nil || string(text) != "new" && string(text) != "former" || err == nil && string(text) != "new" {
				t.Errorf("%s: %s: the file is %q, %v; error %v", name, fault, text, readErr, err)
			}
			if _, err := os.Stat(kept); errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %s: another file is gone", name, fault)
			}
		}
		eachCall(try)
		if try(ordered, "none"); broken() != nil {
			t.Errorf("%s: %v", name, broken())
		}
	}
}
