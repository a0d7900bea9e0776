package datasets

import (
	"fmt"
	"slices"
	"strconv"

	"iwda/internal/evenly"
)

// Set is a set of rows, images as a rule, each of which may have a label. Its methods may
// be called from several goroutines at once, and panic where there is no row i.
type Set interface {
	// Name identifies the set in messages and results, as in "mnist-train".
	Name() string
	// Len is the number n of rows.
	Len() int
	// Shape is the shape of one row, {channels, height, width} for images. The
	// caller must not change it.
	Shape() []int
	// ClassNames lists the k classes in label order. The caller must not change it.
	ClassNames() []string
	// Label returns the class of row i, in [0, k), if it is known.
	Label(i int) (class int, known bool)
	// CopyRow writes the normalised values of row i to dst, in C order of Shape. It
	// panics unless len(dst) is the product of Shape.
	CopyRow(dst []float32, i int)
}

// Named is a [Set] whose values have names, as those of a file of columns.
type Named interface {
	Set
	// Columns lists the names of a row's values, nil where they have none. The caller must
	// not change it.
	Columns() []string
}

// rows are what is known of rows in memory beside their values.
type rows struct {
	name       string
	shape      []int
	size       int // values a row
	classNames []string
	labels     Labels
}

// Name implements [Set].
func (r *rows) Name() string { return r.name }

// Len implements [Set].
func (r *rows) Len() int { return r.labels.Len() }

// Shape implements [Set].
func (r *rows) Shape() []int { return r.shape }

// ClassNames implements [Set].
func (r *rows) ClassNames() []string { return r.classNames }

// Label implements [Set].
func (r *rows) Label(i int) (class int, known bool) { return r.labels.At(i) }

// fits panics unless dst has room for exactly one row.
func (r *rows) fits(dst []float32) {
	if len(dst) != r.size {
		panic(fmt.Sprintf("datasets: CopyRow: dst has length %d, a row of %s has %d", len(dst), r.name, r.size))
	}
}

// Images is a [Set] of images in memory, one byte a value.
type Images struct {
	rows
	pixels []byte
}

// NewImages makes a set of as many images of the given shape as there are labels out of
// their pixels in C order. The set keeps the slices; the caller must not change them
// afterwards. A label outside [0, len(classNames)), or a number of pixels other
// than the shape and the labels ask for, is an error.
func NewImages(name string, shape []int, classNames []string, pixels []byte, labels Labels) (*Images, error) {
	size := Size(shape)
	if len(pixels) != size*labels.Len() {
		return nil, fmt.Errorf("datasets: %s: %d labels of shape %v need %d pixels, got %d",
			name, labels.Len(), shape, size*labels.Len(), len(pixels))
	}
	if err := labels.check(name, len(classNames)); err != nil {
		return nil, err
	}
	return &Images{rows{name, slices.Clone(shape), size, classNames, labels}, pixels}, nil
}

// Pixels returns the bytes of row i in C order of the set's shape. The caller must
// not change them.
func (s *Images) Pixels(i int) []byte {
	return s.pixels[i*s.size : (i+1)*s.size : (i+1)*s.size]
}

// CopyRow implements [Set]. A byte x becomes (x/255 - 0.5)/0.5, in [-1, 1].
func (s *Images) CopyRow(dst []float32, i int) {
	s.fits(dst)
	for j, x := range s.Pixels(i) {
		dst[j] = normalised[x]
	}
}

// normalised[x] is (x/255 - 0.5)/0.5, each step rounded to float32, as image
// pipelines in float32 compute it.
var normalised = func() (table [256]float32) {
	for x := range table {
		unit := float32(x) / 255
		centred := float32(unit - 0.5)
		table[x] = centred / 0.5
	}
	return table
}()

// CopyRows fills a batch: row rows[b] of the set goes to the b-th part of dst, which
// holds len(rows) rows of the set's shape. It allocates nothing, and panics where a
// length does not fit.
func CopyRows(dst []float32, set Set, rows []int) {
	size := Size(set.Shape())
	if len(dst) != size*len(rows) {
		panic(fmt.Sprintf("datasets: CopyRows: %d rows of %d values need %d values, got %d", len(rows), size, size*len(rows), len(dst)))
	}
	for b, i := range rows {
		set.CopyRow(dst[b*size:(b+1)*size], i)
	}
}

// CopyLabels fills the labels of a batch: that of row rows[b] of the set goes to dst[b].
// It allocates nothing, and panics where the lengths differ or a label is unknown.
func CopyLabels(dst []int64, set Set, rows []int) {
	if len(dst) != len(rows) {
		panic(fmt.Sprintf("datasets: CopyLabels: %d rows need as many labels, got %d", len(rows), len(dst)))
	}
	for b, i := range rows {
		class, known := set.Label(i)
		if !known {
			panic(fmt.Sprintf("datasets: CopyLabels: row %d of %s has no label", i, set.Name()))
		}
		dst[b] = int64(class)
	}
}

