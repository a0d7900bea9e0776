package table

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maruel/safetensors"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"golang.org/x/sys/unix"

	"iwda/internal/allocation"
)

// readAll opens and loads a table.
func readAll(path string, options Options) error {
	table, err := Open(path, options)
	if err != nil {
		return err
	}
	defer table.Close()
	_, err = table.Load()
	return err
}

// refused fails the test unless a file is an error that begins with its name and has the
// words, and takes little memory.
func refused(t *testing.T, path string, options Options, words string) {
	t.Helper()
	allocation.Within(t, 1<<25, func() {
		err := readAll(path, options)
		if err == nil || !strings.HasPrefix(err.Error(), path+":") || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	})
}

// npyWith is a .npy file of version 1 with that header, and what follows it.
func npyWith(header, body string) string {
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + body
}

// npyOf is a .npy file of that type and shape.
func npyOf(descr, shape, body string) string {
	return npyWith("{'descr': '"+descr+"', 'fortran_order': False, 'shape': "+shape+", }\n", body)
}

const (
	one  = "\x00\x00\x80\x3f"
	nan  = "\x00\x00\xc0\x7f"
	long = "\x01\x00\x00\x00\x00\x00\x00\x00"
)

type member struct{ name, content string }

func zipOf(t testing.TB, method uint16, members ...member) string {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for _, m := range members {
		part, err := w.CreateHeader(&zip.FileHeader{Name: m.name, Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(m.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func safetensorsOf(t testing.TB, metadata map[string]string, tensors ...safetensors.Tensor) string {
	t.Helper()
	var buffer bytes.Buffer
	file := safetensors.File{Tensors: tensors, Metadata: metadata}
	if err := file.Serialize(&buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.String()
}

func TestNPYThatIsWrong(t *testing.T) {
	for words, content := range map[string]string{
		"row 1: column 0: NaN; values must be finite": npyOf("<f4", "(2, 2)", one+one+nan+one),
		"do not fill the shape [2 2]":                 npyOf("<f4", "(2, 2)", one+one+one),
		"do not fill the shape [1 1]":                 npyOf("<f4", "(1, 1)", one+one),
		"do not fill the shape [1000000000 1000]":     npyOf("<f4", "(1000000000, 1000)", one),
		"do not fill the shape [4294967296 42949":     npyOf("<f4", "(4294967296, 4294967296)", ""),
		"[-2 -1]":                             npyOf("<f4", "(-2, -1)", one+one),
		"0 values a row":                      npyOf("<f4", "(5, 0)", ""),
		"holds no rows":                       npyOf("<f4", "(0, 5)", ""),
		"has shape [2]; want rows × values":   npyOf("<f4", "(2,)", one+one),
		"elements of type int64; want float":  npyOf("<i8", "(1, 1)", long),
		"highest byte first; save them with":  npyOf(">f4", "(1, 1)", one),
		"Python objects":                      npyOf("|O", "(1, 1)", long),
		"elements of type \"<c8\"":            npyOf("<c8", "(1, 1)", long),
		"elements of type \"<f999999999999":   npyOf("<f999999999999", "(1, 1)", long),
		"damaged header":                      npyWith("{'descr': '<f4'", one),
		"damaged header: runtime error":       npyWith("'shape': 'fortran_order': 'descr': \n", one),
		"the header is cut off":               "\x93NUMPY\x01\x00\xff\xff{",
		"a header of 4294967295 bytes, which": "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': ",
		"not a .npy file":                     "no array at all",
	} {
		refused(t, write(t, "rows.npy", content), Options{}, words)
	}
	refused(t, "testdata/fortran.npy", Options{}, "numpy.ascontiguousarray")
	refused(t, "testdata/big.npy", Options{}, "astype('<f4')")
	refused(t, write(t, "rows.npy", npyOf("<f4", "(2, 1)", one+one)), Options{Values: []string{"x"}}, "one array without a name")
}

func TestNPZThatIsWrong(t *testing.T) {
	values := member{"features.npy", npyOf("<f4", "(2, 1)", one+one)}
	labels := func(descr, shape, body string) member { return member{"labels.npy", npyOf(descr, shape, body)} }
	for words, members := range map[string][]member{
		"no array of the values, features, probabilities, logits; there are \"x\"": {{"x.npy", values.content}},
		"holds both features and logits":                                           {values, {"logits.npy", values.content}},
		"labels has 1 elements for 2 rows":                                         {values, labels("<i8", "(1,)", long)},
		"labels has shape [2 1]; want one element a row":                           {values, labels("<i8", "(2, 1)", long+long)},
		"labels: row 1: 0.5 is no whole number":                                    {values, labels("<f4", "(2,)", one+"\x00\x00\x00\x3f")},
		"labels: row 0: text with the character 0x110000":                          {values, labels("<U1", "(2,)", "\x00\x00\x11\x00a\x00\x00\x00")},
		"labels: row 0: text that is not UTF-8":                                    {values, labels("|S1", "(2,)", "\xffa")},
		"labels: row 0: label 1; class_names has 1 names":                          {values, labels("<i8", "(2,)", long+long), {"class_names.npy", npyOf("|S1", "(1,)", "a")}},
		"two classes of":                                        {values, {"class_names.npy", npyOf("|S1", "(2,)", "aa")}},
		"class 1 of":                                            {values, {"class_names.npy", npyOf("|S1", "(2,)", "a\x00")}},
		"class_names has shape [1000000]":                       {values, {"class_names.npy", npyOf("|b1", "(1000000,)", strings.Repeat("a", 1000000))}},
		"two arrays of the name \"features\"":                   {values, {"features", values.content}},
		"features: 4 bytes follow the header":                   {{"features.npy", npyOf("<f4", "(2, 1)", one)}, labels("<i8", "(2,)", long+long)},
		"row 0: column 0: 2 is no probability":                  {{"probabilities.npy", npyOf("<f4", "(1, 2)", "\x00\x00\x00\x40"+one)}},
		"row 0: the probabilities sum to 2, not 1":              {{"probabilities.npy", npyOf("<f4", "(1, 2)", one+one)}},
		"2 names of classes for 1 probabilities a row":          {{"probabilities.npy", npyOf("<f4", "(1, 1)", one)}, {"class_names.npy", npyOf("|S1", "(2,)", "ab")}},
		"label \"1\" is no class of":                            {{"probabilities.npy", npyOf("<f4", "(1, 1)", one)}, labels("<i8", "(1,)", long)},
		"labels: elements of type \"|U99999\"; want numbers or": {values, labels("|U99999", "(2,)", "")},
	} {
		for _, method := range []uint16{zip.Store, zip.Deflate} {
			refused(t, write(t, "rows.npz", zipOf(t, method, members...)), Options{}, words)
		}
	}
	refused(t, "testdata/objects.npz", Options{}, "labels: the elements are Python objects")
	refused(t, "testdata/half.npz", Options{Labels: "y"}, `no "y"; there are "features", "labels", "ids"`)
	refused(t, write(t, "rows.npz", "no archive"), Options{}, "not a whole .npz file")
	refused(t, write(t, "rows.npz", ""), Options{}, "not a whole .npz file")
}

// A member whose bytes were changed or that holds more or less than it says is no rows.
func TestNPZThatIsDamaged(t *testing.T) {
	whole := zipOf(t, zip.Store, member{"features.npy", npyOf("<f4", "(2, 1)", one+one)})
	changed := strings.Replace(whole, one+one, one+"\x01"+one[1:], 1)
	refused(t, write(t, "rows.npz", changed), Options{}, "features: after row 1: zip: checksum error")
	refused(t, write(t, "rows.npz", whole[:len(whole)-30]), Options{}, "not a whole .npz file")

	const sizes = 24 // where the directory of an archive has the size of its first member
	directory := strings.Index(whole, "PK\x01\x02")
	for _, claimed := range []uint32{8, 1 << 31, 1<<32 - 2} {
		lying := []byte(whole)
		binary.LittleEndian.PutUint32(lying[directory+sizes:], claimed)
		refused(t, write(t, "rows.npz", string(lying)), Options{}, "")
	}
	bomb := zipOf(t, zip.Deflate, member{"features.npy", npyOf("<f4", "(25000, 1000)", strings.Repeat("\x00", 100_000_000))})
	refused(t, write(t, "rows.npz", bomb), Options{}, "unpacks to more than 100 times its size")
}

func TestSafetensors(t *testing.T) {
	data := func(parts ...string) []byte { return []byte(strings.Join(parts, "")) }
	values := safetensors.Tensor{Name: "features", DType: safetensors.F32, Shape: []uint64{2, 1}, Data: data(one, one)}
	labels := safetensors.Tensor{Name: "labels", DType: safetensors.I64, Shape: []uint64{2}, Data: data(long, "\x00\x00\x00\x00\x00\x00\x00\x00")}
	ids := safetensors.Tensor{Name: "ids", DType: safetensors.U8, Shape: []uint64{2}, Data: data("\x07\xff")}
	half := safetensors.Tensor{Name: "features", DType: safetensors.F16, Shape: []uint64{2, 1}, Data: data("\x00\x3c\x00\x3c")}
	names := map[string]string{"class_names": `["cat", "dog"]`}
	want := content{Kind: Features, Width: 1, Classes: []string{"cat", "dog"}, Values: []float32{1, 1}, Labels: []int{1, 0}, IDs: []string{"7", "255"}}
	for element, tensor := range map[string]safetensors.Tensor{"float32": values, "float16": half} {
		want.Element = element
		for _, tensors := range [][]safetensors.Tensor{{tensor, labels, ids}, {ids, labels, tensor}} {
			compare(t, element, contentOf(t, file(write(t, "rows.safetensors", safetensorsOf(t, names, tensors...)), Options{})), want)
		}
	}
	short := labels
	short.Shape, short.Data = []uint64{1}, data(long)
	bad := values
	bad.Data = data(nan, one)
	brain := half
	brain.DType = safetensors.BF16
	whole := safetensorsOf(t, nil, values)
	for words, content := range map[string]string{
		"labels has 1 elements for 2 rows": safetensorsOf(t, nil, values, short),
		"row 0: column 0: NaN":             safetensorsOf(t, nil, bad),
		"elements of type BF16":            safetensorsOf(t, nil, brain),
		"no array of the values":           safetensorsOf(t, nil, labels),
		"class_names of the metadata":      safetensorsOf(t, map[string]string{"class_names": "cat"}, values),
		"two tensors of the name":          safetensorsOf(t, nil, values, values),
		"not a whole safetensors file":     whole[:len(whole)-1],
		"safetensors file: invalid header": "\xff\xff\xff\xff\xff\xff\xff\x7f{}",
		"":                                 "",
	} {
		refused(t, write(t, "rows.safetensors", content), Options{}, words)
	}
}

func TestCSVThatIsWrong(t *testing.T) {
	for words, text := range map[string]string{
		"rows.csv:3: column \"b\": \"x\" is no number of float32":      "a,b\n1,2\n3,x\n",
		"rows.csv:2: column \"b\": \"\" is no number":                  "a,b\n1,\n",
		"rows.csv:2: column \"b\": \"1e39\" is no number of float32":   "a,b\n1,1e39\n",
		"rows.csv:3: column \"a\": NaN; values must be finite numbers": "a,b\n1,2\nnan,2\n",
		"rows.csv:2: column \"b\": +Inf":                               "a,b\n1,inf\n",
		"rows.csv:4: 1 columns; the first line names 2":                "a,b\n1,2\n\n3\n",
		"rows.csv:2: 3 columns; the first line names 2":                "a,b\n1,2,3\n",
		"rows.csv:1: the first line holds numbers alone":               "1,2\n3,4\n",
		"rows.csv:1: two columns of the name \"a\"":                    "a,a\n3,4\n",
		"rows.csv:1: no column of values":                              "id,label\n3,4\n",
		"rows.csv:1: holds both probabilities and logits":              "logit_a,probability_a\n3,4\n",
		"rows.csv:3: column 3: bare \" in non-quoted-field":            "a\n1\n2 \"x\n",
		"holds no rows": "a,b\n",
		"is empty":      "",
	} {
		refused(t, write(t, "rows.csv", text), Options{}, words)
	}
	refused(t, write(t, "rows.csv", "a,b\n1,2\n"), Options{Labels: "species"}, `rows.csv:1: no "species"; there are "a", "b"`)
	refused(t, write(t, "rows.csv", "a,b\n1,2\n"), Options{Values: []string{"c"}}, `rows.csv:1: no column "c"; there are "a", "b"`)
	endless := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(endless, []byte("a\n\""), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(endless, 1<<33); err != nil { // zeros without end, of a file without blocks
		t.Fatal(err)
	}
	allocation.Within(t, 10*maxRecord, func() {
		if err := readAll(endless, Options{}); err == nil || !strings.Contains(err.Error(), "is a quotation mark not closed?") {
			t.Errorf("error %v", err)
		}
	})
}

func TestParquetThatIsWrong(t *testing.T) {
	refused(t, "testdata/duckdb-null-value.parquet", Options{}, `row 1: column "logits": a list that is empty or null, or has a null`)
	refused(t, "testdata/duckdb-null-row.parquet", Options{}, `row 1: column "logits": a list that is empty or null, or has a null`)
	refused(t, "testdata/duckdb-ragged.parquet", Options{}, "row 1 has 3 values, the first row 2")
	refused(t, "testdata/duckdb-probabilities.parquet", Options{Values: []string{"label"}}, `column "label" holds`)
	refused(t, "testdata/duckdb-list-snappy.parquet", Options{Labels: "features"}, `column "features" holds lists; want one number or text a row`)
	refused(t, "testdata/duckdb-list-snappy.parquet", Options{Values: []string{"x"}}, `no column "x"; there are "features", "label", "id"`)
	whole, err := os.ReadFile("testdata/duckdb-null-row.parquet")
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", "PAR1", string(whole[:len(whole)-10]), string(whole[:20]) + string(whole[30:])} {
		refused(t, write(t, "rows.parquet", content), Options{}, "")
	}
}

// Headers of Parquet that promise what is not there take no memory.
func TestParquetHeadersThatPromiseTooMuch(t *testing.T) {
	type row struct {
		A float32 `parquet:"a"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, make([]row, 1000)); err != nil {
		t.Fatal(err)
	}
	if err := readAll(path, Options{}); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := func(uncompressed, compressed, values int32) string {
		header, err := thrift.Marshal(new(thrift.CompactProtocol), format.PageHeader{
			UncompressedPageSize: uncompressed, CompressedPageSize: compressed,
			DataPageHeader: thrift.New(format.DataPageHeader{NumValues: values}),
		})
		if err != nil {
			t.Fatal(err)
		}
		return "PAR1" + string(header) + string(whole[4+len(header):])
	}
	footer := func(content string) string {
		return "PAR1" + content + string(binary.LittleEndian.AppendUint32(nil, uint32(len(content)))) + "PAR1"
	}
	const manyColumns = "\x15\x02\x29\xfc\xff\xff\xff\xff\x07" // version 1; a list of 2,147,483,647 columns
	for words, content := range map[string]string{
		"its column ends at":                          page(8, 1<<31-1, 1),
		"more than 100 times its size, which no data": page(1<<31-1, 8, 1),
		"has 2147483647 values":                       page(8, 8, 1<<31-1),
		"a header that says more than there is":       footer(manyColumns + "\x00"),
		"a header of structs in structs":              footer(strings.Repeat("\x1c", 100)),
		"with a value of kind 13":                     footer("\x1d\x00"),
		"no description of columns":                   "PAR1\xff\xff\xff\xffPAR1",
	} {
		refused(t, write(t, "rows.parquet", content), Options{}, words)
	}
}

// A pipe that nobody writes to, in the place of a file, is an error, not a wait without
// end.
func TestOnlyFilesAreOpened(t *testing.T) {
	for extension := range forms {
		path := filepath.Join(t.TempDir(), "rows"+extension)
		if err := unix.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, path, Options{}, "not a file")
	}
	refused(t, "rows.xlsx", Options{}, "rows are read from .npz, .npy, .safetensors, .parquet and .csv files")
	pair := write(t, "a-features.npy", npyOf("<f4", "(1, 1)", one))
	labels := strings.TrimSuffix(pair, "features.npy") + "labels.npy"
	if err := unix.Mkfifo(labels, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := readAll(pair, Options{}); err == nil || !strings.Contains(err.Error(), labels+": not a file") {
		t.Errorf("error %v", err)
	}
}

// Labels that are ignored may be of any form.
func TestIgnoredLabelsAreNotRead(t *testing.T) {
	values := npyOf("<f4", "(2, 1)", one+one)
	for _, labels := range []string{npyOf("|O", "(2,)", long+long), npyOf("<i8", "(1,)", long)} {
		npy := write(t, "x-features.npy", values)
		if err := os.WriteFile(strings.Replace(npy, "features", "labels", 1), []byte(labels), 0o600); err != nil {
			t.Fatal(err)
		}
		npz := write(t, "rows.npz", zipOf(t, zip.Store, member{"features.npy", values}, member{"labels.npy", labels}))
		for _, path := range []string{npy, npz} {
			if err := readAll(path, Options{IgnoreLabels: true}); err != nil {
				t.Error(err)
			}
			if readAll(path, Options{}) == nil {
				t.Errorf("%s: its labels were read", path)
			}
		}
	}
	type row struct {
		Features []float32 `parquet:"features,list"`
		Label    []float32 `parquet:"label,list"`
		ID       string    `parquet:"id"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	if err := parquet.WriteFile(path, []row{{[]float32{1}, []float32{2}, "a"}}); err != nil {
		t.Fatal(err)
	}
	if err := readAll(path, Options{IgnoreLabels: true}); err != nil {
		t.Error(err)
	}
}

func TestStreams(t *testing.T) {
	array := npyOf("<f4", "(2, 1)", one+one)
	read := func(text string) (content, error) {
		table, err := NewStream(strings.NewReader(text), "standard input", Options{})
		if err != nil {
			return content{}, err
		}
		rows, err := table.Load()
		if err != nil {
			return content{}, err
		}
		got := content{Values: make([]float32, rows.Len())}
		for i := range rows.Len() {
			rows.CopyRow(got.Values[i:i+1], i)
		}
		return got, nil
	}
	for _, text := range []string{array, array + array, npyOf("<f4", "(0, 1)", "") + array} {
		if got, err := read(text); err != nil || len(got.Values) != strings.Count(text, one) || got.Values[0] != 1 {
			t.Errorf("%v, %v", got, err)
		}
	}
	for words, text := range map[string]string{
		"standard input: row 1: truncated: unexpected EOF": npyOf("<f4", "(3, 1)", one+one[:2]),
		"standard input: row 3: truncated":                 array + array[:len(array)-2],
		"after row 1: not a .npy file":                     array + "and something else",
		"after row 1: the header is cut off":               array + "\x93",
		"after row 1: an array of 2 values of float32 a":   array + npyOf("<f4", "(1, 2)", one+one),
		"after row 1: an array of 1 values of float64":     array + npyOf("<f8", "(1, 1)", long),
		"row 2: column 0: NaN":                             array + npyOf("<f4", "(1, 1)", nan),
		"holds no rows":                                    npyOf("<f4", "(0, 1)", ""),
		"row 0: truncated":                                 npyOf("<f4", "(1000000000, 1000000)", one),
	} {
		allocation.Within(t, 1<<25, func() {
			if _, err := read(text); err == nil || !strings.Contains(err.Error(), words) {
				t.Errorf("error %v, want one with %q", err, words)
			}
		})
	}
	for _, asked := range []Options{{Values: []string{"features"}}, {Labels: "labels"}, {IDs: "ids"}} {
		_, err := NewStream(strings.NewReader(array), "standard input", asked)
		if want := `standard input: no "`; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s for %+v", err, want, asked)
		}
	}
	table, err := NewStream(strings.NewReader(array), "standard input", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := table.Load(); err != nil {
		t.Error(err)
	}
	if _, err := table.Load(); err == nil || !strings.Contains(err.Error(), "a stream cannot be read again") {
		t.Errorf("error %v", err)
	}
}
