package pth

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/big"
	"path"

	"github.com/nlpodyssey/gopickle/types"
)

// readZip reads an archive of a pickle, data.pkl, and one record a storage, data/0
// and so on, under a folder of any name.
func readZip(data []byte) (any, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var program []byte
	folder := ""
	records := make(map[string]*zip.File)
	for _, f := range archive.File {
		records[f.Name] = f
		if path.Base(f.Name) == "data.pkl" && program == nil {
			folder = path.Dir(f.Name)
			if program, err = record(data, f); err != nil {
				return nil, err
			}
		}
	}
	if program == nil {
		return nil, errors.New("the zip archive holds no data.pkl, so torch.save did not write it")
	}
	known := make(storages)
	left := len(data)
	dictionary, _, err := unpickle(program, func(id any) (any, error) {
		s, err := known.resolve(id)
		if err != nil || s.data != nil {
			return s, err
		}
		f, ok := records[path.Join(folder, "data", s.key)]
		if !ok {
			return nil, fmt.Errorf("the zip archive lacks the record of storage %.100q", s.key)
		}
		// Records may lie on one another, and each is summed up as a whole.
		if f.UncompressedSize64 > uint64(left) {
			return nil, fmt.Errorf("%.100q: the records are larger than the file", f.Name)
		}
		left -= int(f.UncompressedSize64)
		content, err := record(data, f)
		if err != nil {
			return nil, err
		}
		_, err = s.take(content)
		return s, err
	})
	return dictionary, err
}

// record returns the part of data that is the content of f.
func record(data []byte, f *zip.File) ([]byte, error) {
	offset, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%.100q: %w", f.Name, err)
	}
	if f.Method != zip.Store || offset < 0 || offset > int64(len(data)) || f.UncompressedSize64 > uint64(len(data))-uint64(offset) {
		return nil, fmt.Errorf("%.100q: compressed or cut off, so torch.save did not write it", f.Name)
	}
	content := data[offset : offset+int64(f.UncompressedSize64)]
	if crc32.ChecksumIEEE(content) != f.CRC32 {
		return nil, fmt.Errorf("%.100q: %w", f.Name, zip.ErrChecksum)
	}
	return content, nil
}

// readStream reads pickles one after the other: a magic number, a version, facts on
// the machine, the dictionary and the keys of the storages, whose numbers follow.
func readStream(data []byte) (any, error) {
	const version = 1001
	magic, rest, err := unpickle(data, nil)
	if err != nil {
		return nil, fmt.Errorf("neither a zip archive nor a stream of torch.save: %w", err)
	}
	if number, ok := magic.(*big.Int); !ok || number.Text(16) != "1950a86a20f9469cfc6c" {
		return nil, errors.New("neither a zip archive nor a stream of torch.save")
	}
	found, rest, err := unpickle(rest, nil)
	if err != nil {
		return nil, err
	}
	if found != version {
		return nil, errors.New("another version of torch.save's stream than 1001")
	}
	machine, rest, err := unpickle(rest, nil)
	if err != nil {
		return nil, err
	}
	if !littleEndian(machine) {
		return nil, errBigEndian
	}
	known := make(storages)
	dictionary, rest, err := unpickle(rest, func(id any) (any, error) { return known.resolve(id) })
	if err != nil {
		return nil, err
	}
	keys, rest, err := unpickle(rest, nil)
	if err != nil {
		return nil, err
	}
	list, ok := keys.(*types.List)
	if !ok {
		return nil, errors.New("the list of storages is none")
	}
	for _, key := range *list {
		name, _ := key.(string)
		s, ok := known[name]
		if !ok {
			return nil, errors.New("numbers of a storage that no tensor uses")
		}
		if rest, err = s.takeCounted(rest); err != nil {
			return nil, err
		}
	}
	return dictionary, nil
}

var errBigEndian = errors.New("written by a big-endian machine, which is not supported")

// littleEndian reads the facts that torch.save notes on its machine.
func littleEndian(machine any) bool {
	if d, ok := machine.(*types.Dict); ok {
		little, found := d.Get("little_endian")
		return !found || little == true
	}
	return true
}

// takeCounted is take where the number of numbers comes first.
func (s *storage) takeCounted(data []byte) (rest []byte, err error) {
	const size = 8
	if len(data) < size {
		return nil, errors.New("the file ends within a number")
	}
	if n := int(binary.LittleEndian.Uint64(data)); n != s.length {
		return nil, fmt.Errorf("a storage of %d numbers where %d were announced", n, s.length)
	}
	return s.take(data[size:])
}

// storages are a file's by their keys.
type storages map[string]*storage

// resolve reads a persistent identifier: "storage", class, key, device, length and,
// in streams, what part of another storage it is, which state dictionaries do
// not have.
func (known storages) resolve(id any) (*storage, error) {
	tuple, ok := id.(*types.Tuple)
	if !ok || tuple.Len() < 5 || tuple.Get(0) != "storage" || (tuple.Len() > 5 && tuple.Get(5) != nil) {
		return nil, errors.New("a reference to something other than a storage")
	}
	class, isClass := tuple.Get(1).(storageClass)
	key, isString := tuple.Get(2).(string)
	length, isInt := tuple.Get(4).(int)
	if !isClass || !isString || !isInt || length < 0 {
		return nil, errors.New("a damaged reference to a storage")
	}
	if known[key] == nil {
		known[key] = &storage{key: key, class: class, length: length}
	}
	return known[key], nil
}
