package system

import (
	"errors"
	"math"
	"os"
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Lock locks an open file, for as long as this process has it open. A lock that another one has is
// [ErrLocked] with NoWaiting. It is one on a byte that no file has, because others may not read what is locked.
func Lock(file *os.File, how int) error {
	handle, place := windows.Handle(file.Fd()), windows.Overlapped{Offset: math.MaxUint32, OffsetHigh: math.MaxInt32 - 1}
	if how == Unlock {
		return windows.UnlockFileEx(handle, 0, 1, 0, &place)
	}
	var flags uint32
	if how&Exclusive != 0 {
		flags |= windows.LOCKFILE_EXCLUSIVE_LOCK
	}
	if how&NoWaiting != 0 {
		flags |= windows.LOCKFILE_FAIL_IMMEDIATELY
	}
	err := windows.LockFileEx(handle, flags, 0, 1, 0, &place)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return ErrLocked
	}
	return err
}

// OpenFile is os.OpenFile of a file that keeps nobody from renaming or removing it, which os.Root opens.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	if root, err := os.OpenRoot(filepath.Dir(path)); err == nil {
		defer root.Close()
		if file, err := root.OpenFile(filepath.Base(path), flags, mode); err == nil {
			return file, nil
		}
	}
	return os.OpenFile(path, flags, mode) // a link, or an error that names the path
}

// Rename is os.Rename, in one folder in place of a file that may be open.
func Rename(from, to string) error {
	folder := filepath.Dir(to)
	if filepath.Dir(from) != folder {
		return os.Rename(from, to)
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	return root.Rename(filepath.Base(from), filepath.Base(to))
}

// RemoveAll is os.RemoveAll, and one by one where the file system knows no removal of open files.
func RemoveAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	entries, _ := os.ReadDir(path)
	for _, entry := range entries {
		if err := RemoveAll(filepath.Join(path, entry.Name())); err != nil {
			return err
		}
	}
	return os.Remove(path)
}
