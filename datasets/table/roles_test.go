package table

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// flowers is a file with both domains: labels, ids, words and what is to be ignored under names of
// its own.
const flowers = "sample,site,species,colour,size,plate\n" +
	"s1,north,setosa,red,1.5,9\n" +
	"s2,south,,blue,2.5,8\n" +
	"s3,north,virginica,,3.5,7\n" +
	"s4,south,,red,4.5,6\n" +
	"s5,north,setosa,red,5.5,5\n"

var north = Roles{Label: "species", ID: "sample", Ignore: []string{"plate"}, DomainColumn: "site", DomainValue: "north"}

// One file serves as two, in every form: rows keep their labels, ids and numbers in the file, and
// columns are learnt from the rows of the domain alone.
func TestRolesAndDomains(t *testing.T) {
	type flower struct {
		Sample  string  `parquet:"sample"`
		Site    string  `parquet:"site,dict"`
		Species string  `parquet:"species"`
		Colour  *string `parquet:"colour,optional"`
		Size    float64 `parquet:"size"`
		Plate   int32   `parquet:"plate"`
	}
	red, blue := "red", "blue"
	rows := []flower{
		{"s1", "north", "setosa", &red, 1.5, 9}, {"s2", "south", "", &blue, 2.5, 8}, {"s3", "north", "virginica", nil, 3.5, 7},
		{"s4", "south", "", &red, 4.5, 6}, {"s5", "north", "setosa", &red, 5.5, 5},
	}
	south := north
	south.DomainValue = "south"
	for _, path := range []string{
		write(t, "rows.csv", flowers), write(t, "rows.tsv.gz", testfiles.Gzip(t, strings.ReplaceAll(flowers, ",", "\t"))), write(t, "rows.parquet", parquetOf(t, rows)),
	} {
		l := must.Have(Learn([]File{{path, north}}, File{path, south}))(t)
		want := Encoding{{Column: "colour", Levels: []string{"red"}, Missing: true}, {Column: "size", Median: 3.5}}
		if !slices.EqualFunc(l.Encoding, want, func(a, b Coding) bool {
			return a.Column == b.Column && slices.Equal(a.Levels, b.Levels) && a.Median == b.Median
		}) {
			t.Errorf("%s: %+v", path, l)
		}
		got := contentOf(t, file(path, Options{Kind: Features, Roles: north, Reference: Reference{Encoding: l.Encoding}}))
		compare(t, path, got, content{Kind: Features, Width: 3, Classes: []string{"setosa", "virginica"}, Labels: []int{0, 1, 0},
			Values: []float32{1, 0, 1.5, 0, 1, 3.5, 1, 0, 5.5}, IDs: []string{"s1", "s3", "s5"}})
		withoutIDs := south
		withoutIDs.ID, withoutIDs.Ignore = "", []string{"plate", "sample", "colour"}
		got = contentOf(t, file(path, Options{Roles: withoutIDs}))
		compare(t, path+" without ids", got, content{Kind: Features, Width: 1, Values: []float32{2.5, 4.5}, Labels: []int{unknown, unknown}, IDs: []string{"1", "3"}})
		domains, err := Domains(path, north)
		if err != nil || !slices.Equal(domains, []Domain{{"north", 3, 3}, {"south", 2, 0}}) {
			t.Errorf("%s: %v, %v", path, domains, err)
		}
		names, err := Names(path)
		if err != nil || !slices.Equal(names, []string{"sample", "site", "species", "colour", "size", "plate"}) {
			t.Errorf("%s: %q, %v", path, names, err)
		}
		refused(t, path, Options{Roles: Roles{Ignore: []string{"colour", "sample", "species"}, DomainColumn: "site", DomainValue: "west"}}, `no row has "west" in the column "site"`)
		refused(t, path, Options{Roles: Roles{Ignore: []string{"plates"}}}, `no "plates"; there are "sample", "site"`)
		refused(t, path, Options{Roles: Roles{Label: "species", Ignore: []string{"species"}}}, `"species" is named twice`)
	}
	usual := write(t, "usual.csv", "ids,id,labels,label,a\ns1,9,x,y,1.5\ns2,8,y,x,2.5\n")
	got := contentOf(t, file(usual, Options{Roles: Roles{Ignore: []string{"ids", "labels"}}}))
	compare(t, "other usual names", got, content{Kind: Features, Width: 1, Classes: []string{"x", "y"}, Labels: []int{1, 0}, Values: []float32{1.5, 2.5}, IDs: []string{"9", "8"}})
	refused(t, usual, Options{}, "holds both labels and label; name one of them with --label-column")
	if err := readAll(usual, Options{Kind: Features, IgnoreLabels: true, Roles: Roles{Ignore: []string{"id"}}, Reference: Reference{Columns: []string{"a"}}}); err != nil {
		t.Error(err)
	}
	if names, err := Names(usual); err != nil || len(names) != 5 {
		t.Errorf("%q, %v", names, err)
	}
	refused(t, "testdata/fortran.npy", Options{Roles: Roles{ID: "a"}}, `no "a"; the file is one array, without names`)
}

