package table

import (
	"errors"
	"io"
	"os"

	"github.com/edsrzf/mmap-go"
)

// mapping is a file whose content is mapped.
type mapping struct {
	file    *os.File
	content mmap.MMap
	size    int64
}

// mapFile maps a file until the form is closed.
func (f *arrays) mapFile(path string) (*mapping, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	m := &mapping{file: file}
	f.files = append(f.files, m)
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if m.size = info.Size(); m.size == 0 {
		return m, nil // nothing can be mapped
	}
	m.content, err = mmap.Map(file, mmap.RDONLY, 0)
	return m, err
}

func (m *mapping) Close() error {
	err := m.content.Unmap()
	return errors.Join(err, m.file.Close())
}

// place gives an array its elements, a part of the file, which must be as many as the array has.
// Passes over it read the file and leave the mapping to those who ask for rows in any order, so
// that a pass takes no memory.
func (m *mapping) place(a *array, offset, size int64) error {
	a.mapped = m.content[offset : offset+size]
	a.open = func() (io.ReadCloser, error) {
		return io.NopCloser(io.NewSectionReader(m.file, offset, size)), nil
	}
	return a.fills(size)
}
