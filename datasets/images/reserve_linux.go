package images

import (
	"errors"
	"os"

	"github.com/edsrzf/mmap-go"
	"golang.org/x/sys/unix"
)

// reserve gives a file its size and room on the disk for all of it: writing to a
// mapping of a file that has outgrown its disk would end the process.
func reserve(file *os.File, size int64) error {
	err := unix.Fallocate(int(file.Fd()), 0, 0, size)
	if errors.Is(err, unix.EOPNOTSUPP) { // the file system cannot
		return file.Truncate(size)
	}
	return err
}

// anonymous maps memory, of which what is never written takes no room.
func anonymous(size int) (mmap.MMap, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
}
