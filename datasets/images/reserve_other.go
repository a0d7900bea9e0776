//go:build !linux

package images

import (
	"os"

	"github.com/edsrzf/mmap-go"
)

// reserve gives a file its size.
func reserve(file *os.File, size int64) error { return file.Truncate(size) }

// anonymous maps memory.
func anonymous(size int) (mmap.MMap, error) {
	return mmap.MapRegion(nil, size, mmap.RDWR, mmap.ANON, 0)
}
