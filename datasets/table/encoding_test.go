package table

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Words that the source lacks are told, where columns are learnt and where rows are read, in each pass.
func TestWordsThatTheSourceLacks(t *testing.T) {
	source := write(t, "source.csv", "colour,n\n"+strings.Repeat("red,1\nblue,2\n", 5))
	target := write(t, "target.csv", "colour,n\n"+strings.Repeat("red,1\n ,2\ngreen,2\nRED,2\n", 2))
	l := learnt(t, source, target)
	want := target + `:4: "green" is none of this column's words in ` + source + `; 4 of 6 cells (66.7%) have such words, which are ignored; "RED" is written "red" there`
	if diff := cmp.Diff([]LearntColumn{{"colour", 2, []int{0, 2}, "", []string{want}, false, "", 1. / 3, 0}, {"n", 0, []int{0, 0}, "", nil, false, "", 1, 0}}, l.Columns); diff != "" {
		t.Error(diff)
	}
	read := opened(t, file(target, Options{Reference: Reference{Name: source, Encoding: l.Encoding}}))
	for range 2 {
		for _, err := range read.Batches(3) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{`column "colour": ` + want}, read.Strays()); diff != "" {
			t.Error(diff)
		}
	}
}

// Values of a word stand together, that of a missing cell among them; numbers and theirs are no words.
func TestPlacesOfWords(t *testing.T) {
	e := Encoding{{Column: "age", Missing: true}, {Column: "colour", Levels: []string{"red", "blue"}, Missing: true}, {Column: "n"}, {Column: "size", Levels: []string{"small"}}}
	if diff := cmp.Diff([][]int{{2, 3, 4}, {6}}, e.Words()); diff != "" || e.Columns()[6] != "size=small" {
		t.Error(diff, e.Columns())
	}
}

// learnt returns what is learnt of files, which must not fail.
func learnt(t *testing.T, source string, others ...string) Learnt {
	t.Helper()
	var files []File
	for _, path := range others {
		files = append(files, File{Path: path})
	}
	return must.Have(Learn([]File{{Path: source}}, files...))(t)
}

// Several sources are learnt from as if one file had their rows: words, missing cells, medians, and what is odd.
func TestLearnOfSources(t *testing.T) {
	numbers := strings.Repeat("1,red\n", 8)
	first, second := write(t, "first.csv", "size,colour\n"+numbers+",red\n"), write(t, "second.csv", "x,colour,size\n"+strings.Repeat("0,blue,3\n", 9)+"0,blue,3\n0,NA,wide\n")
	l := must.Have(Learn([]File{{Path: first}, {Path: second}}, File{Path: write(t, "target.csv", "colour,size\nblack,2\n")}))(t)
	if want := (Encoding{{Column: "size", Median: 3, Missing: true}, {Column: "colour", Levels: []string{"blue", "red"}, Missing: true}}); !cmp.Equal(l.Encoding, want) {
		t.Errorf("%+v", l.Encoding)
	}
	size, colour := l.Columns[0], l.Columns[1]
	if !slices.Equal(size.Missing, []int{2, 0}) || !slices.Equal(size.Strays, []string{second + `:12: "wide" is not a number and counts as missing`}) || len(colour.Strays) != 1 || !strings.Contains(colour.Strays[0], "this column's words in "+first+" and "+second) {
		t.Errorf("%+v", l.Columns)
	}
	must.Refuse(Learn([]File{{Path: first}, {Path: write(t, "other.csv", "size\n1\n")}}))(t, `other.csv:1: there is no column "colour", but `+first+" has one")
}

// The classes of several files are those of the first, or if another has more all, sorted.
func TestJoinClasses(t *testing.T) {
	for _, c := range []struct{ each, want [][]string }{
		{[][]string{{"dog", "cat"}, {"cat"}}, [][]string{{"dog", "cat"}}},
		{[][]string{{"dog", "cat"}, {"owl", "cat"}}, [][]string{{"cat", "dog", "owl"}}},
		{[][]string{{"2", "10"}, {"2.0", "3"}}, [][]string{{"2", "3", "10"}}},
	} {
		before := slices.Clone(c.each[0])
		if got := JoinClasses(c.each...); !slices.Equal(got, c.want[0]) || !slices.Equal(before, c.each[0]) {
			t.Errorf("%q: %q", c.each, got)
		}
	}
}