// Subset returns a view of the given rows of a set, in their order; a row may
// occur more than once. The view keeps the slice. It panics where a row lies
// outside the set.
func Subset(set Set, rows []int) Set {
	for _, i := range rows {
		if i < 0 || i >= set.Len() {
			panic(fmt.Sprintf("datasets: Subset: row %d of %s, which has %d", i, set.Name(), set.Len()))
		}
	}
	return &subset{set, rows}
}

// GroupsOf returns the number of the group that each row of a set belongs to; nil where rows have none.
func GroupsOf(set Set) []int {
	switch s := set.(type) {
	case *subset:
		if all := GroupsOf(s.Set); all != nil {
			return evenly.Pick(all, s.rows)
		}
	case *joined:
		return s.groups()
	case interface{ Groups() []int }:
		return s.Groups()
	}
	return nil
}

// Evenly returns a view of at most that many rows, drawn evenly over their order.
func Evenly(set Set, most int) Set {
	return Subset(set, evenly.Rows(set.Len(), most))
}

type subset struct {
	Set
	rows []int
}

func (s *subset) Len() int                            { return len(s.rows) }
func (s *subset) Label(i int) (class int, known bool) { return s.Set.Label(s.rows[i]) }
func (s *subset) CopyRow(dst []float32, i int)        { s.Set.CopyRow(dst, s.rows[i]) }

// joined is several sets as one.
type joined struct {
	Set    // the first, whose shape, classes and columns are those of all
	name   string
	sets   []Set
	labels Labels
	parts  []int // the set of each row
	rows   []int // its number there
}

// Join returns a view of several sets of rows of one shape and the same classes, one set after another. Groups of
// the same number are one, in whatever sets. It panics where shapes differ.
func Join(sets ...Set) Set {
	if len(sets) == 1 {
		return sets[0]
	}
	all := &joined{Set: sets[0], name: sets[0].Name(), sets: sets}
	for part, set := range sets {
		if part > 0 {
			all.name += "+" + set.Name()
		}
		if !slices.Equal(set.Shape(), all.Shape()) {
			panic(fmt.Sprintf("datasets: Join: rows of shape %v in %s, %v in %s", set.Shape(), set.Name(), all.Shape(), all.Set.Name()))
		}
		for i := range set.Len() {
			all.labels.Add(set.Label(i))
			all.parts, all.rows = append(all.parts, part), append(all.rows, i)
		}
	}
	return all
}

// PartsOf returns the number of the set that each row of a joined set is from; nil of others.
func PartsOf(set Set) []int {
	switch s := set.(type) {
	case *subset:
		if all := PartsOf(s.Set); all != nil {
			return evenly.Pick(all, s.rows)
		}
	case *joined:
		return s.parts
	}
	return nil
}

func (j *joined) Name() string                        { return j.name }
func (j *joined) Len() int                            { return len(j.parts) }
func (j *joined) Label(i int) (class int, known bool) { return j.labels.At(i) }
func (j *joined) CopyRow(dst []float32, i int)        { j.sets[j.parts[i]].CopyRow(dst, j.rows[i]) }

// Columns implements [Named].
func (j *joined) Columns() []string {
	if named, is := j.Set.(Named); is {
		return named.Columns()
	}
	return nil
}

// ID says what row i is called in its set, or its number there, and which set it is.
func (j *joined) ID(i int) string {
	set, id := j.sets[j.parts[i]], strconv.Itoa(j.rows[i])
	if named, is := set.(interface{ ID(i int) string }); is {
		id = named.ID(j.rows[i])
	}
	return id + " in " + set.Name()
}

// groups are nil where no set has any; a row without one is a group of its own.
func (j *joined) groups() []int {
	if !slices.ContainsFunc(j.sets, func(set Set) bool { return GroupsOf(set) != nil }) {
		return nil
	}
	var groups []int
	for _, set := range j.sets {
		groups = append(groups, GroupsOf(set)...)
	}
	next := 1 + slices.Max(groups)
	groups = nil
	for _, set := range j.sets {
		of := GroupsOf(set)
		for i := 0; of == nil && i < set.Len(); i++ {
			groups, next = append(groups, next), next+1
		}
		groups = append(groups, of...)
	}
	return groups
}

// Size returns the number of values of a row of that shape, the product of its sides.
func Size(shape []int) int {
	size := 1
	for _, n := range shape {
		size *= n
	}
	return size
}
