package table

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"

	"iwda/internal/must"
)

// crafted is a Parquet file of one column whose footer and pages say what a test wants.
type crafted struct {
	rows  int64
	codec format.CompressionCodec
	pages []craftedPage
}

type craftedPage struct {
	size, values int32 // as the header says; no size is that of the content
	encoding     format.Encoding
	dictionary   bool
	content      string
}

// of is the file, with the column of a type as a row.
func (c crafted) of(t testing.TB, row any) string {
	t.Helper()
	var model bytes.Buffer
	w := parquet.NewWriter(&model, parquet.SchemaOf(row))
	must.Do(t, w.Write(row))
	must.Do(t, w.Close())
	file := must.Have(parquet.OpenFile(bytes.NewReader(model.Bytes()), int64(model.Len())))(t)
	encoded := func(value any) string {
		text := must.Have(thrift.Marshal(new(thrift.CompactProtocol), value))(t)
		return string(text)
	}
	content := "PAR1"
	for _, page := range c.pages {
		header := format.PageHeader{UncompressedPageSize: cmp.Or(page.size, int32(len(page.content))), CompressedPageSize: int32(len(page.content))}
		if page.dictionary {
			header.Type = format.DictionaryPage
			header.DictionaryPageHeader = thrift.New(format.DictionaryPageHeader{NumValues: page.values, Encoding: format.Plain})
		} else {
			header.DataPageHeader = thrift.New(format.DataPageHeader{NumValues: page.values, Encoding: page.encoding, DefinitionLevelEncoding: format.RLE, RepetitionLevelEncoding: format.RLE})
		}
		content += encoded(header) + page.content
	}
	metadata := *file.Metadata()
	metadata.NumRows = c.rows
	column := &metadata.RowGroups[0].Columns[0].MetaData
	column.Codec, column.DictionaryPageOffset, column.DataPageOffset, column.TotalCompressedSize = c.codec, 0, 4, int64(len(content)-4)
	footer := encoded(metadata)
	return content + footer + string(binary.LittleEndian.AppendUint32(nil, uint32(len(footer)))) + "PAR1"
}

// run is a run of one value of that many bits.
func run(length int, value string) string {
	return string(binary.AppendUvarint(nil, uint64(length)<<1)) + value
}

func withLength(text string) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(text)))) + text
}

type numberRow struct {
	A float32 `parquet:"a"`
}