// encodedAs fails the test unless a file has these rows by the encoding.
func encodedAs(t *testing.T, path string, e Encoding, want ...float32) {
	t.Helper()
	got := contentOf(t, file(path, Options{Kind: Features, Reference: Reference{Name: "source.csv", Width: len(e.Columns()), Encoding: e}}))
	if diff := cmp.Diff(want, got.Values); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

const (
	people = "id,colour,label,age,member,size\n" +
		"1,red,a,30,true,1\n" +
		"2, blue,b,,False,2\n" +
		"3,red,a,50,true,3\n" +
		"4,,b,NaN,true,4\n" +
		"5,green,a,40,false,5\n"
	// The columns stand in another order; a word, an age and a size are not the source's.
	others = "size,age,extra,member,colour\n" +
		"7,,x,true,violet\n" +
		"NA,-1,y,false,none\n" +
		"8,1e1,z, TRUE ,blue \n"
)

func TestEncoding(t *testing.T) {
	source, target := write(t, "source.csv", people), write(t, "target.csv", others)
	e := Encoding{
		{Column: "colour", Levels: []string{"red", "blue", "green"}, Missing: true},
		{Column: "age", Median: 40, Missing: true},
		{Column: "member", Median: 1},
		{Column: "size", Median: 3, Missing: true},
	}
	got := learnt(t, source, target)
	if want := []LearntColumn{
		{"colour", 3, []int{1, 1}, "", []string{target + `:2: "violet" is none of this column's words in ` + source + `; 1 of 2 cells (50.0%) have such words, which are ignored`}, false, "", 0.5, 0.5}, {"age", 0, []int{2, 1}, "", nil, false, "", 1, 0}, {"member", 0, []int{0, 0}, "", nil, false, "", 1, 0}, {"size", 0, []int{0, 1}, "", nil, false, "", 1, 0},
	}; !cmp.Equal(got.Columns, want) {
		t.Errorf("%+v", got.Columns)
	}
	got.Columns = nil
	want := Learnt{Encoding: e}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	columns := []string{"colour=red", "colour=blue", "colour=green", "colour is missing", "age", "age is missing", "member", "size", "size is missing"}
	if diff := cmp.Diff(columns, e.Columns()); diff != "" {
		t.Error(diff)
	}
	if flags := e.Flags(); !slices.Equal(flags, []int{0, 1, 2, 3, 5, 8}) {
		t.Error(flags)
	}
	encodedAs(t, source, e,
		1, 0, 0, 0, 30, 0, 1, 1, 0,
		0, 1, 0, 0, 40, 1, 0, 2, 0,
		1, 0, 0, 0, 50, 0, 1, 3, 0,
		0, 0, 0, 1, 40, 1, 1, 4, 0,
		0, 0, 1, 0, 40, 0, 0, 5, 0)
	encodedAs(t, target, e,
		0, 0, 0, 0, 40, 1, 1, 7, 0,
		0, 0, 0, 1, -1, 0, 0, 3, 1,
		0, 1, 0, 0, 10, 0, 1, 8, 0)
	// By the source alone nothing of a size is missing, and its median stands for it elsewhere.
	alone := learnt(t, source)
	if diff := cmp.Diff(Coding{Column: "size", Median: 3}, alone.Encoding[3]); diff != "" {
		t.Error(diff)
	}
	encodedAs(t, write(t, "later.csv", "colour,age,member,size\nred,1,0,\n"), alone.Encoding, 1, 0, 0, 0, 1, 0, 0, 3)
	// What words a target lacks is not a value.
	if c := learnt(t, write(t, "words.csv", "a\nx\nx\ny\n"), write(t, "gap.csv", "a\nx\n-\n")).Encoding; c[0].Missing || len(c[0].Levels) != 2 {
		t.Errorf("%+v", c)
	}
	table := opened(t, file(target, Options{Kind: Features, Reference: Reference{Encoding: e}}))
	if reference, err := table.Reference(); err != nil || !slices.Equal(reference.Columns, columns) || !cmp.Equal(reference.Encoding, e) {
		t.Errorf("%+v, %v", reference, err)
	}
}

// Parquet and CSV files go together, whatever a number or a word is stored as.
func TestEncodingOfParquet(t *testing.T) {
	type row struct {
		Colour *string  `parquet:"colour,optional,dict"`
		Age    *float64 `parquet:"age,optional"`
		Member *bool    `parquet:"member,optional"`
		Size   int32    `parquet:"size"`
	}
	text := func(s string) *string { return &s }
	age := func(v float64) *float64 { return &v }
	yes, no := true, false
	source := write(t, "source.parquet", parquetOf(t, []row{{text("red"), age(30), &yes, 1}, {nil, nil, &no, 2}, {text("red"), age(41.5), nil, 4}, {text("blue"), age(0.1), &yes, 4}}))
	e := learnt(t, source).Encoding
	want := Encoding{{Column: "colour", Levels: []string{"red", "blue"}, Missing: true}, {Column: "age", Median: 30, Missing: true}, {Column: "member", Median: 1, Missing: true}, {Column: "size", Median: 3}}
	if diff := cmp.Diff(want, e); diff != "" {
		t.Error(diff)
	}
	encodedAs(t, source, e,
		1, 0, 0, 30, 0, 1, 0, 1,
		0, 0, 1, 30, 1, 0, 0, 2,
		1, 0, 0, 41.5, 0, 1, 1, 4,
		0, 1, 0, 0.1, 0, 1, 0, 4)
	encodedAs(t, write(t, "target.csv", "size;member;age;colour\n3;true;41,5;blue\n"), e, 0, 1, 0, 41.5, 0, 1, 0, 3)
	type numbers struct {
		Age    string  `parquet:"age"`
		Colour float32 `parquet:"colour"`
		Size   float32 `parquet:"size"`
		Member int64   `parquet:"member"`
	}
	encodedAs(t, write(t, "target.parquet", parquetOf(t, []numbers{{"7.5", 3, 1 << 24, 1}})), e, 0, 0, 0, 7.5, 0, 1, 0, 1<<24)
	if err := readAll(write(t, "words.parquet", parquetOf(t, []numbers{{Age: "old"}})), Options{Reference: Reference{Name: "source.parquet", Encoding: e}}); err == nil ||
		!strings.HasSuffix(err.Error(), `words.parquet: row 0: column "age": "old" is not a number; 1 of 1 cells are not, but in source.parquet the column has numbers`) {
		t.Error(err)
	}
}

// The most frequent words count, and columns that say nothing are left out.
func TestLearnLeavesOut(t *testing.T) {
	var text strings.Builder
	text.WriteString("state,name,review,empty,code,x\n")
	for i := range 400 {
		state := i % 55 // the first fifteen are the most frequent
		fmt.Fprintf(&text, "s%02d,name %d,it came %d days after I had ordered it,,%d,%d\n", state, i, i, i, i%7)
	}
	source := write(t, "source.csv", text.String())
	l := learnt(t, source)
	if got := l.Encoding.coded(); !slices.Equal(got, []string{"state", "code", "x"}) {
		t.Errorf("%q", got)
	}
	levels := l.Encoding[0].Levels
	if len(levels) != mostLevels || levels[0] != "s00" || levels[14] != "s14" || levels[49] != "s49" {
		t.Errorf("%q", levels)
	}
	want := []string{
		`Column "name" of ` + source + ` is left out: 400 different words in 400 cells, as in a column of ids.`,
		`Column "review" of ` + source + ` is left out: its cells are texts, which are not read: give columns of numbers made of them, such as an embedding.`,
		`Column "empty" of ` + source + ` is left out: no row of the source has a value in it.`,
	}
	if diff := cmp.Diff(want, l.LeftOut); diff != "" {
		t.Error(diff)
	}
	must.Refuse(Learn([]File{{Path: write(t, "source.csv", "a,label\n,x\n,y\n")}}))(t, "no column of values")
	// Columns without names are as they are.
	if l := learnt(t, "testdata/duckdb-list-snappy.parquet"); l.Encoding != nil {
		t.Errorf("%+v", l)
	}
}

// One text for nine numbers counts as missing in every file, and is said; in another file than the
// source more are an error of the first one's row.
func TestTextAmongNumbers(t *testing.T) {
	numbers := strings.Repeat("1,x\n", 9)
	source := write(t, "source.csv", "a,b\n"+numbers+"3 or so,y\n")
	target := write(t, "target.csv", "a,b\n2,x\n"+strings.Repeat("oops,y\n"+numbers, 2))
	l := learnt(t, source, target)
	want := []LearntColumn{{"a", 0, []int{1, 2}, "", []string{
		source + `:11: "3 or so" is not a number and counts as missing`,
		target + `:3: "oops" is not a number and counts as missing, as does 1 other cell`,
	}, false, "", 1, 0}, {"b", 2, []int{0, 0}, "", nil, false, "", 1, 0.1}}
	if diff := cmp.Diff(want, l.Columns); diff != "" {
		t.Error(diff)
	}
	encodedAs(t, source, l.Encoding, append(slices.Repeat([]float32{1, 0, 1, 0}, 9), 1, 1, 0, 1)...)
	if diff := cmp.Diff(Encoding{{Column: "a", Median: 1, Missing: true}, {Column: "b", Levels: []string{"x", "y"}}}, l.Encoding); diff != "" {
		t.Error(diff)
	}
	// So it is where rows are read, in each pass and in small batches.
	options := Options{Reference: Reference{Name: "source.csv", Encoding: l.Encoding}}
	read := must.Have(Open(target, options))(t)
	defer read.Close()
	for range 2 {
		for _, err := range read.Batches(3) {
			if err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff([]string{`column "a": ` + want[0].Strays[1]}, read.Strays()); diff != "" {
			t.Error(diff)
		}
	}
	for name, content := range map[string]string{
		`few.csv:3: column "a": "wide" is not a number; 1 of 9 cells are not, but in source.csv the column has numbers`:     "a,b\n2,x\nwide,x\n" + strings.Repeat("1,x\n", 7),
		`end.csv:102: column "a": "w0" is not a number; 100 of 200 cells are not, but in source.csv the column has numbers`: "a,b\n" + strings.Repeat("1,x\n", 100) + manyWords(100),
	} {
		file, _, _ := strings.Cut(name, ":")
		path := write(t, file, content)
		refused(t, path, options, name)
		l, why := learnt(t, source, path), strings.ReplaceAll(strings.Replace(name, ` column "a":`, "", 1), "source.csv", source)
		if len(l.LeftOut) != 1 || !strings.Contains(l.LeftOut[0], why) || len(l.Encoding) != 1 {
			t.Errorf("%q left out, want %s", l.LeftOut, why)
		}
	}
	numbers, words := write(t, "numbers.csv", "a,b,c\n1,2,x\n3,4,y\n"), write(t, "words.csv", "a,b,c\nu,v,x\n")
	if l := learnt(t, numbers, words); len(l.LeftOut) != 2 || len(l.Encoding) != 1 {
		t.Errorf("two columns: %q left out, %d left", l.LeftOut, len(l.Encoding))
	}
	refused(t, write(t, "long.csv", "a,b\n"+manyWords(2000)), options, `long.csv:2: column "a": "w0" is not a number; 2000 of 2000 cells are not`)
	// The rule is one of all rows, wherever the words are, in batches of any size.
	sorted := write(t, "sorted.csv", "a,b\n"+manyWords(150)+strings.Repeat("1,x\n", 1850))
	learnt(t, source, sorted)
	encodedAs(t, sorted, l.Encoding, append(slices.Repeat([]float32{1, 1, 1, 0}, 150), slices.Repeat([]float32{1, 0, 1, 0}, 1850)...)...)
}

func manyWords(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "w%d,x\n", i)
	}
	return text.String()
}