// An array of an .npz file says the domain, too.
func TestDomainsOfArrays(t *testing.T) {
	path := "testdata/double.npz"
	all := contentOf(t, file(path, Options{}))
	domain := Roles{DomainColumn: "labels", DomainValue: "1"} // an array of one value a row
	some := contentOf(t, file(path, Options{Roles: domain, IgnoreLabels: true}))
	var want []float32
	for i, id := range all.IDs {
		if slices.Contains(some.IDs, id) {
			want = append(want, all.Values[i*all.Width:(i+1)*all.Width]...)
		}
	}
	if n := len(some.IDs); n == 0 || n == len(all.IDs) || !slices.Equal(some.Values, want) {
		t.Errorf("%+v of %+v", some, all)
	}
}

func inUTF16(text string, order binary.AppendByteOrder) string {
	var b []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		b = order.AppendUint16(b, unit)
	}
	return string(b)
}

// What Excel writes in countries of the decimal comma, in all encodings, has the same numbers as
// what it writes elsewhere.
func TestExcel(t *testing.T) {
	excel := testfiles.Read(t, "testdata/excel.csv")
	text := strings.TrimPrefix(string(excel), "\ufeff")
	if len(text) == len(excel) || !strings.Contains(text, "\r\n") || !strings.Contains(text, "12,5;") {
		t.Fatalf("not as Excel writes it: %q", excel)
	}
	want := content{Kind: Features, Width: 2, Classes: []string{"Bär 🐻", "Fuchs"}, Values: []float32{12.5, 1.125, 7, -0.5, 0.25, 1500}, Labels: []int{1, 0, 1}, IDs: []string{"a", "b", "c"}}
	roles := Roles{Label: "Art"}
	for name, content := range map[string]string{
		"excel.csv": string(excel), "plain.csv": text, "packed.csv.gz": testfiles.Gzip(t, string(excel)),
		"commas.csv": strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(text, ",", "."), ";", ","), "Länge. cm", `"Länge, cm"`),
		"little.csv": inUTF16(text, binary.LittleEndian), "big.csv": inUTF16(strings.ReplaceAll(text, ";", "\t"), binary.BigEndian),
		"quoted.csv": "id,Art,\"Länge, cm\",Masse\na,Fuchs,\"12,5\",\"1,125\"\nb,Bär 🐻,7,\"-0,5\"\nc,Fuchs,\"0,25\",1500\n",
	} {
		path := write(t, name, content)
		compare(t, name, contentOf(t, file(path, Options{Roles: roles})), want)
		table := opened(t, file(path, Options{Roles: roles}))
		must.Have(table.Load())(t)
		if sign, _ := table.Decimal(); (sign == ",") != (name != "commas.csv") {
			t.Errorf("%s: the decimal sign is %q", name, sign)
		}
	}
}

