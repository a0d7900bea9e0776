// Package wholefile replaces files in one step: a reader sees the former file or the
// new one, never a part.
package wholefile

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"iwda/internal/input"
)

// temporaryMark is part of the name of every file that is still being written.
const temporaryMark = ".tmp-"

// Write replaces the file at path by what write produces, in one step: the
// bytes go to a temporary file in the same folder, which is flushed to the disk
// and renamed. If anything fails before that, a full disk for one, the error names path,
// the temporary file is removed and the former file stays as it was; so it does where
// write panics. A folder that cannot be flushed after the renaming is an error too: the
// new file is in its place then, but a power cut may undo it.
func Write(path string, write func(io.Writer) error) error {
	return WriteAfter(path, func(file File) error { return write(file) }, func() error { return nil })
}

// WriteText replaces the file at path by a text, in one step as [Write] does.
func WriteText(path, text string) error {
	return Write(path, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	})
}

// WriteJSON replaces the file at path by a value as JSON for people to read too, in one step as
// [Write] does.
func WriteJSON(path string, value any) error {
	return Write(path, func(w io.Writer) error {
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		return encoder.Encode(value)
	})
}

// File is a file that is being written: from its beginning on, and again where something
// that was written is to be replaced.
type File interface {
	io.Writer
	io.WriterAt
}

// WriteAfter is [Write] that calls makeRoom when the new file is whole and the former
// one still there.
func WriteAfter(path string, write func(File) error, makeRoom func() error) error {
	if err := replace(path, write, makeRoom); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func replace(path string, write func(File) error, makeRoom func() error) error {
	// Not os.CreateTemp, whose files only their owner can read whatever the umask.
	temporary := temporaryName(path)
	file, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	renamed := false
	defer func() {
		if !renamed {
			file.Close()
			os.Remove(temporary)
		}
	}()
	buffered := bufferedFile{bufio.NewWriter(file), file}
	if err := write(buffered); err != nil {
		return err
	}
	rename := func() error { return os.Rename(temporary, path) }
	for _, step := range []func() error{buffered.Flush, file.Sync, file.Close, makeRoom, rename} {
		if err := step(); err != nil {
			return err
		}
	}
	renamed = true
	return syncFolder(filepath.Dir(path))
}

// Copy replaces the file at path by a copy of another one, in one step as [Write] does.
func Copy(path, from string) error {
	file, err := input.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	return Write(path, func(w io.Writer) error {
		_, err := io.Copy(w, file)
		return err
	})
}

// Link makes path a second name of the file from, which takes no room, or a copy of it where
// the file system has no second names; in one step as [Write] does. It is for files that are
// replaced and never changed in place.
func Link(path, from string) error {
	temporary := temporaryName(path)
	if os.Link(from, temporary) != nil {
		return Copy(path, from)
	}
	defer os.Remove(temporary) // a rename leaves it where path is a name of that file already
	if err := os.Rename(temporary, path); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return syncFolder(filepath.Dir(path))
}

// ErrSame is wrapped by the error of [CheckApart].
var ErrSame = errors.New("which is read; choose another name")

// CheckApart returns an error if writing one of the files would replace one of those that are
// read, under this name or another one. Neither needs to be there; names may be empty.
func CheckApart(written, read []string) error {
	for _, path := range written {
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

type bufferedFile struct {
	*bufio.Writer
	file *os.File
}

func (b bufferedFile) WriteAt(text []byte, offset int64) (int, error) {
	if err := b.Flush(); err != nil {
		return 0, err
	}
	return b.file.WriteAt(text, offset)
}

// syncFolder flushes the folder's entries to the disk, so that a rename outlives
// a power cut. Some network file systems cannot and say so: that is no error.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// IsTemporary reports whether a file of that name is one that [Write] is writing, or was
// when its process died.
func IsTemporary(name string) bool {
	return strings.HasPrefix(name, ".") && strings.Contains(name, temporaryMark)
}