// A number that is none of float32 is an error of its row.
func TestNumbersOutOfRange(t *testing.T) {
	rows := "a,b\n" + strings.Repeat("1,x\n", 9)
	for cell, words := range map[string]string{"inf": `"inf" is not a float32 number`, "1e39": `"1e39" is not a float32 number`, "-1e999": `"-1e999" is not a float32 number`} {
		path := write(t, "source.csv", rows+cell+",y\n")
		e := learnt(t, write(t, "fine.csv", rows)).Encoding
		for path, line := range map[string]int{path: 11, write(t, "all.csv", "a,b\n"+strings.Repeat(cell+",x\n", 40)): 2} {
			if _, err := Learn([]File{{Path: path}}); err == nil || !strings.HasPrefix(err.Error(), fmt.Sprintf(`%s:%d: column "a": %s, at most 3.4e38; leave`, path, line, words)) {
				t.Errorf("%s: %v", cell, err)
			}
		}
		if l := learnt(t, write(t, "words.csv", "a,b\nx,1\ny,2\n"+cell+",3\nx,4\n")); len(l.Encoding[0].Levels) != 3 {
			t.Errorf("%s among words: %+v", cell, l)
		}
		refused(t, path, Options{Reference: Reference{Name: "it", Encoding: e}}, `source.csv:11: column "a": `+words)
	}
	if e := learnt(t, write(t, "source.csv", "a\n1\n2\noops\n")).Encoding; !slices.Equal(e[0].Levels, []string{"1", "2", "oops"}) {
		t.Errorf("%+v", e)
	}
	e := Encoding{{Column: "a", Levels: []string{"x"}}, {Column: "a=x"}}
	refused(t, write(t, "two.csv", "a,a=x\nx,1\n"), Options{Reference: Reference{Encoding: e}}, `two.csv:1: two columns of values of the name "a=x"`)
	refused(t, write(t, "one.csv", "b\nx\n"), Options{Reference: Reference{Name: "source.csv", Encoding: e}}, `one.csv:1: there is no column "a", but source.csv has one`)
}