// Half a pair of UTF-16 is one wrong sign, whatever follows it; half a unit is an error.
func TestHalvesOfUTF16(t *testing.T) {
	for want, units := range map[string][]uint16{
		"a\ufffd,b":     {'a', 0xd800, ',', 'b'},
		"a,b\ufffd":     {'a', ',', 'b', 0xd83d},
		"a\ufffd,🐻\n,b": {'a', 0xdc00, ',', 0xd83d, 0xdc3b, '\n', ',', 'b'},
	} {
		for name, order := range map[string]binary.AppendByteOrder{"little": binary.LittleEndian, "big": binary.BigEndian} {
			text := order.AppendUint16(nil, 0xfeff) // the mark
			for _, unit := range units {
				text = order.AppendUint16(text, unit)
			}
			if got, err := io.ReadAll(decoded(bufio.NewReader(bytes.NewReader(text)))); string(got) != want || err != nil {
				t.Errorf("%s: %q, %v; want %q", name, got, err, want)
			}
			if _, err := io.ReadAll(decoded(bufio.NewReader(bytes.NewReader(append(text, 0))))); err == nil {
				t.Errorf("%s, %q: no error for half a unit", name, want)
			}
		}
	}
}

// Words with commas and points stay words; one file tells how its numbers are written in all columns.
func TestDecimalCommaAndWords(t *testing.T) {
	path := write(t, "source.csv", "version;list;a;label\n1.2.3;1,2;1,5;x\n1.2.4;1,2,3;2,125;y\nnone;four;1234,5;x\n1.2.3;1,2;3;x\n")
	l := learnt(t, path)
	if c := l.Encoding[2]; c.Column != "a" || c.Levels != nil || c.Median != 2.5625 || len(l.Encoding[0].Levels) != 2 || len(l.Encoding[1].Levels) == 0 {
		t.Errorf("%+v", l)
	}
	for text, words := range map[string]string{
		"a;label\n1,5;x\n2.5;y\n1;y\n":                      `source.csv:2: column "a": "1,5" has a comma, but line 3, column "a": "2.5", a point`,
		"a;b;label\n1;1.234;x\n2;12.500;y\n3;;y\n":          `source.csv:2: column "b": "1.234" may be a fraction or thousands`,
		"a;b;label\n1;1.234,5;x\n2;12.500,25;y\n3;word;y\n": "",
	} {
		_, err := Learn([]File{{Path: write(t, "source.csv", text)}})
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%q: error %v, want one with %q", text, err, words)
		}
	}
}

// A few bytes do not become gigabytes, nor many rows.
func TestGzipBombs(t *testing.T) {
	const unpacked = 1 << 27
	for name, text := range map[string]string{
		"a long line":  strings.Repeat("a", unpacked),
		"columns":      strings.Repeat(",", unpacked/8),
		"rows":         "a\n" + strings.Repeat("1\n", unpacked/8),
		"empty cells":  strings.Repeat(",a", 100) + "\n" + strings.Repeat(strings.Repeat(",", 100)+"\n", unpacked/800),
		"blank lines":  "a\n" + strings.Repeat("\n", unpacked),
		"quoted lines": "a\n\"" + strings.Repeat("\n", unpacked),
	} {
		path := write(t, "rows.csv.gz", testfiles.Gzip(t, text))
		info := must.Have(os.Stat(path))(t)
		text = ""
		allocation.Within(t, allocation.Allowed(int(info.Size())), func() {
			if err := readAll(path, Options{}); err == nil {
				t.Errorf("%s: %d bytes, and no error", name, info.Size())
			}
		})
	}
}

