package table

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"

	"iwda/internal/heading"
	"iwda/internal/input"
	"iwda/internal/printable"
)

// Kind says what the values of a row are.
type Kind int

// The kinds, by the names that arrays and columns have.
const (
	Features      Kind = iota + 1 // what a network is to be trained on
	Probabilities                 // one a class; they sum to 1
	Logits                        // one a class
)

// kindNames are the names of arrays of the kinds.
var kindNames = []string{"features", "probabilities", "logits"}

// String is the name of an array of the kind: features, probabilities or logits.
func (k Kind) String() string {
	if k < Features || k > Logits {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k-Features]
}

// prefixes begin the names of columns of a kind, which end with a class.
var prefixes = map[Kind]string{Probabilities: heading.ProbabilityStart, Logits: "logit_"}

// Options say what to look for in a file. Without any, names are looked for that are the
// same in all forms: values in features, probabilities or logits, of which one must be
// there, labels in labels or label, ids in ids or id, the names of classes in class_names.
type Options struct {
	// Kind is what the values are, where their name does not say it. Where it is given,
	// values of that name are looked for alone.
	Kind Kind
	// Roles name what is no value, if its name does not say it.
	Roles
	// Centre has [Table.Load] look whether float32 holds enough of columns of features, and find the
	// origin of each that needs one if there is no Reference.
	Centre bool
	// Grouping numbers the groups, with those of other files; nil numbers them from 0.
	Grouping *Grouping
	// IgnoreLabels treats all labels as unknown and does not read them, whatever they hold.
	IgnoreLabels bool
	// Reference is what the rows must agree with.
	Reference Reference
}

// Reference is what rows must agree with: those of a source that a target goes with, or
// the inputs of a model. The zero Reference asks for nothing.
type Reference struct {
	Name    string   // in messages: the source's path, a model's folder
	Width   int      // values a row; 0 for any
	Classes []string // in label order; nil for any
	// Columns are the names of features, in their order; nil for any. Columns of these names
	// are read in this order and others passed over, where columns have names. Columns of
	// probabilities and logits are read in the order of Classes.
	Columns []string
	// Encoding is that of columns of features whose cells may be words, or missing; nil if all
	// are numbers. Columns are those of the encoding then.
	Encoding Encoding
	// Origins are taken off the values of a row, in float64, before these become float32; nil for
	// none. Those of a column that does not need it, and of words, are 0.
	Origins []float64
	// Decimal is the sign before fractions there, for numbers that can be read in two ways; "" for any.
	Decimal string
}

// Table is an open file of rows. Several goroutines may read a file at once.
type Table struct {
	name    string
	kind    Kind
	rows    int // -1 where it is not known
	width   int
	there   []string // names of all arrays or columns
	beside  []string // names of those beside an array or a list of values that have no role
	columns []string // names of the values' columns; nil where they have none
	cell    cellFunc // makes values of the texts of cells; nil where these are numbers
	decimal *decimal // of numbers that are texts; nil of other forms
	// single reports whether the numbers of a column have 32 bits or fewer; nil if none has.
	single      func(j int) bool
	everyDomain bool // no row is passed over
	strays      atomic.Pointer[[]strays]
	labels      bool
	form        form
	mapped      *array // the values, where they are mapped
	options     Options
	named       []string // the names that the file gives classes; nil where it gives none
	// vocabulary returns the classes, nil if there are none.
	vocabulary func() (*vocabulary, error)
}

// form is a file of one format.
type form interface {
	// scan goes over all rows from the first one on: over their labels alone, or over all
	// that there is of them.
	scan(labelsAlone bool) (cursor, error)
	Close() error
}

// cursor goes over rows.
type cursor interface {
	// next appends at most n rows to the batch, and returns io.EOF where there is none.
	next(b *Batch, n int) error
	Close() error
}

// forms are the formats by the ends of files' names.
var forms = map[string]func(t *Table) error{
	".npz":     openNPZ,
	".npy":     openNPY,
	".csv":     openCSV,
	".tsv":     openCSV,
	".parquet": openParquet,
	".csv.gz":  openCSV,
	".tsv.gz":  openCSV,
}

// Extensions lists the ends of the names of files that [Open] reads, for messages.
const Extensions = ".npz, .npy, .parquet, .csv, .tsv, .csv.gz or .tsv.gz"

// extension is the end of a path that says what form the file has.
func extension(path string) string {
	path = strings.ToLower(path)
	end := filepath.Ext(path)
	if end == packed {
		return filepath.Ext(strings.TrimSuffix(path, packed)) + packed
	}
	return end
}

