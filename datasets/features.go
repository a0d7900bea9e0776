package datasets

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/maruel/safetensors"
)

// Features is a labelled set of vectors in memory, such as embeddings that another
// network computed. It implements [Set] with rows of shape {d}.
type Features struct {
	name       string
	size       int
	values     []float32
	labels     []int
	classNames []string
}

// NewFeatures makes a set of len(labels) vectors out of their values, row after row.
// The set keeps the slices. An empty set, values that are not whole rows or not
// finite, and labels outside [0, len(classNames)) are errors.
func NewFeatures(name string, values []float32, labels []int, classNames []string) (*Features, error) {
	if len(labels) == 0 || len(values) == 0 || len(values)%len(labels) != 0 {
		return nil, fmt.Errorf("datasets: %s: %d values are no rows for %d labels", name, len(values), len(labels))
	}
	size := len(values) / len(labels)
	for i, v := range values {
		if v-v != 0 {
			return nil, fmt.Errorf("datasets: %s: row %d holds %v in column %d; features must be finite", name, i/size, v, i%size)
		}
	}
	for i, label := range labels {
		if label < 0 || label >= len(classNames) {
			return nil, fmt.Errorf("datasets: %s: row %d: label %d, want 0 to %d", name, i, label, len(classNames)-1)
		}
	}
	return &Features{name, size, values, labels, classNames}, nil
}

// Name implements [Set].
func (f *Features) Name() string { return f.name }

// Len implements [Set].
func (f *Features) Len() int { return len(f.labels) }

// Shape implements [Set].
func (f *Features) Shape() []int { return []int{f.size} }

// ClassNames implements [Set].
func (f *Features) ClassNames() []string { return f.classNames }

// Label implements [Set].
func (f *Features) Label(i int) int { return f.labels[i] }

// CopyRow implements [Set]. The values are those of the file.
func (f *Features) CopyRow(dst []float32, i int) {
	if len(dst) != f.size {
		panic(fmt.Sprintf("datasets: CopyRow: dst has length %d, a row of %s has %d", len(dst), f.name, f.size))
	}
	copy(dst, f.values[i*f.size:])
}

// ReadFeatures reads the features of a domain from a folder: the first of DOMAIN.npz or
// DOMAIN.safetensors with the arrays features (n×d, floating point) and labels (n,
// integers from 0), or the pair DOMAIN-features.npy and DOMAIN-labels.npy. The set is
// named by the file's path.
//
// The classes are 0 to the largest label, 32,767 at most. A missing file is a
// [MissingFileError]; what does not fit, and values that are not finite, are errors that
// name the file.
func ReadFeatures(root, domain string) (*Features, error) {
	read, err := readFeatures(root, domain)
	if err != nil {
		return nil, err
	}
	names := make([]string, slices.Max(read.labels)+1)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return NewFeatures(read.path, read.values, read.labels, names)
}

// maxClasses bounds what the largest label makes the reader allocate.
const maxClasses = 1 << 15

// rawFeatures is what one domain's file holds.
type rawFeatures struct {
	path   string
	size   int
	values []float32
	labels []int
}

func readFeatures(root, domain string) (rawFeatures, error) {
	if domain != filepath.Base(domain) {
		return rawFeatures{}, fmt.Errorf("datasets: domain %q is not the name of a file", domain)
	}
	for _, form := range []struct {
		files []string
		read  func(paths []string) (values, labels array, err error)
	}{
		{[]string{domain + ".npz"}, readNPZ},
		{[]string{domain + ".safetensors"}, readSafetensors},
		{[]string{domain + "-features.npy", domain + "-labels.npy"}, readNPYPair},
	} {
		paths := make([]string, len(form.files))
		for i, name := range form.files {
			paths[i] = filepath.Join(root, name)
		}
		if err := checkFile(paths[0]); errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return rawFeatures{}, err
		}
		values, labels, err := form.read(paths)
		if err == nil {
			var raw rawFeatures
			if raw, err = newRawFeatures(values, labels); err == nil {
				raw.path = paths[0]
				return raw, nil
			}
		}
		return rawFeatures{}, fmt.Errorf("%s: %w", paths[0], err)
	}
	return rawFeatures{}, &MissingFileError{
		Names:  []string{domain + ".npz", domain + ".safetensors", domain + "-features.npy"},
		Folder: root,
		Source: "features of the domain, with arrays features (n×d) and labels (n), as iwrun extract writes them",
	}
}