// Arrays of NumPy hold labels and ids of any type: words, numbers and truth values, under the usual
// names or others.
func TestLabelsOfEveryType(t *testing.T) {
	values := member{"features.npy", npyOf("<f4", "(3, 1)", one+one+one)}
	for _, c := range []struct {
		descr, content string
		classes        []string
		labels         []int
	}{
		{"<U3", "a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00" + "\xe4\x00\x00\x00" + strings.Repeat("\x00", 8) + "a\x00\x00\x00b\x00\x00\x00c\x00\x00\x00", []string{"abc", "ä"}, []int{0, 1, 0}},
		{"|S3", "abcd\x00\x00abc", []string{"abc", "d"}, []int{0, 1, 0}},
		{"<i8", "\x05" + strings.Repeat("\x00", 7) + "\x03" + strings.Repeat("\x00", 7) + strings.Repeat("\xff", 8), []string{"3", "5"}, []int{1, 0, unknown}},
		{"|u1", "\x05\x03\x05", []string{"3", "5"}, []int{1, 0, 1}},
		{"<f4", one + "\x00\x00\x00\x00" + "\x00\x00\xc0\x7f", []string{"0", "1"}, []int{1, 0, unknown}},
		{"|b1", "\x01\x00\x01", []string{"0", "1"}, []int{1, 0, 1}},
	} {
		labels, ids := npyOf(c.descr, "(3,)", c.content), npyOf("<U2", "(3,)", "x\x00\x00\x00\x00\x00\x00\x00y\x00\x00\x001\x00\x00\x00z\x00\x00\x00\x00\x00\x00\x00")
		want := content{Kind: Features, Width: 1, Classes: c.classes, Values: []float32{1, 1, 1}, Labels: c.labels, IDs: []string{"x", "y1", "z"}}
		usual := write(t, "rows.npz", zipOf(t, zip.Deflate, values, member{"labels.npy", labels}, member{"ids.npy", ids}))
		compare(t, c.descr, contentOf(t, file(usual, Options{})), want)
		own := write(t, "rows.npz", zipOf(t, zip.Store, values, member{"y.npy", labels}, member{"sample.npy", ids}))
		compare(t, c.descr+" under other names", contentOf(t, file(own, Options{Roles: Roles{Label: "y", ID: "sample"}})), want)
	}
}

// Rows with the same values of columns of features belong together, words and missing cells included, in all files that
// share a grouping; and roles that say nothing of groups have the text of former ones.
func TestGroupBy(t *testing.T) {
	path := write(t, "rows.csv", "a,b,c,label\n1,x,3,k\n1,x,4,l\n1,y,3,k\n,x,3,l\n1,x,9,k\n")
	l := must.Have(Learn([]File{{path, Roles{}}}, File{path, Roles{Ignore: []string{"label"}}}))(t)
	load := func(by ...string) ([]int, error) {
		open := must.Have(Open(path, Options{Kind: Features, Roles: Roles{GroupBy: by}, Reference: Reference{Encoding: l.Encoding}}))(t)
		defer open.Close()
		rows, err := open.Load()
		if err != nil {
			return nil, err
		}
		return rows.Groups(), nil
	}
	if groups, err := load("a", "b"); err != nil || !slices.Equal(groups, []int{0, 0, 1, 2, 0}) {
		t.Errorf("groups %v, %v", groups, err)
	}
	if groups, err := load(); err != nil || groups != nil {
		t.Errorf("groups %v, %v", groups, err)
	}
	if _, err := load("a", "none"); err == nil || err.Error() != path+`: no column of features is "none", which group_by names` {
		t.Error(err)
	}
	if text := (Roles{ID: "i", Independent: true}).GoString(); text != `table.Roles{Label:"", ID:"i", Ignore:[]string(nil), DomainColumn:"", DomainValue:""}` {
		t.Error(text)
	}
	if (Roles{GroupBy: []string{"a"}}).None() || (Roles{GroupBy: []string{"a"}}).GoString() == (Roles{}).GoString() {
		t.Error("group_by is not said")
	}
}
