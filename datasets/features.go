package datasets

import (
	"encoding/binary"
	"fmt"
	"io"

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

// WriteFeatures writes a set of vectors as an .npz file with the arrays features
// (n×d, float32), labels (n, int64), -1 for a row without one, and class_names, which package
// table and NumPy read. There is no array of labels where no row has one.
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
