package pth

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/nlpodyssey/gopickle/types"
)

func isTar(data []byte) bool {
	const at = 257 // of the format's magic in the first header
	return len(data) >= 512 && bytes.HasPrefix(data[at:], []byte("ustar"))
}

// readTar reads an archive of three members: storages, each a pickle followed by its
// numbers; tensors, each a pickle followed by its shape; and a pickle that refers to
// the tensors by their keys.
func readTar(data []byte) (any, error) {
	members := make(map[string][]byte)
	reader := bytes.NewReader(data)
	for archive := tar.NewReader(reader); ; {
		header, err := archive.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		begin := len(data) - reader.Len()
		if header.Typeflag != tar.TypeReg || header.Size > int64(len(data)-begin) {
			return nil, fmt.Errorf("%.100q in the tar archive: no file or cut off", header.Name)
		}
		members[header.Name] = data[begin : begin+int(header.Size)]
	}
	if facts, ok := members["sys_info"]; ok {
		machine, _, err := unpickle(facts, nil)
		if err != nil {
			return nil, fmt.Errorf("sys_info in the tar archive: %w", err)
		}
		if !littleEndian(machine) {
			return nil, errBigEndian
		}
	}
	known, err := readTarStorages(members["storages"])
	if err != nil {
		return nil, fmt.Errorf("storages in the tar archive: %w", err)
	}
	tensors, err := readTarTensors(members["tensors"], known)
	if err != nil {
		return nil, fmt.Errorf("tensors in the tar archive: %w", err)
	}
	dictionary, _, err := unpickle(members["pickle"], func(id any) (any, error) {
		text, _ := id.(string)
		key, err := strconv.Atoi(text)
		v, ok := tensors[key]
		if err != nil || !ok {
			return nil, errors.New("a reference to something other than a tensor")
		}
		return v, nil
	})
	return dictionary, err
}

func readTarStorages(data []byte) (map[int]*storage, error) {
	known := make(map[int]*storage)
	rest, err := eachOf(data, func(fields []any, rest []byte) ([]byte, error) {
		key, isInt := fields[0].(int)
		class, isClass := fields[2].(storageClass)
		length, _, err := cutInt64(rest)
		if err != nil || !isInt || !isClass || length < 0 {
			return nil, errors.New("a damaged storage")
		}
		known[key] = &storage{class: class, length: length}
		return known[key].takeCounted(rest)
	})
	if err != nil {
		return nil, err
	}
	views, _, err := unpickle(rest, nil)
	if err != nil {
		return nil, err
	}
	if list, ok := views.(*types.List); !ok || list.Len() > 0 {
		return nil, errors.New("a storage that is part of another is not supported")
	}
	return known, nil
}

func readTarTensors(data []byte, known map[int]*storage) (map[int]*view, error) {
	tensors := make(map[int]*view)
	_, err := eachOf(data, func(fields []any, rest []byte) ([]byte, error) {
		key, isInt := fields[0].(int)
		storageKey, isIntToo := fields[1].(int)
		s, ok := known[storageKey]
		if !isInt || !isIntToo || !ok || len(rest) < 8 {
			return nil, errors.New("a damaged tensor")
		}
		dimensions := int(binary.LittleEndian.Uint32(rest))
		rest = rest[8:] // four bytes of padding
		if dimensions > 8 {
			return nil, fmt.Errorf("a tensor of %d dimensions", dimensions)
		}
		numbers := make([]int, 2*dimensions+1)
		for i := range numbers {
			var err error
			if numbers[i], rest, err = cutInt64(rest); err != nil {
				return nil, err
			}
		}
		v, err := newView(s, numbers[2*dimensions], numbers[:dimensions], numbers[dimensions:2*dimensions])
		tensors[key] = v
		return rest, err
	})
	return tensors, err
}

// eachOf reads a pickled number and as many times a pickled triple, which f gets with
// what follows it and of which f returns what it left. It returns what follows the last.
func eachOf(data []byte, f func(fields []any, rest []byte) ([]byte, error)) (rest []byte, err error) {
	value, rest, err := unpickle(data, nil)
	if err != nil {
		return nil, err
	}
	count, ok := value.(int)
	if !ok {
		return nil, errors.New("no number of entries")
	}
	for range count {
		value, after, err := unpickle(rest, nil)
		if err != nil {
			return nil, err
		}
		triple, ok := value.(*types.Tuple)
		if !ok || triple.Len() != 3 {
			return nil, errors.New("an entry that is no triple")
		}
		if rest, err = f(*triple, after); err != nil {
			return nil, err
		}
	}
	return rest, nil
}
