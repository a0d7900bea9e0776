package main

import (
	"fmt"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// Commands that read tables are told what their columns are, whatever they are called.
func TestColumnFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	var both strings.Builder
	both.WriteString("sample;site;species;width;height;plate;run\n")
	for i := range 120 {
		site, species := "south", ""
		if i%2 == 0 {
			site, species = "north", []string{"ant", "bee"}[i/2%2]
		}
		fmt.Fprintf(&both, "s%d;%s;%s;%d,5;%d,25;p%d;%d\n", i, site, species, i/2%2*9+i%5, i%3, i%4, i)
	}
	testfiles.Write(t, "both.csv", both.String())
	said := []string{"--label-column", "species", "--id-column", "sample", "--ignore", "plate", "--ignore", "run", "--domain-column", "site"}
	status, out, text := call(t, append([]string{"check-data", "both.csv"}, said...)...)
	if status != 0 || !strings.Contains(out, `source: rows with "north" in the column "site"; target: rows with "south"`) || !strings.Contains(out, "source: numbers have a decimal comma\n") ||
		!strings.Contains(out, `source: 60 rows of 2 classes: "ant" 30, "bee" 30`) {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	status, out, text = call(t, append([]string{"adapt", "both.csv", "-o", "out", "--dry-run", "--source-domain", "north"}, said...)...)
	if status != 0 || !strings.Contains(out, `label_column: species`) || !strings.Contains(out, `domain_value: south`) || !strings.Contains(out, `ignore: [plate, run]`) {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	if status, out, text = call(t, append([]string{"adapt", "both.csv", "-o", "out", "--dry-run", "--group-column", ""}, said...)...); status != 0 || strings.Count(out, "independent: true") != 2 {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	for line, want := range map[string]string{
		"check-data both.csv":                                            "name a source and a target, or one file with both and --domain-column",
		"check-data both.csv both.csv both.csv":                          `"both.csv" is one too many`,
		"check-data both.csv --domain-column site":                       "which column has the labels?",
		"check-data both.csv --domain-column side":                       `there is no column "side", which --domain-column names; did you mean "site"?`,
		"check-data both.csv both.csv --label-column species --ignore x": `there is no column "x", which --ignore names; `,
		"check-data both.csv none.csv":                                   "none.csv: no such file",
	} {
		if status, _, text := call(t, strings.Fields(line)...); status != 2 || !strings.Contains(text, want) {
			t.Errorf("%s: status %d, want %q\n%s", line, status, want, text)
		}
	}
	line := append([]string{"adapt", "both.csv", "-o", "out", "--set", "methods=[source-only]"}, said...)
	succeed(t, append(line, short...)...)
	// The model knows its columns and that of ids; of a table under other names only the ids are to be named.
	testfiles.Write(t, "new.tsv", "name\theight\twidth\tspecies\nx\t1.25\t9.5\t?\ny\t0.25\t1.5\t?\n")
	for _, c := range []struct {
		line []string
		ids  string
	}{
		{[]string{"predict", "out", "both.csv"}, "s0 s1 s2"}, {[]string{"predict", "out", "new.tsv"}, "0 1"}, {[]string{"predict", "out", "new.tsv", "--id-column", "name"}, "x y"},
	} {
		status, out, text := call(t, append(c.line, "-o", "-", "--device", "cpu")...)
		var ids []string
		for _, line := range strings.Split(out, "\n")[1:] {
			id, _, _ := strings.Cut(line, ",")
			ids = append(ids, id)
		}
		if status != 0 || !strings.HasPrefix(strings.Join(ids, " "), c.ids+" ") {
			t.Errorf("%v: status %d\n%s\n%s", c.line, status, out, text)
		}
	}
}

// Whatever the name of a column holds, --ignore takes it as the error says.
func TestIgnoreAsTheErrorSays(t *testing.T) {
	t.Chdir(t.TempDir())
	rows := func(format string) (text string) {
		for i := range 30 {
			text += strings.ReplaceAll(format, "N", fmt.Sprint(i*i)) + "\n"
		}
		return text
	}
	testfiles.Write(t, "source.csv", "label,a,\"b, c\",\"d\ne\"\n"+rows("x,N,1N,2N")+rows("y,-N,3N,4N"))
	testfiles.Write(t, "target.csv", "a\n"+rows("N"))
	line := []string{"check-data", "source.csv", "target.csv"}
	for _, column := range []string{"b, c", "d\ne"} {
		advice := "leave it out with --ignore '" + column + "'"
		if status, _, text := call(t, line...); status != 2 || !strings.Contains(text, advice) {
			t.Fatalf("status %d, want %q\n%s", status, advice, text)
		}
		line = append(line, "--ignore", column)
	}
	if status, out, text := call(t, line...); status != 0 {
		t.Errorf("status %d\n%s\n%s", status, out, text)
	}
	want := `there is no column "zzzz", which --ignore names; there are "label", "a", "b, c", "d\ne"`
	if status, _, text := call(t, append(line[:3], "--ignore", "zzzz")...); status != 2 || !strings.Contains(text, want) {
		t.Errorf("status %d, want %q\n%s", status, want, text)
	}
}
