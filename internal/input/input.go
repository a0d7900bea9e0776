// Package input opens the files that are read. What stands under their names may be something
// else, put there by accident or on purpose: a pipe to which nobody writes, a device without
// end, a link that leads out of a folder.
package input

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"iwda/internal/system"
)

// Bounds for [Read]. They are far above what is written, and keep a file that was put in the
// place of another one from the memory.
const (
	Words   = 1 << 20 // a message, who holds a lock
	Text    = 1 << 28 // a configuration, a result, a description of a model
	Tensors = 1 << 36 // weights, a checkpoint
)

// ErrNotFile says that a path is that of a folder, a pipe, a device or a socket.
var ErrNotFile = errors.New("not a file, but a folder, a pipe or a device; write what comes from a pipe into a file")

// ErrWrong is what the errors of [Wrong] are.
var ErrWrong = errors.New("input that cannot be read as asked")

// Wrong returns an error of that text, and whose cause it is, that is [ErrWrong] too: who gave the
// input has to change something before another attempt. nil stays nil.
func Wrong(err error) error {
	if err == nil {
		return nil
	}
	return wrong{err}
}

type wrong struct{ error }

func (w wrong) Unwrap() []error { return []error{w.error, ErrWrong} }

// Open opens a file for reading. What is no file is an error that wraps [ErrNotFile]; it does
// not wait.
func Open(path string) (*os.File, error) { return regular(path, os.Stat, system.OpenFile) }

// OpenFolder opens a folder, which may be a link. No path through it leaves it.
func OpenFolder(path string) (*os.Root, error) { return os.OpenRoot(path) }

// OpenIn is [Open] of a file in a folder, or below it. A path that leaves it is an error, and so is a
// link on the way that does or is absolute.
func OpenIn(folder, path string) (*os.File, error) {
	root, err := OpenFolder(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return regular(path, root.Stat, root.OpenFile)
}

// SHA256 returns the hash of a file's content, in hexadecimal digits.
func SHA256(path string) (sum string, err error) {
	file, err := Open(path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash := sha256.New()
	_, err = io.Copy(hash, file)
	return fmt.Sprintf("%x", hash.Sum(nil)), err
}

// Read returns the content of a file that has at most limit bytes.
func Read(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return ReadAll(file, limit)
}

// ReadAll is [Read] of a file that [Open] has opened.
func ReadAll(file *os.File, limit int64) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > limit {
		return nil, tooLong(file.Name(), limit)
	}
	// The system's own files have a size of 0, whatever they hold.
	var content bytes.Buffer
	content.Grow(int(info.Size()) + bytes.MinRead)
	if _, err := content.ReadFrom(io.LimitReader(file, limit+1)); err != nil {
		return nil, err
	}
	if int64(content.Len()) > limit {
		return nil, tooLong(file.Name(), limit)
	}
	return content.Bytes(), nil
}

func tooLong(path string, limit int64) error {
	return fmt.Errorf("%s: more than %d bytes, which no file of this kind has", path, limit)
}

// regular opens a file. To open some devices does something, so it looks first; it looks again
// at what it has opened, which may be another file by then.
func regular(path string, stat func(string) (os.FileInfo, error), open func(string, int, os.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(path)
	if missing := (*fs.PathError)(nil); errors.As(err, &missing) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: missing.Err}
	} else if err != nil {
		return nil, err
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	file, err := open(path, system.Reading, 0)
	if err != nil {
		return nil, err
	}
	if info, err = file.Stat(); err == nil {
		err = check(path, info)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func check(path string, info os.FileInfo) error {
	if !info.Mode().IsRegular() {
		return Wrong(fmt.Errorf("%s: %w", path, ErrNotFile))
	}
	return nil
}
