package table

import (
	"encoding/binary"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

func TestParquetThatIsWrong(t *testing.T) {
	refused(t, "testdata/duckdb-null-value.parquet", Options{}, `row 1: column "logits": a list that is empty or null, or has a null`)
	refused(t, "testdata/duckdb-null-row.parquet", Options{}, `row 1: column "logits": a list that is empty or null, or has a null`)
	refused(t, "testdata/duckdb-ragged.parquet", Options{}, "row 1 has 3 values, the first row 2")
	type text struct {
		A string `parquet:"a"`
	}
	refused(t, write(t, "rows.parquet", parquetOf(t, []text{{"x"}})), Options{}, `column "a" holds STRING; want numbers, but in the columns of ids and labels`)
	refused(t, "testdata/duckdb-list-snappy.parquet", Options{Roles: Roles{Label: "features"}}, `column "features" holds lists; want one number or text a row`)
	refused(t, "testdata/duckdb-list-snappy.parquet", Options{Roles: Roles{Label: "x"}}, `no "x"; there are "features", "label", "id"`)
	whole := testfiles.Read(t, "testdata/duckdb-null-row.parquet")
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
	must.Do(t, parquet.WriteFile(path, make([]row, 1000)))
	must.Do(t, readAll(path, Options{}))
	whole := testfiles.Read(t, path)
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
		"its column ends at":                             page(8, 1<<31-1, 1),
		"1 values in 2147483647 bytes: the file unpacks": page(1<<31-1, 8, 1),
		"2147483647 values in 8 bytes: the":              page(8, 8, 1<<31-1),
		"a header that says more than there is":          footer(manyColumns + "\x00"),
		"a header of structs in structs":                 footer(strings.Repeat("\x1c", 100)),
		"or lists in lists, without end":                 footer(strings.Repeat("\x19", 1<<24)),
		"with a value of kind 13":                        footer("\x1d\x00"),
		"no description of columns":                      "PAR1\xff\xff\xff\xffPAR1",
	} {
		refused(t, write(t, "rows.parquet", content), Options{}, words)
	}
}
