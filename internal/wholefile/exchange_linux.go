package wholefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// exchange gives each of two folders the other's name, in one step.
func exchange(first, second string) error {
	err := unix.Renameat2(unix.AT_FDCWD, first, unix.AT_FDCWD, second, unix.RENAME_EXCHANGE)
	if err != nil {
		return &os.LinkError{Op: string(OpExchange), Old: first, New: second, Err: err}
	}
	return nil
}
