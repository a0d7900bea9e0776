// Package wholefile replaces files in one step: a reader sees the former file or the
// new one, never a part.
package wholefile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"iwda/internal/input"
)

// temporaryMark is part of the name of every file that is still being written.
const temporaryMark = ".tmp-"

// Write replaces the file at path by what write produces, in one step: the
// bytes go to a temporary file in the same folder, which is flushed to the disk
// and renamed. If anything fails before that, a full disk for one, the error names path,
// the temporary file is removed and the former file stays as it was; so it does where
// write panics. A folder that cannot be flushed after the renaming is an error too: the
// new file is in its place then, but a power cut may undo it. What a process left that died
// while it wrote path is removed. A device or a pipe, as /dev/null, is refused.
func (d *Disk) Write(path string, write func(io.Writer) error) error {
	return d.WriteFile(path, func(file File) error { return write(file) })
}

// WriteText replaces the file at path by a text, in one step as [Disk.Write] does.
func (d *Disk) WriteText(path, text string) error {
	return d.Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteJSON replaces the file at path by a value as JSON for people to read too, in one step as
// [Disk.Write] does.
func (d *Disk) WriteJSON(path string, value any) error {
	return d.Write(path, func(w io.Writer) error { return JSON(w, value, "  ") })
}

// JSON writes a value as JSON that leaves <, > and & as they are, indented so, or a line if indent is "".
func JSON(w io.Writer, value any, indent string) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	return encoder.Encode(value)
}

// File is a file that is being written: from its beginning on, and again where something
// that was written is to be replaced.
type File interface {
	io.Writer
	io.WriterAt
}

// WriteFile is [Disk.Write] of what is not written from its beginning to its end.
func (d *Disk) WriteFile(path string, write func(File) error) error {
	if err := d.replace(path, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func (d *Disk) replace(path string, write func(File) error) error {
	if info, err := os.Stat(path); err == nil && info.Mode()&(os.ModeDevice|os.ModeNamedPipe|os.ModeSocket) != 0 {
		return errors.New("it is a device or a pipe, which a file would replace: name a file")
	}
	d.removeLeft(path)
	file, err := d.create(path)
	if err != nil {
		return err
	}
	temporary, renamed := file.raw.file.Name(), false
	defer func() {
		if !renamed {
			file.raw.file.Close()
			d.remove(temporary)
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := file.Flush(); err != nil {
		return err
	}
	if err := file.sync(); err != nil {
		return err
	}
	if err := d.Rename(temporary, path); err != nil {
		return err
	}
	renamed = true
	if err := file.close(); err != nil { // with it goes the lock
		return err
	}
	return d.syncFolder(filepath.Dir(path))
}

// Copy replaces the file at path by a copy of another one, in one step as [Disk.Write] does.
func (d *Disk) Copy(path, from string) error {
	file, err := input.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	return d.Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	})
}

// Link makes path a second name of the file from, which takes no room, or a copy of it where
// the file system has no second names; in one step as [Disk.Write] does. It is for files that are
// replaced and never changed in place.
func (d *Disk) Link(path, from string) error {
	temporary := temporaryName(path)
	if d.link(from, temporary) != nil {
		return d.Copy(path, from)
	}
	defer d.remove(temporary) // a rename leaves it where path is a name of that file already
	if err := d.Rename(temporary, path); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return d.syncFolder(filepath.Dir(path))
}

// The same on the system's disk.

// Write is [Disk.Write].
func Write(path string, write func(io.Writer) error) error { return (*Disk)(nil).Write(path, write) }

// WriteText is [Disk.WriteText].
func WriteText(path, text string) error { return (*Disk)(nil).WriteText(path, text) }

// WriteJSON is [Disk.WriteJSON].
func WriteJSON(path string, value any) error { return (*Disk)(nil).WriteJSON(path, value) }

// ErrSame is wrapped by the error of [CheckApart].
var ErrSame = errors.New("which is read; choose another name")

// CheckApart returns an error if writing one of the files would replace one of those that are
// read, under this name or another one, or another one that is written. None needs to be there;
// names may be empty.
func CheckApart(written, read []string) error {
	places := map[string]bool{}
	for _, path := range written {
		place, err := filepath.Abs(path)
		if err == nil && path != "" && places[place] {
			return fmt.Errorf("%s would be written twice; choose another name", path)
		}
		places[place] = true
		to, err := os.Stat(path)
		if err != nil {
			continue
		}
		for _, source := range read {
			if from, err := os.Stat(source); err == nil && os.SameFile(from, to) {
				return fmt.Errorf("%s would be written over %s, %w", path, source, ErrSame)
			}
		}
	}
	return nil
}

// temporaryName returns a new name beside path, one that [IsTemporary] knows.
func temporaryName(path string) string {
	folder, name := filepath.Split(path)
	return fmt.Sprintf("%s.%s%s%016x", folder, name, temporaryMark, rand.Uint64())
}

// temporaryOf returns the name for which a temporary one stands.
func temporaryOf(temporary string) (name string, is bool) {
	at := strings.LastIndex(temporary, temporaryMark)
	if at < 1 || temporary[0] != '.' {
		return "", false
	}
	return temporary[1:at], true
}

// IsTemporary reports whether a file of that name is one that [Disk.Write] is writing, or was
// when its process died.
func IsTemporary(name string) bool {
	_, is := temporaryOf(name)
	return is
}
