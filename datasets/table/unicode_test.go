package table

import (
	"errors"
	"strings"
	"testing"

	"iwda/internal/testfiles"
)

// What is not UTF-8 is refused with its line, whichever way a file is read.
func TestNotUTF8(t *testing.T) {
	for name, text := range map[string]string{
		"rows.csv": "label,a\nK\xf6ln,1\n", "rows.tsv": "label\ta\nx\t\xe9\n", "cut.csv": "label,a\nx,1\ny\xc3",
		"packed.csv.gz": testfiles.Gzip(t, "label,a\n\"x\ny\",1\nK\xf6ln,1\n"), "names.csv": "label,l\xe4nge\nx,1\n", "ids.csv": "id,label,a\n\xfcber,x,1\n",
	} {
		at := map[string]string{"names.csv": ":1: ", "packed.csv.gz": ":4: ", "cut.csv": ":3: "}[name]
		if at == "" {
			at = ":2: "
		}
		path := write(t, name, text)
		refused(t, path, Options{}, at+`is not UTF-8; save it as "CSV UTF-8", or convert it: iconv -f WINDOWS-1252 -t UTF-8`)
		_, learning := Learn([]File{{Path: path}})
		reading := ReadText(path, func([]string) error { return nil }, func(int, []string) error { return nil })
		for _, err := range []error{learning, reading} {
			if !errors.Is(err, ErrNotUTF8) || !strings.HasPrefix(err.Error(), path+at) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if _, err := Names(write(t, "names.csv", "label,l\xe4nge\nx,1\n")); !errors.Is(err, ErrNotUTF8) {
		t.Error(err)
	}
	type row struct {
		A float32 `parquet:"l\xe4nge"`
	}
	refused(t, write(t, "names.parquet", parquetOf(t, []row{{1}})), Options{}, `the name "l\xe4nge" is not UTF-8`)
	type words struct {
		A string `parquet:"a"`
	}
	e := Reference{Encoding: Encoding{{Column: "a", Levels: []string{"x"}}}}
	refused(t, write(t, "words.parquet", parquetOf(t, []words{{"x"}, {"\xf6"}})), Options{Reference: e}, `row 1: column "a": "\xf6" is not UTF-8`)
}