// packed is the end of the names of files that gzip has compressed.
const packed = ".gz"

func unknownForm(path string) error {
	return input.Wrong(fmt.Errorf("%s: rows are read from files that end with %s", path, Extensions))
}

// Reads reports whether a path ends as those of files that [Open] reads.
func Reads(path string) bool {
	_, known := forms[extension(path)]
	return known
}

// Open opens the rows of a file, whose format is that of its name: .npz, .npy,
// .parquet, .csv or .tsv, or the last two with .gz. It reads headers alone. The file
// must not be changed until the table and its rows are closed.
func Open(path string, options Options) (*Table, error) {
	open, known := forms[extension(path)]
	if !known {
		return nil, unknownForm(path)
	}
	t := &Table{name: path, options: options}
	return t.open(open)
}

func (t *Table) open(open func(t *Table) error) (*Table, error) {
	err := open(t)
	if err == nil {
		err = t.check()
	}
	if err != nil {
		if t.form != nil {
			t.form.Close()
		}
		return nil, t.located(err)
	}
	return t, nil
}

// located puts the file's name in front of an error that does not begin with it, which is one of
// the input.
func (t *Table) located(err error) error {
	if text := err.Error(); !strings.HasPrefix(text, t.name+":") {
		err = fmt.Errorf("%s: %w", t.name, err)
	}
	return input.Wrong(err)
}

// check compares what a file says of itself with what was asked for.
func (t *Table) check() error {
	want := t.options.Reference
	if t.rows == 0 {
		return errors.New("holds no rows")
	}
	if t.options.DomainColumn != "" { // how many rows are of the domain, and where, only reading tells
		t.rows, t.mapped = -1, nil
	}
	if t.kind == Probabilities { // may be divided by their sum
		t.mapped = nil
	}
	if want.Width != 0 && t.width != want.Width {
		become := ""
		if n := len(want.Encoding); n > 0 {
			become = fmt.Sprintf(", because each word in its %s has a value of its own", printable.Count(n, "column"))
		}
		return fmt.Errorf("rows of %s; %s has %d%s", printable.Count(t.width, "value"), want.Name, want.Width, become)
	}
	if t.kind != Features && t.named != nil && len(t.named) != t.width {
		return fmt.Errorf("%d names of classes for %d %s a row", len(t.named), t.width, t.kind)
	}
	if n := len(want.Origins); n > 0 && n != t.width {
		return fmt.Errorf("rows of %d values; %s has %d origins", t.width, want.Name, n)
	}
	if t.options.IgnoreLabels {
		t.labels = false
	}
	return t.findClasses()
}

// Name identifies the rows in messages: the path of the file.
func (t *Table) Name() string { return t.name }

// Decimal is the sign before the fractions of the rows that were read, "" if none could be read in two ways,
// and of a file that is no text. presumed says, in a sentence, what numbers that may be fractions or thousands are
// taken for; "" if there are none.
func (t *Table) Decimal() (sign, presumed string) {
	if t.decimal == nil {
		return "", ""
	}
	if text := t.decimal.presumed.Load(); text != nil {
		presumed = *text
	}
	return map[written]string{point: ".", comma: ","}[written(t.decimal.found.Load())], presumed
}

// Kind says what the values are.
func (t *Table) Kind() Kind { return t.kind }

// Len is the number of rows, -1 where only reading them tells it, as of CSV files.
func (t *Table) Len() int { return t.rows }

// Width is the number of values of a row.
func (t *Table) Width() int { return t.width }

// Columns lists the names of the values' columns, nil where they have none. The caller
// must not change it.
func (t *Table) Columns() []string { return t.columns }

// Beside names the arrays or columns beside an array or a list of values, which are not read: they are neither
// labels nor ids, and nobody has them ignored.
func (t *Table) Beside() []string { return t.beside }

// HasLabels reports whether there are labels, some of which may be unknown.
func (t *Table) HasLabels() bool { return t.labels }

// HasClassNames reports whether the file names the classes.
func (t *Table) HasClassNames() bool { return t.named != nil }

// Reference is what another table must agree with to go with this one.
func (t *Table) Reference() (Reference, error) {
	names, err := t.ClassNames()
	r := Reference{Name: t.name, Width: t.width, Classes: names}
	r.Decimal, _ = t.Decimal()
	if t.kind == Features {
		r.Columns, r.Encoding, r.Origins = t.columns, t.options.Reference.Encoding, t.options.Reference.Origins
	}
	return r, err
}

// Close frees what the file holds. Batches and rows must not be used any more.
func (t *Table) Close() error { return t.form.Close() }
