package table

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/parquet-go/parquet-go"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// content is all that a table holds.
type content struct {
	Kind    Kind
	Width   int
	Classes []string
	Values  []float32
	Labels  []int
	IDs     []string
}

// contentOf reads a table in all ways, and fails the test where they differ.
func contentOf(t *testing.T, open func() (*Table, error)) content {
	t.Helper()
	table := opened(t, open)
	rows := must.Have(table.Load())(t)
	loaded := content{Kind: rows.Kind(), Width: table.Width(), Classes: rows.ClassNames()}
	row := make([]float32, table.Width())
	for i := range rows.Len() {
		rows.CopyRow(row, i)
		loaded.Values = append(loaded.Values, row...)
		loaded.Labels = append(loaded.Labels, labelOf(rows.Label(i)))
		loaded.IDs = append(loaded.IDs, rows.ID(i))
	}
	if n := table.Len(); n >= 0 && n != rows.Len() {
		t.Errorf("%s has %d rows, of which %d were read", table.Name(), n, rows.Len())
	}
	for _, size := range []int{1, 3, 10000} {
		streamed := content{Kind: loaded.Kind, Width: loaded.Width, Classes: loaded.Classes}
		for batch, err := range opened(t, open).Batches(size) {
			if err != nil {
				t.Fatal(err)
			}
			if batch.First != len(streamed.IDs) || batch.Len() > size {
				t.Errorf("a batch of %d rows from row %d on after %d", batch.Len(), batch.First, len(streamed.IDs))
			}
			streamed.Values = append(streamed.Values, batch.Values...)
			for i := range batch.Len() {
				streamed.IDs = append(streamed.IDs, batch.ID(i))
				streamed.Labels = append(streamed.Labels, labelOf(batch.Label(i)))
			}
		}
		if !slices.Equal(streamed.Values, loaded.Values) || !slices.Equal(streamed.Labels, loaded.Labels) || !slices.Equal(streamed.IDs, loaded.IDs) {
			t.Errorf("%s: in batches of %d other rows than all at once", table.Name(), size)
		}
	}
	return loaded
}

// labelOf is a label as a number, unknown where it is not known.
func labelOf(class int, known bool) int {
	if !known {
		return unknown
	}
	return class
}

func opened(t *testing.T, open func() (*Table, error)) *Table {
	t.Helper()
	table := must.Have(open())(t)
	t.Cleanup(func() { table.Close() })
	return table
}

func file(path string, options Options) func() (*Table, error) {
	return func() (*Table, error) { return Open(path, options) }
}

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	testfiles.Write(t, path, text)
	return path
}

func compare(t *testing.T, name string, got, want content) {
	t.Helper()
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
	}
}

// numpyValues are those that testdata/make-numpy.py writes.
var numpyValues = []float32{0, 1, -2.5, 0.125, 1.0 / (1 << 24), 65504, 3, 4, 5, -6, 7, 0.0999755859375}

func TestFilesOfNumPy(t *testing.T) {
	texts := content{Kind: Features, Width: 3, Values: numpyValues, Classes: []string{"cat", "dog"}, Labels: []int{1, 0, unknown, 1}, IDs: []string{"a", "é", "c", "d"}}
	numbers := texts
	numbers.IDs = []string{"7", "8", "9", "10"}
	alone := content{Kind: Features, Width: 3, Values: numpyValues, Labels: []int{unknown, unknown, unknown, unknown}, IDs: []string{"0", "1", "2", "3"}}
	probabilities := content{Kind: Probabilities, Width: 2, Values: []float32{0.25, 0.75, 1, 0}, Classes: []string{"0", "1"}, Labels: []int{1, 0}, IDs: []string{"0", "1"}}
	for _, c := range []struct {
		name string
		want content
	}{
		{"half.npz", texts},
		{"single-compressed.npz", texts},
		{"double.npz", numbers},
		{"probabilities.npz", probabilities},
		{"frame.npz", texts},
		{"fortran.npy", alone},
	} {
		compare(t, c.name, contentOf(t, file("testdata/"+c.name, Options{})), c.want)
	}
}

