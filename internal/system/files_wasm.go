package system

import (
	"errors"
	"os"
)

// Lock is what there is not.
func Lock(*os.File, int) error { return errors.ErrUnsupported }

// OpenFile is os.OpenFile.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flags, mode)
}

// Rename is os.Rename.
func Rename(from, to string) error { return os.Rename(from, to) }

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error { return os.RemoveAll(path) }
