package table

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"golang.org/x/sys/unix"

	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
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

func TestCSVThatIsWrong(t *testing.T) {
	for words, text := range map[string]string{
		"rows.csv:3: column \"b\": \"x\" is not a float32 number; if these are labels, name the column as theirs, or call it label": "a,b\n1,2\n3,x\n",
		"rows.csv:2: column \"b\": \"1,234\" may be a fraction or thousands":                                                        "a,b\n1,\"1,234\"\n",
		"rows.csv:3: column \"b\": \"1.234\" may be a fraction or thousands":                                                        "a;b\n1;1\n2;1.234\n",
		"rows.csv:2: column \"b\": \"1,5\" has a comma, but line 3, column \"a\": \"2.5\", a point":                                 "a;b\n1;1,5\n2.5;1\n",
		"rows.csv:2: column \"b\": \"1,234\" has a comma, but line 3, column \"a\": \"2.345\", a point":                             "a;b\n1;1,234\n2.345;1\n",
		"rows.csv:2: column \"b\": \"\" stands for a missing value; fill it in":                                                     "a,b\n1,\n",
		"rows.csv:3: column \"a\": \"NA\" stands for a missing value; fill it in":                                                   "a,b\n1,2\nNA,2\n",
		"rows.csv:2: column \"b\": \"1e39\" is not a float32 number":                                                                "a,b\n1,1e39\n",
		"rows.csv:3: column \"a\": NaN; values must be finite numbers":                                                              "a,b\n1,2\nnan,2\n",
		"rows.csv:2: column \"b\": +Inf":                                                                                            "a,b\n1,inf\n",
		"rows.csv:4: 1 column; the first line names 2":                                                                              "a,b\n1,2\n\n3\n",
		"rows.csv:2: 3 columns; the first line names 2":                                                                             "a,b\n1,2,3\n",
		"rows.csv:1: the first line holds numbers alone":                                                                            "1,2\n3,4\n",
		"rows.csv:1: two columns of the name \"a\"":                                                                                 "a,a\n3,4\n",
		"rows.csv:1: no column of values":                                                                                           "id,label\n3,4\n",
		"rows.csv:1: holds both probabilities and logits":                                                                           "logit_a,probability_a\n3,4\n",
		"rows.csv:3: column 3: bare \" in non-quoted-field":                                                                         "a\n1\n2 \"x\n",
		"rows.csv:3: a cell that begins with a quotation mark in this line does not end with one before line 5; delete the mark":    "a,b\n1,2\n3,\"4\n5,6\n7,8\n",
		"rows.csv:2: 2 columns; the first line names 1; if that is a comment, delete it":                                            "# made by hand\na,b\n1,2\n",
		"rows.csv:3: 1 column; the first line names 2; if this one is a comment, delete it":                                         "a,b\n1,2\n# half\n3,4\n",
		"rows.csv:1: lines end with a carriage return alone":                                                                        "a,b\r1,2\r3,4\r",
		"rows.csv:1: the first line has no commas, tabs or semicolons, but |":                                                       "a|b\n1|2\n",
		"holds no rows": "a,b\n",
		"is empty":      "",
	} {
		refused(t, write(t, "rows.csv", text), Options{}, words)
	}
	for words, text := range map[string]string{"a line of more than": strings.Repeat(",", maxCells+1<<13), "rows.csv:1: two columns": strings.Repeat("a,", 1<<18) + "\n"} {
		path := write(t, "rows.csv", text)
		allocation.Within(t, 1<<26+100*len(text), func() {
			must.Fail(t, readAll(path, Options{}), words)
		})
	}
	refused(t, write(t, "rows.csv", "a,b\n1,2\n"), Options{Roles: Roles{Label: "species"}}, `rows.csv:1: no "species"; there are "a", "b"`)
	endless := filepath.Join(t.TempDir(), "rows.csv")
	testfiles.Write(t, endless, "a\n\"")
	if err := os.Truncate(endless, 1<<33); err != nil { // zeros without end, of a file without blocks
		t.Fatal(err)
	}
	allocation.Within(t, 10*maxRecord, func() {
		must.Fail(t, readAll(endless, Options{}), "rows.csv: after line 1: a line of more than", "is a quotation mark not closed?")
	})
}

// A pipe that nobody writes to, in the place of a file, is an error, not a wait without
// end.
func TestOnlyFilesAreOpened(t *testing.T) {
	for extension := range forms {
		path := filepath.Join(t.TempDir(), "rows"+extension)
		must.Do(t, unix.Mkfifo(path, 0o600))
		refused(t, path, Options{}, "not a file")
	}
	refused(t, "rows.xlsx", Options{}, "rows are read from files that end with .npz, .npy, .parquet, .csv, .tsv, .csv.gz or .tsv.gz")
}

// Labels that are ignored may be of any form.
func TestIgnoredLabelsAreNotRead(t *testing.T) {
	values := npyOf("<f4", "(2, 1)", one+one)
	for _, labels := range []string{npyOf("|O", "(2,)", long+long), npyOf("<i8", "(1,)", long)} {
		path := write(t, "rows.npz", zipOf(t, zip.Store, member{"features.npy", values}, member{"labels.npy", labels}))
		if err := readAll(path, Options{IgnoreLabels: true}); err != nil {
			t.Error(err)
		}
		if readAll(path, Options{}) == nil {
			t.Errorf("%s: its labels were read", path)
		}
	}
	type row struct {
		Features []float32 `parquet:"features,list"`
		Label    []float32 `parquet:"label,list"`
		ID       string    `parquet:"id"`
	}
	path := filepath.Join(t.TempDir(), "rows.parquet")
	must.Do(t, parquet.WriteFile(path, []row{{[]float32{1}, []float32{2}, "a"}}))
	if err := readAll(path, Options{IgnoreLabels: true}); err != nil {
		t.Error(err)
	}
}