// duckdbRows is what testdata/make-duckdb.mjs writes.
func duckdbRows() content {
	want := content{Kind: Features, Width: 3, Classes: []string{"ant", "bee", "cat"}}
	for i := range 5000 {
		want.Values = append(want.Values, float32(i), float32(i)/8, float32(-i))
		label := i % 3
		if i%7 == 6 {
			label = unknown
		}
		want.Labels = append(want.Labels, label)
		want.IDs = append(want.IDs, fmt.Sprintf("r%d", i))
	}
	return want
}

func TestFilesOfDuckDB(t *testing.T) {
	for _, name := range []string{"duckdb-list-snappy.parquet", "duckdb-array-zstd.parquet", "duckdb-columns-zstd.parquet"} {
		compare(t, name, contentOf(t, file("testdata/"+name, Options{})), duckdbRows())
	}
	compare(t, "probabilities", contentOf(t, file("testdata/duckdb-probabilities.parquet", Options{})), content{
		Kind: Probabilities, Width: 2, Classes: []string{"cat", "dog"}, Values: []float32{0.25, 0.75}, Labels: []int{1}, IDs: []string{"0"},
	})
	if opened(t, file("testdata/half.npz", Options{})).HasClassNames() || !opened(t, file("testdata/double.npz", Options{})).HasClassNames() {
		t.Error("not the files with class_names have names of classes")
	}
	if columns := opened(t, file("testdata/duckdb-columns-zstd.parquet", Options{})).Columns(); !slices.Equal(columns, []string{"a", "b", "c"}) {
		t.Errorf("columns %q", columns)
	}
}

// Lists of many pages and groups, of numbers as they lie in memory and of a dictionary; ids
// that float32 does not hold.
func TestParquetOfManyPages(t *testing.T) {
	type doubles struct {
		Features []float64 `parquet:"features"`
		ID       float64   `parquet:"id"`
	}
	type pointers struct {
		Logits []*float32 `parquet:"logits,list"`
		ID     float64    `parquet:"id"`
	}
	type dicts struct {
		Features []float32 `parquet:"features,dict"`
		ID       float64   `parquet:"id"`
	}
	const n = 3000
	var ofDoubles []doubles
	var ofPointers []pointers
	var ofDicts []dicts
	var want content
	for i := range n {
		a, b, id := float32(math.Sin(float64(i))), float32(i%5), float64(1<<24+1+i)
		ofDoubles = append(ofDoubles, doubles{[]float64{float64(a), float64(b)}, id})
		ofPointers = append(ofPointers, pointers{[]*float32{&a, &b}, id})
		ofDicts = append(ofDicts, dicts{[]float32{a, b}, id})
		want.Values = append(want.Values, a, b)
		want.Labels = append(want.Labels, unknown)
		want.IDs = append(want.IDs, fmt.Sprint(1<<24+1+i))
	}
	pages := []parquet.WriterOption{parquet.PageBufferSize(1000), parquet.MaxRowsPerRowGroup(700)}
	want.Kind, want.Width = Features, 2
	compare(t, "doubles", contentOf(t, file(write(t, "rows.parquet", parquetOf(t, ofDoubles, pages...)), Options{})), want)
	compare(t, "dicts", contentOf(t, file(write(t, "rows.parquet", parquetOf(t, ofDicts, pages...)), Options{})), want)
	want.Kind, want.Classes = Logits, []string{"0", "1"}
	compare(t, "pointers", contentOf(t, file(write(t, "rows.parquet", parquetOf(t, ofPointers, pages...)), Options{})), want)
}