// Numbers are read as people write them: with a unit that all of a column have, as bounds, in parentheses, with blanks
// between thousands, and as times of the day.
func TestNumbersAsPeopleWriteThem(t *testing.T) {
	for column, want := range map[string]struct {
		unit   string
		values []float32
	}{
		"45.3%\n46.1%\n-7%":                 {"%", []float32{45.3, 46.1, -7}},
		"\"$1,200.00\"\n\"-$1,300.00\"\n$5": {"$", []float32{1200, -1300, 5}},
		"($1.50)\n$2":                       {"$", []float32{-1.5, 2}},
		"€ 5\n\"€ 6,50\"":                   {"€", []float32{5, 6.5}},
		"\"€ 1.234,50\"\n€ 7":               {"€", []float32{1234.5, 7}},
		"5 kg\n1.5e3 kg":                    {"kg", []float32{5, 1500}},
		"5kg\n6 kg":                         {"kg", []float32{5, 6}},
		"12:30\n00:15:00\n1:30 pm":          {"", []float32{12.5, 0.25, 13.5}},
		"2:59:11\n-5:14\n-3\n−0:7:12":       {"", []float32{2.9863889, -5.233333, -3, -0.12}},
		"100:30:00\n+1:00\n23:30":           {"", []float32{100.5, 1, 23.5}},
		"<0.5\n7\n≥ 12":                     {"", []float32{0.5, 7, 12}},
		"(12.5)\n3":                         {"", []float32{-12.5, 3}},
		"−4\n4":                             {"", []float32{-4, 4}},
		"12 345 678\n1'000.5\n3":            {"", []float32{12345678, 1000.5, 3}},
		"\"1,234.5\"\n\"1,234\"\n3":         {"", []float32{1234.5, 1234, 3}},
		"\"1.234,5\"\n\"1,5\"\n3":           {"", []float32{1234.5, 1.5, 3}},
	} {
		path := write(t, "source.csv", "a,b\n"+strings.ReplaceAll(column, "\n", ",x\n")+",y\n")
		l := learnt(t, path)
		if c := l.Encoding[0]; len(c.Levels) > 0 || c.Unit != want.unit {
			t.Errorf("%q: %+v", column, c)
			continue
		}
		l.Encoding = l.Encoding[:1]
		encodedAs(t, path, l.Encoding, want.values...)
	}
}

