//go:build !unix

package system

import "os"

// How a file is locked: by one process, or by several that only look; and a lock that another one has is not waited for.
const (
	Exclusive = 1 << iota
	Shared
	Unlock
	NoWaiting
)

// LockFolder locks nothing.
func LockFolder(string) (release func() error, err error) { return func() error { return nil }, nil }

// SyncFolder does nothing: who renames a file waits for it.
func SyncFolder(string) error { return nil }

// Reading are the flags by which a file is opened for reading.
const Reading = os.O_RDONLY
