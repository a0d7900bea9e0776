package table

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"strings"
)

// openNPZ opens the arrays of a zip archive. Names in it are only compared: nothing is
// looked for or written under them.
func openNPZ(t *Table) error {
	m, err := mapFile(t.name)
	if err != nil {
		return err
	}
	values, labels, ids, names, err := readNPZ(m, t.options)
	if err != nil {
		m.Close()
		return err
	}
	return t.setArrays(values, labels, ids, names, m.Close)
}

func readNPZ(m *mapping, o Options) (values, labels, ids *array, classNames []string, err error) {
	archive, err := zip.NewReader(m.file, m.size)
	if err != nil {
		return nil, nil, nil, nil, fmt.Errorf("not a whole .npz file: %w", err)
	}
	members := make(map[string]*zip.File)
	var there []string
	for _, member := range archive.File {
		name := strings.TrimSuffix(member.Name, ".npy")
		if members[name] != nil {
			return nil, nil, nil, nil, fmt.Errorf("two arrays of the name %.100q", name)
		}
		members[name] = member
		there = append(there, name)
	}
	valuesName, labelsName, idsName, err := chooseArrays(there, o)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	read := func(name string) *array {
		if name == "" || members[name] == nil || err != nil {
			return nil
		}
		var a *array
		if a, err = readMember(m, members[name]); err != nil {
			err = fmt.Errorf("%s: %w", name, err)
			return nil
		}
		a.name = name
		return a
	}
	values, labels, ids = read(valuesName), read(labelsName), read(idsName)
	if names := read(classNamesArray); names != nil {
		classNames, err = names.texts(MaxClasses)
	}
	return values, labels, ids, classNames, err
}

// What a compressed member may hold: freeBytes, and maxGrowth bytes for each byte of the
// file. Data shrinks to a half or a tenth; a few bytes made on purpose can stand for
// gigabytes.
const (
	freeBytes = 1 << 24
	maxGrowth = 100
)

// readMember reads the header of a member, and maps what follows where it is not
// compressed.
func readMember(m *mapping, member *zip.File) (*array, error) {
	packed := min(member.CompressedSize64, uint64(m.size))
	if member.UncompressedSize64 > freeBytes+maxGrowth*packed {
		return nil, errors.New("unpacks to more than 100 times its size, which no data set does")
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
	return a, nil
}
