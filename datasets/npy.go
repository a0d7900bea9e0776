package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sbinet/npyio"
)

// array is an array of a file: its shape and values, of which one slice is set.
type array struct {
	shape  []int
	floats []float32
	ints   []int
}

func readNPYPair(paths []string) (values, labels array, err error) {
	var arrays [2]array
	for i, path := range paths {
		arrays[i], err = readNPY(path)
		if err != nil && i > 0 { // the caller names the first file
			err = fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		if err != nil {
			return array{}, array{}, err
		}
	}
	return arrays[0], arrays[1], nil
}

func readNPY(path string) (array, error) {
	if err := checkFile(path); err != nil {
		return array{}, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return array{}, err
	}
	return parseNPY(content)
}

func readNPZ(paths []string) (values, labels array, err error) {
	file, err := os.Open(paths[0])
	if err != nil {
		return array{}, array{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return array{}, array{}, err
	}
	return parseNPZ(file, info.Size())
}

// parseNPZ reads the arrays features and labels of a zip archive of that size. Names in
// it are only compared: nothing is looked for or written under them.
func parseNPZ(r io.ReaderAt, size int64) (values, labels array, err error) {
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return array{}, array{}, fmt.Errorf("not a whole .npz file: %w", err)
	}
	if values, err = readMember(archive, "features", size); err == nil {
		labels, err = readMember(archive, "labels", size)
	}
	return values, labels, err
}

func readMember(archive *zip.Reader, name string, size int64) (array, error) {
	const shown = 10
	var others []string
	for _, member := range archive.File {
		if member.Name != name && member.Name != name+".npy" {
			others = append(others, fmt.Sprintf("%.100q", member.Name))
			continue
		}
		content, err := unzip(member, size)
		if err != nil {
			return array{}, err
		}
		a, err := parseNPY(content)
		if err != nil {
			return array{}, fmt.Errorf("%s: %w", member.Name, err)
		}
		return a, nil
	}
	return array{}, fmt.Errorf("no array %q; there are %v", name, others[:min(len(others), shown)])
}

// unzip returns the content of a member of an archive of that size.
func unzip(member *zip.File, size int64) ([]byte, error) {
	if limit := freeBytes + maxGrowth*min(member.CompressedSize64, uint64(size)); member.UncompressedSize64 > limit {
		return nil, fmt.Errorf("%s: %w", member.Name, errGrowth)
	}
	r, err := member.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", member.Name, err)
	}
	defer r.Close()
	return readBody(r, member.Name, int64(member.UncompressedSize64))
}

// parseNPY reads an array of any type that features or labels have.
func parseNPY(content []byte) (array, error) {
	// npyio makes room for what a header says before it reads: for its length first, which
	// has four bytes from version 2 on, then for the array.
	const version, length, header = 6, 8, 12
	if len(content) >= header && content[version] > 1 && int64(binary.LittleEndian.Uint32(content[length:])) > int64(len(content)-header) {
		return array{}, fmt.Errorf("not a whole .npy file: the header is cut off: %w", io.ErrUnexpectedEOF)
	}
	r := bytes.NewReader(content)
	npy, err := openNPY(r)
	if err != nil {
		return array{}, fmt.Errorf("not a whole .npy file: %w", err)
	}
	a := array{shape: npy.Header.Descr.Shape}
	if npy.Header.Descr.Fortran && len(a.shape) > 1 {
		return a, errors.New("the array is in Fortran order; save it with numpy.ascontiguousarray")
	}
	size, known := elementSizes[npy.Header.Descr.Type]
	if !known {
		return a, fmt.Errorf("elements of type %.100q; want float32 or float64 features and int32, int64 or uint8 labels", npy.Header.Descr.Type)
	}
	if !fills(a.shape, size, r.Len()) {
		return a, fmt.Errorf("%d bytes follow the header, which do not fill the shape %v of %d bytes an element", r.Len(), a.shape, size)
	}
	return a, a.read(npy)
}

// elementSizes are the sizes in bytes of the types that are read.
var elementSizes = map[string]int{"<f4": 4, "<f8": 8, "<i8": 8, "<i4": 4, "|u1": 1}

// openNPY reads the header. npyio cuts it into pieces without looking whether they are
// there, and panics where they are not.
func openNPY(r io.Reader) (npy *npyio.Reader, err error) {
	defer func() {
		if damage := recover(); damage != nil {
			npy, err = nil, fmt.Errorf("damaged header: %v", damage)
		}
	}()
	return npyio.NewReader(r)
}

// fills reports whether an array of that shape has exactly that many bytes.
func fills(shape []int, elementSize, bytes int) bool {
	left := bytes / elementSize
	count := 1
	for _, d := range shape {
		if d < 0 || d > 0 && count > left/d {
			return false
		}
		count *= d
	}
	return count*elementSize == bytes
}

// read fills a with the elements that follow the header.
func (a *array) read(npy *npyio.Reader) (err error) {
	switch npy.Header.Descr.Type {
	case "<f4":
		err = npy.Read(&a.floats)
	case "<f8":
		var values []float64
		err = npy.Read(&values)
		a.floats = convert[float32](values)
	case "<i8":
		var values []int64
		err = npy.Read(&values)
		a.ints = convert[int](values)
	case "<i4":
		var values []int32
		err = npy.Read(&values)
		a.ints = convert[int](values)
	case "|u1":
		var values []uint8
		err = npy.Read(&values)
		a.ints = convert[int](values)
	}
	return err
}

func convert[To, From int | int32 | int64 | uint8 | uint64 | float32 | float64](values []From) []To {
	converted := make([]To, len(values))
	for i, v := range values {
		converted[i] = To(v)
	}
	return converted
}
