package datasets

import "fmt"

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