// Some bytes can stand for gigabytes: of rows, of run lengths, of what is compressed.
func TestParquetBombs(t *testing.T) {
	type optional struct {
		A *float32 `parquet:"a,optional"`
	}
	type list struct {
		Features []float32 `parquet:"features,list"`
	}
	type truth struct {
		A bool `parquet:"a"`
	}
	type integer struct {
		A int32 `parquet:"a,delta"`
	}
	type words struct {
		Label string  `parquet:"label,delta"`
		Value float32 `parquet:"value"`
	}
	plain := craftedPage{4, 1, format.Plain, false, one}
	one32, number := float32(1), numberRow{1}
	run16 := run(1<<24, "")
	many := strings.Repeat(run(1<<24-1, "\x00"), 100)
	deltas := func(total int) string {
		return string(binary.AppendUvarint([]byte("\x80\x01\x04"), uint64(total))) + "\x00\x00\x00\x00\x00\x00"
	}
	alike := make([]craftedPage, 100)
	for i := range alike {
		alike[i] = craftedPage{8, 1 << 20, format.RLEDictionary, false, "\x00" + run(1<<20, "")}
	}
	dictionary := craftedPage{4, 1, format.Plain, true, one}
	for name, test := range map[string]struct {
		crafted
		row   any
		words string
	}{
		"2⁴⁷ rows":            {crafted{1 << 47, 0, []craftedPage{plain}}, number, "140737488355328 rows of 1 values in a file of"},
		"2⁴⁰ rows of lists":   {crafted{1 << 40, 0, []craftedPage{{16, 1, format.Plain, false, withLength(run(1, "\x00")) + withLength(run(1, "\x01")) + one}}}, list{[]float32{1}}, "1099511627776 rows of 1 values"},
		"levels":              {crafted{1, 0, []craftedPage{{0, 1, format.Plain, false, withLength(many) + one}}}, optional{&one32}, "definition levels: runs of more than 1 values"},
		"indexes":             {crafted{1 << 20, 0, []craftedPage{dictionary, {8, 1 << 24, format.RLEDictionary, false, "\x00" + run16}}}, number, "unpacks to more than 100 times"},
		"indexes without":     {crafted{1, 0, []craftedPage{{0, 1, format.RLEDictionary, false, "\x00" + run16}}}, number, "a dictionary that is not there"},
		"indexes, many pages": {crafted{1 << 20, 0, append([]craftedPage{dictionary}, alike...)}, number, ""},
		"truth values":        {crafted{1, 0, []craftedPage{{0, 1 << 30, format.RLE, false, withLength(many)}}}, truth{true}, "unpacks to more than 100 times"},
		"integers":            {crafted{1, 0, []craftedPage{{0, 1, format.DeltaBinaryPacked, false, deltas(1 << 30)}}}, integer{1}, "1073741824 differences for 1 values"},
		// Fewer values than the header says would be those of a former page in the same memory.
		"split, too few":      {crafted{2, 0, []craftedPage{{0, 2, format.ByteStreamSplit, false, one}}}, number, "a page ends before its last value"},
		"plain, too few":      {crafted{2, 0, []craftedPage{{0, 2, format.Plain, false, one}}}, number, "a page ends before its last value"},
		"dictionary, too few": {crafted{1, 0, []craftedPage{{0, 2, format.Plain, true, one}}}, number, "a page ends before its last value"},
		"places, too few":     {crafted{2, 0, []craftedPage{dictionary, {0, 2, format.RLEDictionary, false, "\x01" + run(1, "\x00")}}}, number, "places in the dictionary: runs of more than 1 values, or that end too early"},
		"levels, too few":     {crafted{2, 0, []craftedPage{{0, 2, format.Plain, false, withLength(run(1, "\x01")) + one}}}, optional{&one32}, "definition levels: runs of more than 1 values, or that end too early"},
		"texts":               {crafted{1, 0, []craftedPage{{0, 1, format.DeltaLengthByteArray, false, deltas(1 << 30)}}}, words{"a", 1}, "1073741824 differences for 1 values"},
		"texts, too short":    {crafted{1, 0, []craftedPage{{0, 1, format.DeltaLengthByteArray, false, "\x80"}}}, words{"a", 1}, "page at byte 4"},
		"texts that share":    {crafted{1, 0, []craftedPage{{0, 1, format.DeltaByteArray, false, deltas(1) + deltas(1)}}}, words{"a", 1}, "the encoding DELTA_BYTE_ARRAY, which is not read; write the column with the encoding PLAIN"},
		"places too large":    {crafted{1, 0, []craftedPage{dictionary, {0, 1, format.RLEDictionary, false, "\x08" + run(1, "\x01")}}}, number, "place 1 is not in the dictionary"},
	} {
		t.Run(name, func(t *testing.T) { refused(t, write(t, "rows.parquet", test.of(t, test.row)), Options{}, test.words) })
	}
}

// What pages are compressed with unpacks to what their header says, or is an error that takes no
// more memory.
func TestPackedParquet(t *testing.T) {
	through := func(w interface {
		Write([]byte) (int, error)
		Close() error
	}, to *bytes.Buffer, content []byte) string {
		w.Write(content)
		must.Do(t, w.Close())
		return to.String()
	}
	for codec, pack := range map[format.CompressionCodec]func(content []byte) string{
		format.Snappy: func(content []byte) string { return string(snappy.Encode(nil, content)) },
		format.Gzip:   func(content []byte) string { var to bytes.Buffer; return through(gzip.NewWriter(&to), &to, content) },
		format.Brotli: func(content []byte) string { var to bytes.Buffer; return through(brotli.NewWriter(&to), &to, content) },
		format.Zstd: func(content []byte) string {
			var to bytes.Buffer
			w, err := zstd.NewWriter(&to) // which does not say how long the content is
			if err != nil {
				t.Fatal(err)
			}
			return through(w, &to, content)
		},
		format.Lz4Raw: func(content []byte) string {
			to := make([]byte, lz4.CompressBlockBound(len(content)))
			n := must.Have(lz4.CompressBlock(content, to, nil))(t)
			return string(to[:n])
		},
	} {
		const rows = 64
		crooked := func(size int32, content string) string {
			return write(t, "rows.parquet", crafted{rows, codec, []craftedPage{{size, rows, format.Plain, false, content}}}.of(t, numberRow{1}))
		}
		right := pack(bytes.Repeat([]byte(one), rows))
		// Pages follow each other, and one that is empty, in the same memory.
		page, other := craftedPage{4 * rows, rows, format.Plain, false, right}, craftedPage{4, 1, format.Plain, false, pack([]byte("\x00\x00\x00\x40"))}
		pages := write(t, "rows.parquet", crafted{2*rows + 1, codec, []craftedPage{page, {0, 0, format.Plain, false, ""}, other, page}}.of(t, numberRow{1}))
		want := slices.Repeat([]float32{1}, 2*rows+1)
		want[rows] = 2
		if got := contentOf(t, file(pages, Options{})); !slices.Equal(got.Values, want) {
			t.Errorf("%v: %v", codec, got.Values)
		}
		refused(t, crooked(4*rows, pack(bytes.Repeat([]byte(one), 1<<24))), Options{}, fmt.Sprint(codec))
		refused(t, crooked(4*rows, pack(bytes.Repeat([]byte(one), rows-1))), Options{}, fmt.Sprint(codec))
		refused(t, crooked(4*rows+1, right), Options{}, fmt.Sprint(codec))
		refused(t, crooked(4*rows, right[:len(right)/2]), Options{}, fmt.Sprint(codec))
		refused(t, crooked(4*rows, ""), Options{}, fmt.Sprint(codec))
		refused(t, crooked(4*rows, strings.Repeat("\xff", len(right))), Options{}, fmt.Sprint(codec))
	}
}