func TestCSV(t *testing.T) {
	want := content{Kind: Features, Width: 2, Classes: []string{"cat, small", "dog"}, Values: []float32{1, -2.5, 3e-7, 4}, Labels: []int{1, 0}, IDs: []string{"x", "line\nbreak"}}
	for name, text := range map[string]string{
		"quoted":     "id,label,a,b\nx,dog,1,-2.5\n\"line\nbreak\",\"cat, small\",3e-7, 4\n",
		"order":      "\xef\xbb\xbfa,b,ids,labels\r\n1,-2.5,x,dog\r\n3e-7,4,\"line\nbreak\",\"cat, small\"\r\n",
		"tabs":       "id\tlabel\ta\tb\nx\tdog\t1\t-2.5\n\"line\nbreak\"\tcat, small\t3e-7\t4",
		"semicolons": "id;label;a;b\nx;dog;1;-2,5\n\n\"line\nbreak\";\"cat, small\";3e-7;4\n",
		"index":      ",label,a,b\nx,dog,1,-2.5\n\"line\nbreak\",\"cat, small\",3e-7,4\n",
		"old index":  "Unnamed: 0,id,label,a,b\n7,x,dog,1,-2.5\n3,\"line\nbreak\",\"cat, small\",3e-7,4\n",
		"of Parquet": "a,b,label,__index_level_0__,__index_level_1__\n1,-2.5,dog,x,0\n3e-7,4,\"cat, small\",\"line\nbreak\",1\n",
	} {
		compare(t, name, contentOf(t, file(write(t, "rows.csv", text), Options{})), want)
	}
	// A .tsv file has tabs between its columns, whatever the names of these hold.
	tabs := contentOf(t, file(write(t, "rows.TSV", "id\tlabel\tlength, cm\twidth; mm\nx\tdog\t1\t-2,5\n\"line\nbreak\"\tcat, small\t3e-7\t4\n"), Options{}))
	compare(t, "tabs with commas", tabs, want)
	if one := contentOf(t, file(write(t, "rows.tsv", "length, cm\n1\n"), Options{})); one.Width != 1 {
		t.Errorf("one column with a comma in its name: %+v", one)
	}
	asked := contentOf(t, file(write(t, "rows.csv", "id,species,a,b\nx,dog,1,-2.5\ny,cat,3,4\n"), Options{Roles: Roles{Label: "species"}}))
	if asked.Width != 2 || !slices.Equal(asked.Values, []float32{1, -2.5, 3, 4}) || !slices.Equal(asked.Labels, []int{1, 0}) || asked.IDs[1] != "y" {
		t.Errorf("columns that were asked for: %+v", asked)
	}
	logits := contentOf(t, file(write(t, "rows.csv", "id,class,logit_cat,logit_dog,label\n3,cat,1,-2.5,dog\n"), Options{}))
	compare(t, "logits", logits, content{Kind: Logits, Width: 2, Classes: []string{"cat", "dog"}, Values: []float32{1, -2.5}, Labels: []int{1}, IDs: []string{"3"}})
	named := contentOf(t, file(write(t, "rows.csv", "cat,dog\n0.25,0.75\n"), Options{Kind: Probabilities}))
	if named.Kind != Probabilities || !slices.Equal(named.Classes, []string{"cat", "dog"}) || named.Labels[0] != unknown {
		t.Errorf("columns that are classes: %+v", named)
	}
}