func newRawFeatures(values, labels array) (rawFeatures, error) {
	switch {
	case len(values.shape) != 2 || values.floats == nil || values.shape[1] == 0:
		return rawFeatures{}, fmt.Errorf("features has shape %v; want rows × size, of floating point", values.shape)
	case len(labels.shape) != 1 || labels.ints == nil:
		return rawFeatures{}, fmt.Errorf("labels has shape %v; want one integer a row", labels.shape)
	case labels.shape[0] != values.shape[0] || labels.shape[0] == 0:
		return rawFeatures{}, fmt.Errorf("%d labels for %d rows of features", labels.shape[0], values.shape[0])
	}
	for row, label := range labels.ints {
		if label < 0 || label >= maxClasses {
			return rawFeatures{}, fmt.Errorf("row %d has label %d; labels count from 0, up to %d", row, label, maxClasses-1)
		}
	}
	return rawFeatures{size: values.shape[1], values: values.floats, labels: labels.ints}, nil
}

func readSafetensors(paths []string) (values, labels array, err error) {
	data, err := os.ReadFile(paths[0])
	if err != nil {
		return array{}, array{}, err
	}
	return parseSafetensors(data)
}

func parseSafetensors(data []byte) (values, labels array, err error) {
	file, err := safetensors.Parse(data)
	if err != nil {
		return array{}, array{}, fmt.Errorf("not a whole safetensors file: %w", err)
	}
	for _, t := range file.Tensors {
		a := array{shape: convert[int](t.Shape)}
		r := bytes.NewReader(t.Data)
		switch t.DType {
		case safetensors.F32:
			a.floats = make([]float32, len(t.Data)/4)
			err = binary.Read(r, binary.LittleEndian, a.floats)
		case safetensors.I64:
			wide := make([]int64, len(t.Data)/8)
			err = binary.Read(r, binary.LittleEndian, wide)
			a.ints = convert[int](wide)
		}
		switch t.Name {
		case "features":
			values = a
		case "labels":
			labels = a
		}
		if err != nil {
			return array{}, array{}, err
		}
	}
	return values, labels, nil
}

// WriteFeatures writes a set of vectors as an .npz file with the arrays features
// (n×d, float32) and labels (n, int64), which [ReadFeatures] and NumPy read.
func WriteFeatures(w io.Writer, set Set) error {
	archive := zip.NewWriter(w)
	n, d := set.Len(), product(set.Shape())
	features, err := archive.Create("features.npy")
	if err != nil {
		return err
	}
	if err := writeHeader(features, "<f4", fmt.Sprintf("(%d, %d)", n, d)); err != nil {
		return err
	}
	row, encoded := make([]float32, d), make([]byte, 0, 4*d)
	for i := range n {
		set.CopyRow(row, i)
		encoded = encoded[:0]
		for _, v := range row {
			encoded = binary.LittleEndian.AppendUint32(encoded, math.Float32bits(v))
		}
		if _, err := features.Write(encoded); err != nil {
			return err
		}
	}
	labels, err := archive.Create("labels.npy")
	if err != nil {
		return err
	}
	if err := writeHeader(labels, "<i8", fmt.Sprintf("(%d,)", n)); err != nil {
		return err
	}
	encoded = make([]byte, 0, 8*n)
	for i := range n {
		encoded = binary.LittleEndian.AppendUint64(encoded, uint64(set.Label(i)))
	}
	if _, err := labels.Write(encoded); err != nil {
		return err
	}
	return archive.Close()
}

// writeHeader writes the header of a version 1.0 .npy file, padded to 64 bytes.
func writeHeader(w io.Writer, dtype, shape string) error {
	const prefix = 10 // magic, version, length
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, shape)
	padded := (prefix+len(header)+1+63)/64*64 - prefix
	header += string(bytes.Repeat([]byte{' '}, padded-len(header)-1)) + "\n"
	start := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	_, err := w.Write(append(start, header...))
	return err
}
