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
	"github.com/sbinet/npyio"
	"github.com/sbinet/npyio/npz"
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

// LoadFeatures reads the features of two domains from a folder: of a domain, the
// first of DOMAIN.npz or DOMAIN.safetensors with the arrays features (n×d, floating
// point) and labels (n, integers from 0), or the pair DOMAIN-features.npy and
// DOMAIN-labels.npy. test is what DOMAIN-test holds of the target in the same form, or
// the target itself where there is none.
//
// The classes are 0 to the largest label of any of them. Sizes that differ, a missing
// file and values that are not finite are errors that name the file.
func LoadFeatures(root, source, target string) (from, to, test *Features, err error) {
	var read [3]rawFeatures
	for i, name := range []string{source, target, target + "-test"} {
		read[i], err = readFeatures(root, name)
		if missing := (*MissingFileError)(nil); i == 2 && errors.As(err, &missing) {
			read[i], err = read[1], nil
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
	classes := 0
	for _, r := range read {
		classes = max(classes, slices.Max(r.labels)+1)
		if r.size != read[0].size {
			return nil, nil, nil, fmt.Errorf("%s holds features of size %d, %s of size %d", r.path, r.size, read[0].path, read[0].size)
		}
	}
	names := make([]string, classes)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	var sets [3]*Features
	for i, r := range read {
		if sets[i], err = NewFeatures(r.path, r.values, r.labels, names); err != nil {
			return nil, nil, nil, err
		}
	}
	return sets[0], sets[1], sets[2], nil
}

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
		if _, err := os.Stat(paths[0]); errors.Is(err, fs.ErrNotExist) {
			continue
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

// array is an array of a file: its shape and values, of which one slice is set.
type array struct {
	shape  []int
	floats []float32
	ints   []int
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
	if least := slices.Min(labels.ints); least < 0 {
		return rawFeatures{}, fmt.Errorf("row %d has label %d; labels count from 0", slices.Index(labels.ints, least), least)
	}
	return rawFeatures{size: values.shape[1], values: values.floats, labels: labels.ints}, nil
}

func readNPZ(paths []string) (values, labels array, err error) {
	r, err := npz.Open(paths[0])
	if err != nil {
		return array{}, array{}, fmt.Errorf("not a whole .npz file: %w", err)
	}
	defer r.Close()
	read := func(name string) (array, error) {
		for _, key := range []string{name, name + ".npy"} {
			if h := r.Header(key); h != nil {
				return readArray(h, func(to any) error { return r.Read(key, to) })
			}
		}
		return array{}, fmt.Errorf("no array %q; there are %v", name, r.Keys())
	}
	if values, err = read("features"); err == nil {
		labels, err = read("labels")
	}
	return values, labels, err
}

func readNPYPair(paths []string) (values, labels array, err error) {
	var arrays [2]array
	for i, path := range paths {
		arrays[i], err = readFile(path, func(r io.Reader, _ string) (array, error) {
			npy, err := npyio.NewReader(r)
			if err != nil {
				return array{}, fmt.Errorf("not a whole .npy file: %w", err)
			}
			return readArray(&npy.Header, npy.Read)
		})
		if err != nil {
			return array{}, array{}, err
		}
	}
	return arrays[0], arrays[1], nil
}

// readArray reads an array of any type that features or labels have.
func readArray(h *npyio.Header, read func(any) error) (array, error) {
	a := array{shape: h.Descr.Shape}
	if h.Descr.Fortran && len(a.shape) > 1 {
		return a, errors.New("the array is in Fortran order; save it with numpy.ascontiguousarray")
	}
	var err error
	switch h.Descr.Type {
	case "<f4":
		err = read(&a.floats)
	case "<f8":
		var values []float64
		err = read(&values)
		a.floats = convert[float32](values)
	case "<i8":
		var values []int64
		err = read(&values)
		a.ints = convert[int](values)
	case "<i4":
		var values []int32
		err = read(&values)
		a.ints = convert[int](values)
	case "|u1":
		var values []uint8
		err = read(&values)
		a.ints = convert[int](values)
	default:
		return a, fmt.Errorf("elements of type %s; want float32 or float64 features and int32, int64 or uint8 labels", h.Descr.Type)
	}
	return a, err
}

func convert[To, From int | int32 | int64 | uint8 | float32 | float64](values []From) []To {
	converted := make([]To, len(values))
	for i, v := range values {
		converted[i] = To(v)
	}
	return converted
}

func readSafetensors(paths []string) (values, labels array, err error) {
	data, err := os.ReadFile(paths[0])
	if err != nil {
		return array{}, array{}, err
	}
	file, err := safetensors.Parse(data)
	if err != nil {
		return array{}, array{}, fmt.Errorf("not a whole safetensors file: %w", err)
	}
	for _, t := range file.Tensors {
		if err := t.Validate(); err != nil {
			return array{}, array{}, err
		}
		a := array{shape: convert[int](toInt64s(t.Shape))}
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

func toInt64s(shape []uint64) []int64 {
	wide := make([]int64, len(shape))
	for i, n := range shape {
		wide[i] = int64(n)
	}
	return wide
}

// WriteFeatures writes a set of vectors as an .npz file with the arrays features
// (n×d, float32) and labels (n, int64), which [LoadFeatures] and NumPy read.
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