// Labels are classes by their names, as numbers where the file or the reference has names
// for numbers, and unknown where nothing is said.
func TestLabels(t *testing.T) {
	read := func(labels string, reference Reference) (content, error) {
		var text strings.Builder
		text.WriteString("a,label\n")
		for _, label := range strings.Fields(labels) {
			text.WriteString("0," + strings.Trim(label, "_") + "\n")
		}
		table, err := Open(write(t, "rows.csv", text.String()), Options{Reference: reference})
		if err != nil {
			return content{}, err
		}
		defer table.Close()
		rows, err := table.Load()
		if err != nil {
			return content{}, err
		}
		got := content{Classes: rows.ClassNames()}
		for i := range rows.Len() {
			got.Labels = append(got.Labels, labelOf(rows.Label(i)))
		}
		return got, nil
	}
	for _, c := range []struct {
		labels    string
		reference []string
		classes   []string
		want      []int
	}{
		{"b a _ b", nil, []string{"a", "b"}, []int{1, 0, -1, 1}},
		{"10 9 -1 9", nil, []string{"9", "10"}, []int{1, 0, -1, 0}},
		{"10.0 _ 2.0", nil, []string{"2.0", "10.0"}, []int{1, -1, 0}},
		{"3.0 2 2.0 3.00 3.0 4.00", nil, []string{"2", "3", "4.00"}, []int{1, 0, 0, 1, 1, 2}},
		{"1 2.0 1.00", []string{"2.0", "1.0"}, []string{"2.0", "1.0"}, []int{1, 0, 1}},
		{"2 2.0", []string{"2.0", "2"}, []string{"2.0", "2"}, []int{1, 0}},
		{"b _", []string{"c", "b"}, []string{"c", "b"}, []int{1, -1}},
		{"1 0", []string{"c", "b"}, []string{"c", "b"}, []int{1, 0}},
		{"3 7.0", []string{"3", "7"}, []string{"3", "7"}, []int{0, 1}},
		{"-1 1", []string{"-1", "1"}, []string{"-1", "1"}, []int{0, 1}},
		{"b nan NaN NAN <NA> _ -1 -1.0 nano none", nil, []string{"b", "nano", "none"}, []int{0, -1, -1, -1, -1, -1, -1, -1, 1, 2}},
		{"b nan", []string{"c", "b"}, []string{"c", "b"}, []int{1, -1}},
		{"NaN 1 0", []string{"0", "1"}, []string{"0", "1"}, []int{-1, 1, 0}},
		{"nan b NaN", []string{"b", "nan"}, []string{"b", "nan"}, []int{1, 0, -1}},
	} {
		got, err := read(c.labels, Reference{Name: "source", Classes: c.reference})
		if err != nil || !slices.Equal(got.Classes, c.classes) || !slices.Equal(got.Labels, c.want) {
			t.Errorf("labels %s with classes %q: %+v, %v", c.labels, c.reference, got, err)
		}
	}
	for labels, want := range map[string]string{
		"b C":                              `rows.csv:3: label "C" is not a class of source, which has c, b; did you mean "c"?`,
		"b d":                              `rows.csv:3: label "d" is not a class of source, which has c, b`,
		"2":                                `rows.csv:2: label "2" is not a class of source`,
		"b " + strings.Repeat("long", 300): `rows.csv:3: label "longlong`,
	} {
		if _, err := read(labels, Reference{Name: "source", Classes: []string{"c", "b"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("labels %s: error %v, want %q", labels, err, want)
		}
	}
	if _, err := read("0", Reference{Name: "source", Classes: []string{"3", "7"}}); err == nil {
		t.Error("a number that is no name of a class was taken for the place of one that is")
	}
	must.Refuse(read("b "+strings.Repeat("ü", 501), Reference{}))(t, `rows.csv:3: label "üü`, `ü"… has 1002 bytes, and the name of a class at most 1000; is that the column of labels?`)
	must.Refuse(read("b", Reference{Name: "source", Classes: []string{"b", strings.Repeat("x", 1001)}}))(t, "class 1 of source")
	many := make([]string, MaxClasses+1)
	for i := range many {
		many[i] = fmt.Sprint(i)
	}
	must.Refuse(read(strings.Join(many, " "), Reference{}))(t, "rows.csv:32770: label \"32768\" is one of more than 32768 classes")
}

// A label that is not known is the same in files of all forms.
func TestUnknownLabels(t *testing.T) {
	wideNaN := string(wide(wide(wide(nil, "cat", 3), "nan", 3), "", 3)) + string(wide(nil, "NaN", 3))
	double := func(numbers ...float64) (text []byte) {
		for _, v := range numbers {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
		return text
	}
	values := npyOf("<f4", "(4, 1)", one+one+one+one)
	npz := func(labels string) string {
		return zipOf(t, zip.Store, member{"features.npy", values}, member{"labels.npy", labels})
	}
	numbers := double(2, math.NaN(), -1, math.NaN())
	type text struct {
		A     float32 `parquet:"a"`
		Label *string `parquet:"label,optional"`
	}
	type number struct {
		A     float32  `parquet:"a"`
		Label *float64 `parquet:"label,optional"`
	}
	cat, nan, nothing, two, notANumber, minus := "cat", "nan", "", 2., math.NaN(), -1.
	spaced, space := " cat\t", " "
	for _, c := range []struct{ name, class, file string }{
		{"rows.csv", "cat", "a,label\n1,cat\n1,nan\n1,\n1,NaN\n"},
		{"rows.csv", "2.0", "a,label\n1,2.0\n1,nan\n1,-1\n1,-1.0\n"},
		{"rows.tsv", "cat", "a\tlabel\n1\tcat\n1\t<NA>\n1\t\n1\tNAN\n"},
		{"rows.npz", "cat", npz(npyOf("<U3", "(4,)", wideNaN))},
		{"rows.npz", "cat", npz(npyOf("|S3", "(4,)", "catnan\x00\x00\x00NaN"))},
		{"rows.npz", "2", npz(npyOf("<f8", "(4,)", string(numbers)))},
		{"rows.npz", "2", npz(npyOf("<f2", "(4,)", "\x00\x40\x00\x7e\x00\xbc\x00\xfe"))},
		{"rows.npz", "2", npz(npyOf("|i1", "(4,)", "\x02\xff\xff\xff"))},
		{"rows.parquet", "cat", parquetOf(t, []text{{1, &cat}, {1, nil}, {1, &nan}, {1, &nothing}})},
		{"rows.csv", "cat", "a,label\n1, cat \n1,nan \n1, \n1,\n"},
		{"rows.parquet", "cat", parquetOf(t, []text{{1, &spaced}, {1, nil}, {1, &space}, {1, &nothing}})},
		{"rows.parquet", "2", parquetOf(t, []number{{1, &two}, {1, nil}, {1, &notANumber}, {1, &minus}})},
	} {
		got := contentOf(t, file(write(t, c.name, c.file), Options{}))
		if !slices.Equal(got.Classes, []string{c.class}) || !slices.Equal(got.Labels, []int{0, unknown, unknown, unknown}) {
			t.Errorf("%s with the class %s: classes %q, labels %v", c.name, c.class, got.Classes, got.Labels)
		}
	}
	// With names for numbers, a number that is not there has no name either.
	named := zipOf(t, zip.Store, member{"features.npy", values}, member{"labels.npy", npyOf("<f8", "(4,)", string(double(1, math.NaN(), 0, -1)))},
		member{"class_names.npy", npyOf("<U3", "(2,)", string(wide(wide(nil, "cat", 3), "nan", 3)))})
	got := contentOf(t, file(write(t, "rows.npz", named), Options{}))
	if !slices.Equal(got.Classes, []string{"cat", "nan"}) || !slices.Equal(got.Labels, []int{1, unknown, 0, unknown}) {
		t.Errorf("classes %q, labels %v", got.Classes, got.Labels)
	}
}

func parquetOf[T any](t testing.TB, rows []T, options ...parquet.WriterOption) string {
	t.Helper()
	var buffer bytes.Buffer
	must.Do(t, parquet.Write(&buffer, rows, options...))
	return buffer.String()
}

var shape []int

func TestRowsAreCopiedWithoutAllocating(t *testing.T) {
	for _, path := range []string{"testdata/half.npz", write(t, "rows.csv", "a,b,c\n1,2,3\n4,5,6\n")} {
		rows := must.Have(opened(t, file(path, Options{})).Load())(t)
		dst := make([]float32, 3)
		if n := testing.AllocsPerRun(100, func() {
			rows.CopyRow(dst, 1)
			shape = rows.Shape()
		}); n != 0 || !slices.Equal(shape, []int{3}) {
			t.Errorf("%s: %v allocations, shape %v", path, n, shape)
		}
	}
}

// Two tables share classes and width, or an error names both.
func TestReference(t *testing.T) {
	source := opened(t, file("testdata/half.npz", Options{}))
	reference := must.Have(source.Reference())(t)
	target := write(t, "target.csv", "label,a,b,c\ndog,1,2,3\ncow,1,2,3\n")
	rows := must.Have(Open(target, Options{Reference: reference}))(t)
	if _, err := rows.Load(); err == nil || !strings.HasSuffix(err.Error(), `target.csv:3: label "cow" is not a class of testdata/half.npz, which has cat, dog`) {
		t.Errorf("error %v", err)
	}
	if _, err := Open(write(t, "wide.csv", "a,b,c,d\n1,2,3,4\n"), Options{Reference: reference}); err == nil || !strings.HasSuffix(err.Error(), "wide.csv: rows of 4 values; testdata/half.npz has 3") {
		t.Errorf("error %v", err)
	}
	classes := Reference{Name: "model", Classes: []string{"dog", "cow"}}
	must.Refuse(Open("testdata/duckdb-probabilities.parquet", Options{Reference: classes}))(t, `["cat" "dog"] are not those of model, ["dog" "cow"], in that order`)
}

// Columns that have names are read in the order of the source's, whatever stands between them.
func TestReferenceOrdersColumns(t *testing.T) {
	features := Reference{Name: "source.csv", Width: 3, Columns: []string{"b", "c", "a"}}
	classes := Reference{Name: "model", Width: 2, Classes: []string{"dog", "cat"}}
	for _, test := range []struct {
		path string
		as   Reference
		row  int
		want []float32
	}{
		{write(t, "named.csv", "other,c,id,a,label,b\nx,-1,r,1,dog,0.125\n"), features, 0, []float32{0.125, -1, 1}},
		{"testdata/duckdb-columns-zstd.parquet", features, 8, []float32{1, -8, 8}},
		{"testdata/duckdb-list-snappy.parquet", features, 8, []float32{8, 1, -8}}, // has no names
		{"testdata/duckdb-probabilities.parquet", classes, 0, []float32{0.75, 0.25}},
		{write(t, "logits.csv", "logit_cat,logit_dog\n1,2\n"), classes, 0, []float32{2, 1}},
	} {
		rows := must.Have(opened(t, file(test.path, Options{Reference: test.as})).Load())(t)
		row := make([]float32, len(test.want))
		if rows.CopyRow(row, test.row); !slices.Equal(row, test.want) {
			t.Errorf("%s: row %d is %v, want %v", test.path, test.row, row, test.want)
		}
	}
}

// Every number of float16 is what its sign, exponent and fraction say.
func TestHalves(t *testing.T) {
	for bits, want := range map[uint16]float64{
		0x0000: 0, 0x0001: 1.0 / (1 << 24), 0x03ff: 1023.0 / (1 << 24), 0x0400: 1.0 / (1 << 14), 0x3555: 0.333251953125,
		0x3c00: 1, 0xc000: -2, 0x7bff: 65504, 0x7c00: math.Inf(1), 0xfc00: math.Inf(-1),
	} {
		if got := float64(half(bits)); got != want {
			t.Errorf("%#04x is %v, want %v", bits, got, want)
		}
	}
	for bits := uint16(1); bits < 0x7c00; bits++ {
		if half(bits) <= half(bits-1) || half(bits|0x8000) != -half(bits) {
			t.Fatalf("%#04x is %v after %v", bits, half(bits), half(bits-1))
		}
	}
	for bits := uint16(0x7c01); bits < 0x8000; bits++ {
		if v := half(bits); v == v {
			t.Fatalf("%#04x is %v, want NaN", bits, v)
		}
	}
}

// Several goroutines read a file, of any form, at once.
func TestReadingAtOnce(t *testing.T) {
	const text = "a,b,label\n\"1,5\",\"2,5\",x\n\"3,5\",\"4,5\",y\n"
	type row struct {
		A     float64 `parquet:"a"`
		B     float64 `parquet:"b"`
		Label string  `parquet:"label"`
	}
	for _, path := range []string{
		write(t, "rows.csv", text), write(t, "rows.csv.gz", testfiles.Gzip(t, text)),
		write(t, "rows.parquet", parquetOf(t, []row{{1.5, 2.5, "x"}, {3.5, 4.5, "y"}})),
	} {
		table := opened(t, file(path, Options{}))
		var reading sync.WaitGroup
		for range 4 {
			reading.Go(func() {
				var values []float32
				for b, err := range table.Batches(1) {
					if err != nil {
						t.Error(err)
						return
					}
					values = append(values, b.Values...)
				}
				if !slices.Equal(values, []float32{1.5, 2.5, 3.5, 4.5}) {
					t.Errorf("%s: %v", path, values)
				}
			})
		}
		reading.Wait()
	}
}

// wide appends a text of four bytes a character, filled up with zeros.
func wide(to []byte, text string, length int) []byte {
	for _, character := range text {
		to = binary.LittleEndian.AppendUint32(to, uint32(character))
		length--
	}
	return append(to, make([]byte, 4*length)...)
}
