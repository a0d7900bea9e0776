//go:build unix

package system

import (
	"errors"
	"os"
	"syscall"
)

// How a file is locked: by one process, or by several that only look; and a lock that another one has is not waited for.
const (
	Exclusive = syscall.LOCK_EX
	Shared    = syscall.LOCK_SH
	Unlock    = syscall.LOCK_UN
	NoWaiting = syscall.LOCK_NB
)

// Lock locks an open file, for as long as this process, or one that has inherited it, has it open. A lock that another
// one has is [ErrLocked] with NoWaiting.
func Lock(file *os.File, how int) error {
	for {
		err := syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// LockFolder locks a folder until release is called; a file system without locks does without.
func LockFolder(path string) (release func() error, err error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	Lock(folder, Exclusive)
	return folder.Close, nil
}

// SyncFolder flushes a folder's entries to the disk. Some network file systems cannot and say so: that is no error.
func SyncFolder(path string) error {
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

// Reading are the flags by which a file is opened for reading that may be a pipe, for which nothing waits.
const Reading = os.O_RDONLY | syscall.O_NONBLOCK

// OpenFile is os.OpenFile of a file that keeps nobody from renaming or removing it.
func OpenFile(path string, flags int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(path, flags, mode)
}

// Rename is os.Rename in place of a file that may be open.
func Rename(from, to string) error { return os.Rename(from, to) }

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error { return os.RemoveAll(path) }