// What only looks like such numbers are words; a column of them in which some have a unit, or of dates that can be
// read in two ways, is called that.
func TestWordsLikeNumbers(t *testing.T) {
	for column, want := range map[string]string{
		"5 kg\n5 lb": "", "A1\nA2": "", "1st\n2nd": "", "x\ny": "", "%\n%": "", "1.2.3\n1.2.4": "", "3/4\n1/2": "", "10-20\n20-30": "", "(a)\n(b)": "", "25:70\n26:70": "", "4:3\n16:9": "", "90:15\n45:00": "", "-1:75\n1:20:61": "", "< x\n> y": "",
		"45%\n45\n46%": `some of its numbers have "%", as in "45%", and others have not`,
	} {
		l := learnt(t, write(t, "source.csv", "a,b\n"+strings.ReplaceAll(column, "\n", ",1\n")+",2\n"))
		said := strings.Join(l.Columns[0].Strays, "; ")
		if len(l.Encoding[0].Levels) == 0 || want == "" && said != "" || !strings.Contains(said, want) {
			t.Errorf("%q: %q, %+v", column, said, l.Encoding[0])
		}
	}
	dates := write(t, "dates.csv", "a,b\n03/14/2024,1\n4/5/2024,2\n")
	if l := learnt(t, dates); !strings.Contains(l.Columns[0].LeftOut, `dates that can be read in two ways, as "03/14/2024"`) {
		t.Errorf("%+v", l.Columns[0])
	}
	pressures := "pressure,b\n"
	for i := range 400 {
		pressures += fmt.Sprintf("%d/%d,1\n", 100+i%60, 60+i%40)
	}
	if c := learnt(t, write(t, "pressures.csv", pressures)).Columns[0]; len(c.Strays) != 1 || c.LeftOut != "" || !strings.Contains(c.Strays[0], `two numbers each, as "100/60"`) {
		t.Errorf("%+v", c)
	}
}

