package datasets

import (
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"

	"iwda/datasets/table"
)

// Features is a set of vectors in memory, such as embeddings that another
// network computed. It implements [Set] with rows of shape {d}.
type Features struct {
	rows
	values []float32
}

// NewFeatures makes a set of as many vectors as there are labels out of their values,
// row after row. The set keeps the slices. An empty set, values that are not whole rows
// or not finite, and labels outside [0, len(classNames)) are errors.
func NewFeatures(name string, values []float32, labels Labels, classNames []string) (*Features, error) {
	if labels.Len() == 0 || len(values) == 0 || len(values)%labels.Len() != 0 {
		return nil, fmt.Errorf("datasets: %s: %d values are no rows for %d labels", name, len(values), labels.Len())
	}
	size := len(values) / labels.Len()
	for i, v := range values {
		if v-v != 0 {
			return nil, fmt.Errorf("datasets: %s: row %d holds %v in column %d; features must be finite", name, i/size, v, i%size)
		}
	}
	if err := labels.check(name, len(classNames)); err != nil {
		return nil, err
	}
	return &Features{rows{name, []int{size}, size, classNames, labels}, values}, nil
}

// CopyRow implements [Set]. The values are those that the set was made of.
func (f *Features) CopyRow(dst []float32, i int) {
	f.fits(dst)
	copy(dst, f.values[i*f.size:(i+1)*f.size])
}

// ReadFeatures reads the features of a domain from a folder: the first of DOMAIN.npz or
// DOMAIN.safetensors with the arrays features (n×d, floating point) and labels (n,
// integers from 0), or the pair DOMAIN-features.npy and DOMAIN-labels.npy. The set is
// named by the file's path.
//
// The classes are 0 to the largest label, 32,767 at most. A folder with none of these files
// is a [MissingFileError]; what does not fit, labels that are missing, and values that are
// not finite, are errors that name the file.
func ReadFeatures(root, domain string) (*Features, error) {
	path, err := findFeatures(root, domain)
	if err != nil {
		return nil, err
	}
	t, err := table.Open(path, table.Options{Kind: table.Features})
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if !t.HasLabels() {
		return nil, fmt.Errorf("%s: no labels; want one integer a row", path)
	}
	classes, err := classNumbers(t)
	if err != nil {
		return nil, err
	}
	const batch = 256
	values, labels := make([]float32, 0, t.Len()*t.Width()), []int(nil)
	for b, err := range t.Batches(batch) {
		if err != nil {
			return nil, err
		}
		values = append(values, b.Values...)
		for i := range b.Len() {
			class, known := b.Label(i)
			if !known {
				return nil, fmt.Errorf("%s: row %d has no label; labels count from 0, up to %d", path, b.First+i, table.MaxClasses-1)
			}
			labels = append(labels, classes[class])
		}
	}
	names := make([]string, slices.Max(labels)+1)
	for c := range names {
		names[c] = strconv.Itoa(c)
	}
	return NewFeatures(path, values, KnownLabels(labels), names)
}

// findFeatures returns the path of a domain's file.
func findFeatures(root, domain string) (string, error) {
	if domain != filepath.Base(domain) {
		return "", fmt.Errorf("datasets: domain %q is not the name of a file", domain)
	}
	return findFile(root, []string{domain + ".npz", domain + ".safetensors", domain + "-features.npy"},
		"features of the domain, with arrays features (n×d) and labels (n), as iwrun extract writes them")
}

// classNumbers returns the number of each class of a table: the label itself, or the
// class's place where the file names the classes.
func classNumbers(t *table.Table) ([]int, error) {
	names, err := t.ClassNames()
	if err != nil {
		return nil, err
	}
	numbers := make([]int, len(names))
	for class, name := range names {
		if numbers[class] = class; t.HasClassNames() {
			continue
		}
		number, err := strconv.Atoi(name)
		if err != nil || number < 0 || number >= table.MaxClasses {
			return nil, fmt.Errorf("%s: label %.100q; labels are integers that count from 0, up to %d", t.Name(), name, table.MaxClasses-1)
		}
		numbers[class] = number
	}
	return numbers, nil
}

// WriteFeatures writes a set of vectors as an .npz file with the arrays features
// (n×d, float32), labels (n, int64), -1 for a row without one, and class_names, which
// [ReadFeatures], package table and NumPy read. A set none of whose rows has a label has no
// array of labels.
func WriteFeatures(w io.Writer, set Set) error {
	file := table.NewNPZ(w)
	n, d := set.Len(), Size(set.Shape())
	features, err := file.Array("features", "<f4", n, d)
	if err != nil {
		return err
	}
	row, encoded := make([]float32, d), make([]byte, 0, 4*d)
	for i := range n {
		set.CopyRow(row, i)
		encoded, _ = binary.Append(encoded[:0], binary.LittleEndian, row)
		if _, err := features.Write(encoded); err != nil {
			return err
		}
	}
	if LabelsOf(set).Known() > 0 {
		labels, err := file.Array("labels", "<i8", n)
		if err != nil {
			return err
		}
		if _, err := labels.Write(encodeLabels(set)); err != nil {
			return err
		}
	}
	if names := set.ClassNames(); len(names) > 0 {
		if err := file.ClassNames(names); err != nil {
			return err
		}
	}
	return file.Close()
}

// encodeLabels returns the labels of all rows as <i8, -1, which no class is, where they are
// not known.
func encodeLabels(set Set) []byte {
	encoded := make([]byte, 0, 8*set.Len())
	for i := range set.Len() {
		class, known := set.Label(i)
		if !known {
			class = -1
		}
		encoded = binary.LittleEndian.AppendUint64(encoded, uint64(class))
	}
	return encoded
}
