package table

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Whole numbers without a sign are read as such in every role.
func TestUnsignedParquet(t *testing.T) {
	type row struct {
		ID     uint64 `parquet:"id"`
		Label  uint32 `parquet:"label,dict"`
		Domain uint64 `parquet:"domain,dict"`
		A      uint32 `parquet:"a"`
		B      uint64 `parquet:"b"`
		C      uint8  `parquet:"c"`
	}
	path := write(t, "rows.parquet", parquetOf(t, []row{{1<<64 - 1, 1<<32 - 1, 1 << 63, 1 << 31, 1 << 63, 255}, {1, 7, 2, 3, 4, 5}, {2, 7, 1 << 63, 3, 4, 5}}))
	want := content{Kind: Features, Width: 3, Classes: []string{"7", "4294967295"}, Labels: []int{1, 0},
		Values: []float32{1 << 31, 1 << 63, 255, 3, 4, 5}, IDs: []string{"18446744073709551615", "2"}}
	roles := Roles{DomainColumn: "domain", DomainValue: "9223372036854775808"}
	compare(t, "numbers", contentOf(t, file(path, Options{Roles: roles})), want)
	e := Encoding{{Column: "a"}, {Column: "b"}, {Column: "c"}}
	compare(t, "cells", contentOf(t, file(path, Options{Roles: roles, Reference: Reference{Encoding: e}})), want)
}

// Decimals, dates and times are not what they are stored as, and no labels, ids or domains.
func TestParquetTypesThatAreNotRead(t *testing.T) {
	type row struct {
		A       float32  `parquet:"a"`
		Decimal int32    `parquet:"decimal,decimal(2:5)"`
		Bytes   [8]byte  `parquet:"bytes,decimal(2:18)"`
		Date    int32    `parquet:"date,date"`
		Time    int32    `parquet:"time,time(millisecond)"`
		Stamp   int64    `parquet:"stamp,timestamp"`
		UUID    [16]byte `parquet:"uuid,uuid"`
	}
	path := write(t, "rows.parquet", parquetOf(t, []row{{}}))
	columns := map[string]string{"decimal": "DECIMAL(5,2)", "bytes": "DECIMAL(18,2)", "date": "DATE", "time": "TIME(", "stamp": "TIMESTAMP(", "uuid": "UUID"}
	for column, kind := range columns {
		words := `column "` + column + `" holds ` + kind
		others := Roles{Ignore: []string{}}
		for other := range columns {
			if other != column {
				others.Ignore = append(others.Ignore, other)
			}
		}
		refused(t, path, Options{Roles: others}, words)
		label, id, domain := others, others, others
		label.Label, id.ID, domain.DomainColumn = column, column, column
		for _, roles := range []Roles{label, id, domain} {
			refused(t, path, Options{Roles: roles}, words)
		}
	}
}

// A column that pyarrow has written of nulls alone has no labels that are known.
func TestParquetOfNulls(t *testing.T) {
	type row struct {
		A     float32 `parquet:"a"`
		Label *int32  `parquet:"label,optional"`
	}
	content := parquetOf(t, []row{{1, nil}, {2, nil}})
	opened := must.Have(parquet.OpenFile(strings.NewReader(content), int64(len(content))))(t)
	metadata := *opened.Metadata()
	metadata.Schema = slices.Clone(metadata.Schema)
	metadata.Schema[2].LogicalType = format.LogicalType{Value: new(format.NullType)}
	footer := must.Have(thrift.Marshal(new(thrift.CompactProtocol), metadata))(t)
	before := len(content) - 8 - int(binary.LittleEndian.Uint32([]byte(content[len(content)-8:])))
	whole := bytes.Join([][]byte{[]byte(content[:before]), footer, binary.LittleEndian.AppendUint32(nil, uint32(len(footer))), []byte("PAR1")}, nil)
	path := write(t, "rows.parquet", string(whole))
	got := contentOf(t, file(path, Options{}))
	if !slices.Equal(got.Labels, []int{unknown, unknown}) {
		t.Errorf("%+v", got)
	}
}

// Whole numbers are places among the names of the classes, as in arrays.
func TestParquetLabelsAreNamed(t *testing.T) {
	type row struct {
		A     float32  `parquet:"a"`
		Label *float64 `parquet:"label,optional"`
		Place string   `parquet:"place"`
	}
	number := func(v float64) *float64 { return &v }
	names := parquet.KeyValueMetadata("class_names", `["20","10"]`)
	rows := []row{{1, number(1), "20"}, {1, number(0), "10"}, {1, nil, ""}, {1, number(-1), "-1"}}
	path := write(t, "rows.parquet", parquetOf(t, rows, names))
	for label, want := range map[string][]int{"label": {1, 0, unknown, unknown}, "place": {0, 1, unknown, unknown}} {
		ignored := map[string]string{"label": "place", "place": "label"}[label]
		got := contentOf(t, file(path, Options{Roles: Roles{Label: label, Ignore: []string{ignored}}}))
		if !slices.Equal(got.Labels, want) || !slices.Equal(got.Classes, []string{"20", "10"}) {
			t.Errorf("%s: %+v", label, got)
		}
	}
	rows[1].Label = number(2)
	testfiles.Write(t, path, parquetOf(t, rows, names))
	refused(t, path, Options{Roles: Roles{Ignore: []string{"place"}}}, "label: row 1: label 2; class_names has 2 names, of 0 to 1")
}