// encodedRow has a column of each encoding.
type encodedRow struct {
	ID    string   `parquet:"id"` // in the encoding DELTA_LENGTH_BYTE_ARRAY
	Label string   `parquet:"label,dict"`
	A     float32  `parquet:"a"`
	B     float32  `parquet:"b,dict"`
	C     float32  `parquet:"c,split"`
	D     float64  `parquet:"d,split"`
	E     int32    `parquet:"e,delta"`
	F     int64    `parquet:"f,delta"`
	G     int64    `parquet:"g,dict"`
	H     bool     `parquet:"h"`
	I     float64  `parquet:"i"`
	J     *float64 `parquet:"j,optional"`
	K     *float32 `parquet:"k,optional,dict"`
	L     bool     `parquet:"l"`
}

// rowsOfAllEncodings returns rows and the values in them.
func rowsOfAllEncodings(n int) (rows []encodedRow, values []float32) {
	for i := range n {
		x, narrow := float64(i%50)/4, float32(i%50)/4
		truth := float32(i / 3 % 2)
		rows = append(rows, encodedRow{fmt.Sprintf("row %d", i), fmt.Sprintf("class %d", i%7), float32(i), narrow, -narrow, x, int32(i * i), int64(-i), int64(i % 9), i/3%2 == 1, x, &x, &narrow, true})
		values = append(values, float32(i), narrow, -narrow, narrow, float32(i*i), float32(-i), float32(i%9), truth, narrow, narrow, narrow, 1)
	}
	return rows, values
}

var codecs = []parquet.WriterOption{
	parquet.Compression(&parquet.Uncompressed), parquet.Compression(&parquet.Snappy), parquet.Compression(&parquet.Gzip),
	parquet.Compression(&parquet.Zstd), parquet.Compression(&parquet.Brotli), parquet.Compression(&parquet.Lz4Raw),
}

// Ids and labels are read from pages of every encoding, compression and version.
func TestParquetEncodings(t *testing.T) {
	const n = 600
	rows, want := rowsOfAllEncodings(n)
	const width = 12
	for _, codec := range codecs {
		for version := 1; version <= 2; version++ {
			for _, page := range []int{100, 1 << 12, 1 << 20} {
				text := parquetOf(t, rows, codec, parquet.DataPageVersion(version), parquet.PageBufferSize(page), parquet.MaxRowsPerRowGroup(n/2))
				got := contentOf(t, file(write(t, "rows.parquet", text), Options{}))
				if len(got.Values) != len(want) {
					t.Fatalf("%d values of %d", len(got.Values), len(want))
				}
				for i, v := range got.Values {
					if v != want[i] {
						t.Fatalf("row %d: column %d: %v, want %v", i/width, i%width, v, want[i])
					}
				}
				for i := range n {
					if got.IDs[i] != rows[i].ID || got.Classes[got.Labels[i]] != rows[i].Label {
						t.Fatalf("row %d: id %q, label %q", i, got.IDs[i], got.Classes[got.Labels[i]])
					}
				}
			}
		}
	}
}