// A text that is the only one beside many numbers stands for what is missing, here and in other files, however often.
func TestTextForWhatIsMissing(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	for i := range 30 {
		fmt.Fprintf(&text, "%d mg,1\nnot done,2\n", i)
	}
	source, target := write(t, "source.csv", text.String()), write(t, "target.csv", "a,b\nnot done,1\nnot done,1\n7 mg,2\n")
	l := learnt(t, source, target)
	if diff := cmp.Diff(Coding{Column: "a", Unit: "mg", Absent: "not done", Median: 14.5, Missing: true}, l.Encoding[0]); diff != "" {
		t.Error(diff)
	}
	encodedAs(t, target, l.Encoding, 14.5, 1, 1, 14.5, 1, 1, 7, 0, 2)
	if got := l.Columns[0].Strays; len(got) != 1 || got[0] != source+`:3: "not done" is not a number with "mg" and counts as missing, as do 29 other cells` {
		t.Errorf("%q", got)
	}
	codes := strings.NewReplacer(" mg", "", "1", "2", "3", "4", "5", "6", "7", "8", "9", "8").Replace("a,b\n" + strings.Repeat("1,x\n3,y\n5,x\nnone given,y\nnone given,x\n", 8))
	if l := learnt(t, write(t, "codes.csv", codes)); len(l.Encoding[0].Levels) != 4 {
		t.Errorf("few different numbers beside a text: %+v", l.Encoding[0])
	}
}

// Numbers have no underscores, as those of Go.
func TestUnderscores(t *testing.T) {
	path := write(t, "source.csv", "1_1,b\n1_11,1\n11_1,2\n1_11,3\n")
	if c := learnt(t, path).Encoding[0]; c.Column != "1_1" || !slices.Equal(c.Levels, []string{"1_11", "11_1"}) {
		t.Errorf("%+v", c)
	}
	if c := learnt(t, write(t, "comma.csv", "a;b\n1_11,5;1,5\n1_12,5;2,5\n1_11,5;3,5\n")).Encoding[0]; len(c.Levels) != 2 {
		t.Errorf("%+v", c)
	}
	must.Refuse(ReadShares(write(t, "shares.csv", "class,share\na,1_0\n"), []string{"a"}))(t, `"1_0"`)
}

// Words without end take a bounded memory, and cells are encoded row by row.
func TestLearnHostile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "source.csv")
	out := must.Have(os.Create(path))(t)
	fmt.Fprint(out, "word,x\n")
	for i := range 3 * mostWords {
		fmt.Fprintf(out, "w %d,%d\n", i, i%2)
	}
	must.Do(t, out.Close())
	allocation.Within(t, 1<<28, func() {
		l := learnt(t, path)
		if len(l.Encoding) != 1 || len(l.LeftOut) != 1 || !strings.Contains(l.LeftOut[0], `Column "word" of`) || !strings.Contains(l.LeftOut[0], "more than 100000 different words") {
			t.Errorf("%+v", l)
		}
	})
}

func FuzzEncoding(f *testing.F) {
	f.Add([]byte(people), []byte(others))
	f.Add([]byte("a;b\n1,5;x\n;true\n"), []byte("b;a\nNULL;2\n"))
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, source, target []byte) {
		paths := []string{filepath.Join(folder, "source.csv"), filepath.Join(folder, "target.csv")}
		for i, content := range [][]byte{source, target} {
			testfiles.Write(t, paths[i], string(content))
		}
		allocation.Within(t, min(1<<25+4000*(len(source)+len(target)), allocation.Allowed(len(source)+len(target))), func() {
			l, err := Learn([]File{{Path: paths[0]}}, File{Path: paths[1]})
			if err != nil || l.Encoding == nil {
				return
			}
			for _, path := range paths {
				table, err := Open(path, Options{Kind: Features, Reference: Reference{Encoding: l.Encoding}})
				if err != nil {
					continue
				}
				consistent(t, table)
				table.Close()
			}
		})
	})
}
