package table

import (
	"cmp"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
)

// Batch is some rows in the order of the file.
type Batch struct {
	First  int       // the number of the first one among those of the table
	Values []float32 // rows × width

	rows    int             // that were appended
	texts   [roles][]string // as they are in the file; nil where it has none
	classes []int           // what labels are, or unknown; nil where the file has none
	lines   []int           // of the file, from 1; nil where it has none
	numbers []int           // of the rows in the file; nil where they follow First
	samples []sample        // of the columns of values, which readers add to; nil if none are wanted
	strays  []strays        // of the columns of an encoding, in all rows up to the last one of the batch
}

// Len is the number of rows.
func (b *Batch) Len() int { return b.rows }

// Label is the class of a row of the batch, if it is known.
func (b *Batch) Label(i int) (class int, known bool) {
	if b.classes == nil || b.classes[i] == unknown {
		return 0, false
	}
	return b.classes[i], true
}

// ID is the id of a row of the batch: its number in the file, from 0, where it has none. Ids
// need not differ: rows keep their order.
func (b *Batch) ID(i int) string {
	if !b.HasIDs() {
		return strconv.Itoa(b.Number(i))
	}
	return b.texts[idRole][i]
}

// Group is the name of the group of a row of the batch, if the file has groups.
func (b *Batch) Group(i int) (name string, has bool) {
	if len(b.texts[groupRole]) == 0 {
		return "", false
	}
	return b.texts[groupRole][i], true
}

// HasIDs reports whether the file has ids.
func (b *Batch) HasIDs() bool { return b.texts[idRole] != nil }

// Number is that of a row of the batch in the file, from 0.
func (b *Batch) Number(i int) int {
	if len(b.numbers) > 0 {
		return b.numbers[i]
	}
	return b.First + i
}

// Batches goes over all rows in order, size at a time; the last batch may have fewer. A
// batch is valid until the next one. An error ends the iteration: it comes with the last
// batch, which is nil. The iteration panics unless size is positive.
func (t *Table) Batches(size int) iter.Seq2[*Batch, error] { return t.batches(size, nil) }

// batches is [Table.Batches] with samples of the columns of values.
func (t *Table) batches(size int, samples []sample) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		if size <= 0 {
			panic(fmt.Sprintf("table: Batches: a batch of %d rows", size))
		}
		classes, err := t.vocabulary()
		if err != nil {
			yield(nil, err)
			return
		}
		for b, err := range t.pass(false, size, samples) {
			if err == nil {
				err = t.finish(b, classes)
			}
			if err != nil {
				yield(nil, t.located(err))
				return
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// pass goes over all rows, or their labels alone, as they are in the file; see [Table.Batches].
func (t *Table) pass(labelsAlone bool, size int, samples []sample) iter.Seq2[*Batch, error] {
	return func(yield func(*Batch, error) bool) {
		cursor, err := t.form.scan(labelsAlone)
		if err != nil {
			yield(nil, t.located(err))
			return
		}
		defer cursor.Close()
		b := &Batch{}
		for first := 0; ; first += b.rows {
			*b = Batch{First: first, Values: b.Values[:0], texts: b.texts, classes: b.classes[:0], lines: b.lines[:0], numbers: b.numbers[:0], samples: samples, strays: b.strays}
			for r := range b.texts {
				b.texts[r] = b.texts[r][:0]
			}
			for err == nil && b.rows < size {
				err = cursor.next(b, size-b.rows)
			}
			if err == io.EOF {
				err = cmp.Or(t.checkStrays(b), err)
			}
			if err == io.EOF && first == 0 && b.rows == 0 {
				err = t.noRows()
			}
			if err != nil && err != io.EOF {
				yield(nil, t.located(err))
				return
			}
			if b.rows > 0 && !yield(b, nil) || err == io.EOF {
				return
			}
		}
	}
}

// finish checks the values of a batch and turns labels into classes.
func (t *Table) finish(b *Batch, classes *vocabulary) error {
	if err := t.checkValues(b); err != nil {
		return err
	}
	for i, name := range b.texts[labelRole] {
		class, err := classes.class(name)
		if err != nil {
			return fmt.Errorf("%s: %w", t.position(b, i), err)
		}
		b.classes = append(b.classes, class)
	}
	return nil
}

// position says where a row of a batch is.
func (t *Table) position(b *Batch, i int) string {
	if len(b.lines) > 0 {
		return t.at(b.lines[i])
	}
	return t.at(b.Number(i))
}

// at says where a line is, or a row of a file without lines.
func (t *Table) at(place int) string {
	if t.decimal != nil {
		return fmt.Sprintf("%s:%d", t.name, place)
	}
	return fmt.Sprintf("%s: row %d", t.name, place)
}

// column is the name of a column of values.
func (t *Table) column(j int) string {
	if t.columns != nil {
		return fmt.Sprintf("%q", t.columns[j])
	}
	return strconv.Itoa(j)
}

// float32Rounding is about how far a row of probabilities of float32 is from summing to 1.
const float32Rounding = 1e-6

// sumTolerance is how far a row of so many probabilities may be from summing to 1: as far as three digits
// bring it, those of decimals or of float16.
func sumTolerance(classes int) float64 {
	return min(max(1e-3, 5e-4*float64(classes)), 0.5) + float32Rounding
}

// checkValues returns an error for values that are not finite, or no probabilities where
// they should be. It divides rows of rounded probabilities by their sum.
func (t *Table) checkValues(b *Batch) error {
	for i := range b.rows {
		row := b.Values[i*t.width : (i+1)*t.width]
		for j, v := range row {
			if v-v != 0 { // as of every value but finite ones
				beyond := ""
				if v == v {
					beyond = ", or a number beyond 3.4e38, the largest of float32"
				}
				return fmt.Errorf("%s: column %s: %v%s; values must be finite numbers", t.position(b, i), t.column(j), v, beyond)
			}
		}
		if t.kind != Probabilities {
			continue
		}
		sum := 0.0
		for j, v := range row {
			if v < 0 || v > 1+1e-3 {
				return fmt.Errorf("%s: column %s: %v is no probability", t.position(b, i), t.column(j), v)
			}
			sum += float64(v)
		}
		switch away := math.Abs(sum - 1); {
		case away > sumTolerance(t.width) && t.width == 1:
			return fmt.Errorf("%s: column %s: %.6g is the only probability of the row; each class needs a column", t.position(b, i), t.column(0), sum)
		case away > sumTolerance(t.width):
			return fmt.Errorf("%s: the probabilities sum to %.6g, not 1; divide each row by its sum", t.position(b, i), sum)
		case away > float32Rounding:
			for j := range row {
				row[j] = float32(float64(row[j]) / sum)
			}
		}
	}
	return nil
}
