package table

import (
	"slices"
	"strings"
	"testing"
)

// leftOver is a table as a spreadsheet leaves it: empty rows, and columns without a name.
const leftOver = ",,,,\na,label,,b,\n1,x,,2,\n\n3,y,,4,\n5,x,,6,\n,,,,\n , ,,,\n"

// Empty rows around a table, and columns, of a spreadsheet are not there, in any way of reading. Between others
// an empty row is one whose values are missing, in its line.
func TestLeftoversOfSpreadsheets(t *testing.T) {
	path := write(t, "rows.csv", leftOver)
	want := content{Kind: Features, Width: 2, Classes: []string{"x", "y"}, Values: []float32{1, 2, 3, 4, 5, 6}, Labels: []int{0, 1, 0}, IDs: []string{"0", "1", "2"}}
	compare(t, "rows", contentOf(t, file(path, Options{})), want)
	if names, err := Names(path); err != nil || !slices.Equal(names, []string{"a", "label", "b"}) {
		t.Errorf("%q, %v", names, err)
	}
	l, err := Learn([]File{{Path: path}})
	if err != nil || len(l.Encoding) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	compare(t, "encoded", contentOf(t, file(path, Options{Reference: Reference{Encoding: l.Encoding}})), want)
	domain := Roles{DomainColumn: "label", DomainValue: "x"}
	want = content{Kind: Features, Width: 2, Values: []float32{1, 2, 5, 6}, Labels: []int{unknown, unknown}, IDs: []string{"0", "2"}}
	compare(t, "domain", contentOf(t, file(path, Options{Roles: domain})), want)
	between := write(t, "between.csv", "a,label\n1,x\n\n,\n , \n2,y\nz,\n,\n")
	var lines []int
	if err := ReadText(between, func([]string) error { return nil }, func(line int, cells []string) error {
		lines = append(lines, line)
		return nil
	}); err != nil || !slices.Equal(lines, []int{2, 4, 5, 6, 7}) {
		t.Errorf("%v, %v", lines, err)
	}
	refused(t, between, Options{}, `between.csv:4: column "a": "" stands for a missing value`)
	named := write(t, "notes.csv", strings.Replace(leftOver, "4,", "4,note", 1))
	refused(t, named, Options{}, `notes.csv:5: column 5 holds "note", but has no name; name it, or delete it`)
	if err := readAll(named, Options{Reference: Reference{Columns: []string{"a", "b"}}}); err != nil {
		t.Error(err)
	}
	// As many as a line may have take no time that grows with their square, which is minutes.
	commas := strings.Repeat(",", maxWidth)
	if err := readAll(write(t, "wide.csv", "a"+commas+"\n1"+commas+"\n"), Options{}); err != nil {
		t.Error(err)
	}
}

// A doubled name is wrong where it is that of a column that is read.
func TestDoubledNames(t *testing.T) {
	e := Encoding{{Column: "a"}}
	notes := write(t, "notes.csv", "a,n,n,label\n1,x,y,c\n")
	want := content{Kind: Features, Width: 1, Classes: []string{"c"}, Values: []float32{1}, Labels: []int{0}, IDs: []string{"0"}}
	for _, o := range []Options{{Reference: Reference{Encoding: e}}, {Reference: Reference{Columns: []string{"a"}}}, {Roles: Roles{Ignore: []string{"n"}}}} {
		compare(t, "notes", contentOf(t, file(notes, o)), want)
	}
	refused(t, notes, Options{}, `notes.csv:1: two columns of the name "n"; rename one`)
	doubled := write(t, "doubled.csv", "id,id,a,a,label,label\n1,2,3,4,x,y\n")
	for _, c := range []struct{ ignore, want string }{{"a", "id"}, {"id", "a"}, {"label", "id"}} {
		refused(t, doubled, Options{Roles: Roles{Ignore: []string{c.ignore}}}, `two columns of the name "`+c.want)
	}
	refused(t, doubled, Options{Reference: Reference{Encoding: e}, Roles: Roles{Ignore: []string{"id"}}}, `two columns of the name "a"`)
	one := write(t, "one.csv", "a,label,label\n1,x,y\n")
	refused(t, one, Options{Reference: Reference{Encoding: e}}, `two columns of the name "label"`)
	if err := readAll(one, Options{Reference: Reference{Encoding: e}, IgnoreLabels: true}); err != nil {
		t.Error(err)
	}
}

// What separates columns is seen in the first line that is not blank.
func TestSeparatorBelowBlankLines(t *testing.T) {
	for name, text := range map[string]string{"semicolons": "\n\r\nid;label;a\n1;x;2\n", "tabs": "\n\nid\tlabel\ta\n1\tx\t2\n"} {
		if names, err := Names(write(t, "rows.csv", text)); err != nil || !slices.Equal(names, []string{"id", "label", "a"}) {
			t.Errorf("%s: %q, %v", name, names, err)
		}
	}
}
