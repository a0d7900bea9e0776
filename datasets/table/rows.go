package table

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Rows are all rows of a table, in any order. Its methods may be called from several
// goroutines at once, and panic where there is no row i. To close the rows is to close the
// table.
type Rows struct {
	*Table
	shape      []int // {width}
	classNames []string
	count      int
	labels     []int32 // a class or unknown; nil where the file has no labels
	unlabelled string  // see Unlabelled
	ids        []string
	groups     []int       // numbers of groups, from 0; nil where the file has none
	by         []int       // the values of a row that say its group; nil where none do
	blocks     [][]float32 // the values where they are not mapped: the same number of rows in each but the last
	block      int         // rows a block
	samples    []sample    // of the values of features that are numbers
}

// blockValues is how many values a block holds, or one row.
const blockValues = 1 << 20

// Load makes all rows available in any order, and checks all of them. It takes as much
// memory as the values have as float32, or none for values that are mapped, and some bytes
// a row for labels and ids. The table must stay open.
func (t *Table) Load() (*Rows, error) {
	r, err := t.load()
	if err != nil || r.samples == nil || t.options.Reference.Width > 0 {
		return r, err
	}
	if j := slices.IndexFunc(r.samples, func(s sample) bool { return s.codes.are() }); j >= 0 {
		return nil, fmt.Errorf("%s: column %s has codes with leading zeros, which are words", t.name, t.column(j))
	}
	if t.options.Reference.Origins = originsOf(r.samples); t.options.Reference.Origins == nil {
		return r, nil
	}
	return t.load() // less the origins
}

func (t *Table) load() (*Rows, error) {
	classNames, err := t.ClassNames()
	if err != nil {
		return nil, err
	}
	r := &Rows{Table: t, shape: []int{t.width}, classNames: classNames, block: max(1, blockValues/t.width)}
	if r.by, err = t.groupedBy(); err != nil {
		return nil, err
	}
	grouping := cmp.Or(t.options.Grouping, new(Grouping))
	if t.options.Centre && t.kind == Features && t.cell == nil {
		r.samples = newSamples(t.width)
	}
	for b, err := range t.batches(r.batch(), r.samples) {
		if err != nil {
			return nil, err
		}
		r.keep(b, grouping)
	}
	return r, nil
}

// Origins are those of the values of a row: see [Reference]; nil if none has one.
func (r *Rows) Origins() []float64 { return r.options.Reference.Origins }

// Coarse returns, by column, what is wrong with those whose values have lost digits that would matter;
// those of encoded columns are among [Learnt].
func (r *Rows) Coarse() map[int]string {
	found := make(map[int]string)
	for j := range r.samples {
		single := r.single != nil && r.single(j)
		if said := r.tooCoarse(&r.samples[j], originOf(r.Origins(), j), single); said != "" {
			found[j] = said
		}
	}
	return found
}

// batch is the number of rows that are read at once: a block, or less where no block is
// kept.
func (r *Rows) batch() int {
	if r.mapped != nil {
		return max(1, r.block/16)
	}
	return r.block
}

func (r *Rows) keep(b *Batch, grouping *Grouping) {
	r.count += b.rows
	for i, class := range b.classes {
		r.labels = append(r.labels, int32(class))
		if class == unknown && r.unlabelled == "" {
			r.unlabelled = r.position(b, i)
		}
	}
	if r.ids == nil && b.HasIDs() {
		r.ids = make([]string, 0, max(b.rows, r.rows)) // none is more than a file of its size may have
	}
	r.ids = append(r.ids, b.texts[idRole]...)
	for _, name := range b.texts[groupRole] {
		r.groups = append(r.groups, grouping.Number(name))
	}
	if r.by != nil {
		name := make([]byte, 4*len(r.by))
		for values := range slices.Chunk(b.Values, r.width) {
			for i, at := range r.by {
				binary.LittleEndian.PutUint32(name[4*i:], math.Float32bits(values[at]))
			}
			r.groups = append(r.groups, grouping.Number(string(name)))
		}
	}
	if !b.HasIDs() {
		for _, number := range b.numbers {
			r.ids = append(r.ids, strconv.Itoa(number))
		}
	}
	if r.mapped == nil {
		r.blocks = append(r.blocks, slices.Clone(b.Values))
	}
}

// Len is the number of rows.
func (r *Rows) Len() int { return r.count }

// Shape is that of a row, {width}. The caller must not change it.
func (r *Rows) Shape() []int { return r.shape }

// ClassNames is what [Table.ClassNames] says. The caller must not change it.
func (r *Rows) ClassNames() []string { return r.classNames }

// Label is the class of row i, in the order of the class names, if it is known.
func (r *Rows) Label(i int) (class int, known bool) {
	if r.labels == nil || r.labels[i] == unknown {
		return 0, false
	}
	return int(r.labels[i]), true
}

// ID is the id of row i: its number where the file has no ids.
func (r *Rows) ID(i int) string {
	if r.ids == nil {
		return strconv.Itoa(i)
	}
	return r.ids[i]
}

// groupedBy lists the values of a row that say to which group it belongs; nil if none do.
func (t *Table) groupedBy() (places []int, err error) {
	for _, name := range t.options.GroupBy {
		at := slices.Index(t.columns, name)
		of := []int{at}
		if encoding := t.options.Reference.Encoding; encoding != nil {
			if at = slices.IndexFunc(encoding, func(c Coding) bool { return c.Column == name }); at >= 0 {
				of = encoding.Places()[at]
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("%s: no column of features is %.100q, which group_by names", t.name, name)
		}
		places = append(places, of...)
	}
	return places, nil
}

// Grouping numbers groups by their names, from 0. The zero value has none.
type Grouping struct {
	of    map[string]int
	count int
}

// Number is that of a group; a row without a name is a group of its own.
func (g *Grouping) Number(name string) int {
	number, known := g.of[name]
	if !known || name == "" {
		if g.of == nil {
			g.of = map[string]int{}
		}
		number = g.count
		g.count++
		g.of[name] = number
	}
	return number
}

// Groups are the numbers of the groups that rows belong to; a row without one is a group of its
// own. nil where no columns say it. The caller must not change it.
func (r *Rows) Groups() []int { return r.groups }

// Unlabelled says where the first row is whose label is not known, with the file's name; "" for none,
// and if the file has no labels.
func (r *Rows) Unlabelled() string { return r.unlabelled }

// CopyRow writes the values of row i to dst. It allocates nothing, and panics unless dst
// has room for exactly these.
func (r *Rows) CopyRow(dst []float32, i int) {
	if len(dst) != r.width {
		panic(fmt.Sprintf("table: CopyRow: dst has length %d, a row of %s has %d", len(dst), r.name, r.width))
	}
	if r.mapped == nil {
		at := i % r.block * r.width
		copy(dst, r.blocks[i/r.block][at:at+r.width])
		return
	}
	size := r.width * r.mapped.element.size
	r.mapped.element.floats(dst, r.mapped.mapped[i*size:(i+1)*size], r.options.Reference.Origins)
}
