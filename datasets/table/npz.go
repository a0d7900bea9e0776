package table

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
	"strings"
	"sync"
)

// openNPZ opens the arrays of a zip archive. Names in it are only compared: nothing is
// looked for or written under them.
func openNPZ(t *Table) error {
	f := new(arrays)
	t.form = f
	m, err := f.mapFile(t.name)
	if err != nil {
		return err
	}
	archive, err := zip.NewReader(m.file, m.size)
	if err != nil {
		return fmt.Errorf("not a whole .npz file: %w", err)
	}
	there := make([]string, len(archive.File))
	for i, member := range archive.File {
		if err := m.named(member); err != nil {
			return err
		}
		there[i] = strings.TrimSuffix(member.Name, ".npy")
	}
	if err := distinct("arrays", there); err != nil {
		return err
	}
	open := func(i int) (*array, error) { return readMember(m, archive.File[i]) }
	if err := f.openNamed(there, t, open); err != nil {
		return err
	}
	if i := slices.Index(there, classNamesArray); i >= 0 {
		names, err := open(i)
		if err == nil {
			names.name = classNamesArray
			f.names, err = names.texts(MaxClasses)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", classNamesArray, err)
		}
	}
	if err := f.describe(t); err != nil {
		return err
	}
	return f.bounded(m.size)
}

// named returns an error unless the name of a member in the directory is that before its content,
// too: names have no checksum, and one that is damaged would be an array that is not there.
func (m *mapping) named(member *zip.File) error {
	const fixed, lengths = 30, 26 // bytes of a header before the name; where the lengths of name and extra are
	offset, err := member.DataOffset()
	if err != nil {
		return fmt.Errorf("%s: %w", member.Name, err)
	}
	for extra := range int64(1 << 16) {
		start := offset - extra - int64(len(member.Name)) - fixed
		if start < 0 || offset > m.size {
			break
		}
		header := m.content[start:offset]
		if string(header[:4]) == "PK\x03\x04" && int(binary.LittleEndian.Uint16(header[lengths:])) == len(member.Name) && int64(binary.LittleEndian.Uint16(header[lengths+2:])) == extra {
			if string(header[fixed:fixed+len(member.Name)]) == member.Name {
				return nil
			}
		}
	}
	return fmt.Errorf("the directory names an array %.100q that has another name before its content: the file is damaged", member.Name)
}

// textCost is what a label or an id counts beside its bytes where a file unpacks to many: it is
// kept as a text of its own.
const textCost = 32

// bounded returns an error where the arrays together unpack to more than a file of that size may.
func (f *arrays) bounded(size int64) error {
	left := MaxUnpacked(size)
	for _, a := range append(f.roles[:], f.values) {
		if a == nil {
			continue
		}
		bytes, _ := bytesOf(a.shape, a.element.size) // as many as were there
		left -= int64(bytes)
		if a != f.values {
			left -= textCost * int64(a.shape[0])
		}
	}
	if left < 0 {
		return ErrGrowth
	}
	return nil
}

// MaxUnpacked bounds the bytes that so many bytes of a compressed file may unpack to: 16 MiB,
// and 100 for each. Data shrink to a half or a tenth; a few bytes made on purpose can stand
// for gigabytes.
func MaxUnpacked(packed int64) int64 { return 1<<24 + 100*packed }

// ErrGrowth is the error of a file that unpacks to more than [MaxUnpacked] allows.
var ErrGrowth = errors.New("unpacks to more than 100 times its size, which no data set does")

// readMember reads the header of a member, and maps what follows where it is not
// compressed.
func readMember(m *mapping, member *zip.File) (*array, error) {
	packed := min(member.CompressedSize64, uint64(m.size))
	if member.UncompressedSize64 > uint64(MaxUnpacked(int64(packed))) {
		return nil, ErrGrowth
	}
	r, err := member.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	a, length, err := readHeader(r)
	if err != nil {
		return nil, err
	}
	size := int64(member.UncompressedSize64) - int64(length)
	if err := a.fills(size); err != nil {
		return nil, err
	}
	a.open = func() (io.ReadCloser, error) {
		r, err := member.Open()
		if err != nil {
			return nil, err
		}
		if _, err := io.CopyN(io.Discard, r, int64(length)); err != nil {
			r.Close()
			return nil, err
		}
		return r, nil
	}
	if member.Method != zip.Store {
		return a, nil
	}
	offset, err := member.DataOffset()
	if err != nil {
		return nil, err
	}
	offset += int64(length)
	if offset < 0 || size > m.size-offset {
		return nil, fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	}
	a.mapped = m.content[offset : offset+size]
	a.intact = sync.OnceValue(func() error {
		if crc32.ChecksumIEEE(m.content[offset-int64(length):offset+size]) != member.CRC32 {
			return zip.ErrChecksum
		}
		return nil
	})
	return a, nil
}
