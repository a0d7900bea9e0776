package table

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/format"
)

// parquetPass is one reading of columns of a file. Some bytes of run lengths or of compressed data
// can stand for gigabytes, in one page or in many: what all pages of a pass may unpack to is
// [MaxUnpacked] of the file's size.
type parquetPass struct {
	file     *parquetFile
	left     int64 // bytes that are still allowed
	unpacker unpacker
}

func newPass(f *parquetFile) *parquetPass { return &parquetPass{file: f, left: MaxUnpacked(f.size)} }

// spend returns an error where more than the file is allowed has been unpacked.
func (p *parquetPass) spend(n int64) error {
	if p.left -= n; p.left < 0 {
		return errors.New("the file unpacks to more than 100 times its size; save it without compression, as .npy")
	}
	return nil
}

// dataPage says of what a page consists.
type dataPage struct {
	values     int // with nulls
	encoding   format.Encoding
	repetition []byte // levels as runs
	definition []byte
	content    []byte
}

// nextPage goes on to the next page of values, of the next group of rows if need be.
func (l *leaf) nextPage() error {
	for {
		if l.at == l.end {
			if err := l.nextGroup(); err != nil {
				return err
			}
			continue
		}
		header, length, err := pageHeader(l.pass.file.file, l.at, l.end)
		if err != nil {
			return fmt.Errorf("the page at byte %d: %w", l.at, err)
		}
		more, err := l.readPage(header, l.at+int64(length))
		if err != nil {
			return fmt.Errorf("the page at byte %d: %w", l.at, err)
		}
		l.at += int64(length) + int64(header.CompressedPageSize)
		if !more {
			return nil
		}
	}
}

// nextGroup goes on to the column's part in the next group of rows.
func (l *leaf) nextGroup() error {
	groups := l.pass.file.groups
	if l.group == len(groups) {
		return errFewRows
	}
	column := &groups[l.group].Columns[l.column.Index()].MetaData
	l.group++
	at, size := column.DataPageOffset, l.pass.file.size
	if first := column.DictionaryPageOffset; first > 0 {
		at = min(at, first)
	}
	if at < 0 || column.TotalCompressedSize < 0 || column.TotalCompressedSize > size-at {
		return fmt.Errorf("a column from byte %d on, of %d bytes, in a file of %d", at, column.TotalCompressedSize, size)
	}
	l.at, l.end, l.codec, l.dictionary = at, at+column.TotalCompressedSize, column.Codec, nil
	return nil
}

// readPage reads the page of that header, whose content is at a place of the file. more says that
// it has no values.
func (l *leaf) readPage(header *format.PageHeader, at int64) (more bool, err error) {
	packed, size := int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	if packed < 0 || packed > l.end-at {
		return false, fmt.Errorf("%d bytes from byte %d on: its column ends at %d", packed, at, l.end)
	}
	values := int64(max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues))
	if size < 0 || values < 0 {
		return false, fmt.Errorf("%d values in %d bytes", values, size)
	}
	if err := l.pass.spend(size + 4*values); err != nil {
		return false, fmt.Errorf("%d values in %d bytes: %w", values, size, err)
	}
	l.packed = resized(l.packed, int(packed))
	if _, err := l.pass.file.file.ReadAt(l.packed, at); err != nil {
		return false, notWhole("truncated", err)
	}
	if header.CRC != 0 && crc32.ChecksumIEEE(l.packed) != uint32(header.CRC) {
		return false, errors.New("damaged: its checksum differs")
	}
	switch header.Type {
	case format.DictionaryPage:
		return true, l.readDictionary(header.DictionaryPageHeader.V, int(size))
	case format.DataPage:
		return false, l.readFirstVersion(header.DataPageHeader.V, int(size))
	case format.DataPageV2:
		return false, l.readSecondVersion(header.DataPageHeaderV2.V, int(size))
	}
	return true, nil
}

func (l *leaf) readDictionary(header format.DictionaryPageHeader, size int) error {
	content, err := l.pass.unpacker.unpack(new([]byte), l.packed, l.codec, size)
	if err != nil {
		return err
	}
	if l.codec == format.Uncompressed {
		content = bytes.Clone(content) // it outlives the next page
	}
	values, err := l.decode(format.Plain, content, int(header.NumValues))
	if err != nil {
		return err
	}
	l.dictionary = l.column.Type().NewDictionary(l.column.Index(), int(header.NumValues), values)
	return nil
}

// readFirstVersion reads a page whose levels are compressed with the values.
func (l *leaf) readFirstVersion(header format.DataPageHeader, size int) error {
	content, err := l.pass.unpacker.unpack(&l.unpacked, l.packed, l.codec, size)
	if err != nil {
		return err
	}
	page := dataPage{values: int(header.NumValues), encoding: header.Encoding, content: content}
	for _, levels := range []struct {
		there    bool
		encoding format.Encoding
		to       *[]byte
	}{
		{l.column.MaxRepetitionLevel() > 0, header.RepetitionLevelEncoding, &page.repetition},
		{l.column.MaxDefinitionLevel() > 0, header.DefinitionLevelEncoding, &page.definition},
	} {
		if !levels.there {
			continue
		}
		if levels.encoding != format.RLE {
			return fmt.Errorf("levels in the encoding %v; want RLE", levels.encoding)
		}
		if *levels.to, page.content, err = prefixed(page.content); err != nil {
			return err
		}
	}
	return l.take(page)
}

// readSecondVersion reads a page whose levels are not compressed.
func (l *leaf) readSecondVersion(header format.DataPageHeaderV2, size int) error {
	repetition, definition := int(header.RepetitionLevelsByteLength), int(header.DefinitionLevelsByteLength)
	if repetition < 0 || definition < 0 || repetition+definition > min(len(l.packed), size) {
		return errCut
	}
	levels, packed, codec := l.packed[:repetition+definition], l.packed[repetition+definition:], l.codec
	if header.IsCompressed.Valid && !header.IsCompressed.V {
		codec = format.Uncompressed
	}
	content, err := l.pass.unpacker.unpack(&l.unpacked, packed, codec, size-len(levels))
	if err != nil {
		return err
	}
	return l.take(dataPage{int(header.NumValues), header.Encoding, levels[:repetition], levels[repetition:], content})
}

// prefixed returns the bytes whose number is in the first four, and those after them.
func prefixed(content []byte) (part, rest []byte, err error) {
	const prefix = 4
	if len(content) < prefix {
		return nil, nil, errCut
	}
	length, content := int(binary.LittleEndian.Uint32(content)), content[prefix:]
	if length > len(content) {
		return nil, nil, errCut
	}
	return content[:length], content[length:], nil
}

// take makes the values of a page those that are given next.
func (l *leaf) take(page dataPage) (err error) {
	l.values = slots{column: l.column.Index(), most: byte(l.column.MaxDefinitionLevel()), left: page.values}
	there := page.values // without nulls
	if most := l.column.MaxRepetitionLevel(); most > 0 {
		l.repetition = resized(l.repetition, page.values)
		if err := decodeRuns(l.repetition, page.repetition, widthOf(most)); err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
		l.values.repetition = l.repetition
	}
	if most := l.column.MaxDefinitionLevel(); most > 0 && !oneRun(page.definition, byte(most), page.values) {
		l.definition = resized(l.definition, page.values)
		if err := decodeRuns(l.definition, page.definition, widthOf(most)); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
		there = bytes.Count(l.definition, []byte{byte(most)})
		l.values.definition = l.definition
	}
	if page.encoding == format.RLEDictionary || page.encoding == plainDictionary {
		return l.takeIndexes(page.content, there)
	}
	values, err := l.decode(page.encoding, page.content, there)
	if err != nil {
		return err
	}
	if l.floats && there == page.values && l.takeDense(values, there) {
		return nil
	}
	l.values.from = l.column.Type().NewPage(l.column.Index(), there, values).Values()
	return nil
}

// plainDictionary is the encoding RLEDictionary as older writers call it.
const plainDictionary = format.Encoding(2)

// takeIndexes takes a page of places in the dictionary: a byte that says how many bits one has,
// and runs.
func (l *leaf) takeIndexes(content []byte, there int) error {
	l.indexes = resized(l.indexes, there)
	if there > 0 {
		if l.dictionary == nil || len(content) == 0 || content[0] > 32 {
			return errors.New("places in a dictionary that is not there")
		}
		if err := decodeRuns(l.indexes, content[1:], int(content[0])); err != nil {
			return fmt.Errorf("places in the dictionary: %w", err)
		}
	}
	for _, i := range l.indexes {
		if i < 0 || int(i) >= l.dictionary.Len() {
			return fmt.Errorf("place %d of a dictionary of %d values", i, l.dictionary.Len())
		}
	}
	l.values.from = &lookup{l.dictionary, l.indexes}
	return nil
}

// takeDense takes the n values of a page as they lie in memory, if they are floating-point numbers.
func (l *leaf) takeDense(values encoding.Values, n int) bool {
	switch l.column.Type().Kind() {
	case parquet.Float:
		l.dense = dense{single: values.Float()[:n]}
	case parquet.Double:
		l.dense = dense{double: values.Double()[:n]}
	default:
		return false
	}
	l.levels, l.values.left = l.values.repetition, 0
	return true
}

// slots reads the values of a page with the nulls between them and their levels.
type slots struct {
	column                 int
	repetition, definition []byte // nil where the column has none, or no value is null
	most                   byte   // the definition level of a value that is there
	at, left               int
	from                   parquet.ValueReader // of the values that are there
}

// ReadValues implements [parquet.ValueReader].
func (s *slots) ReadValues(to []parquet.Value) (int, error) {
	n := min(len(to), s.left)
	if n == 0 {
		return 0, io.EOF
	}
	there := n
	if s.definition != nil {
		there = bytes.Count(s.definition[s.at:s.at+n], []byte{s.most})
	}
	for read := 0; read < there; {
		m, err := s.from.ReadValues(to[read:there])
		if read += m; m == 0 {
			return 0, errors.Join(errFewRows, err)
		}
	}
	// Values move to their places from behind, over nothing that has not moved.
	for i := n - 1; i >= 0; i-- {
		repetition, definition, value := 0, 0, parquet.Value{}
		if s.repetition != nil {
			repetition = int(s.repetition[s.at+i])
		}
		if s.definition != nil {
			definition = int(s.definition[s.at+i])
		}
		if s.definition == nil || byte(definition) == s.most {
			there--
			value = to[there]
		}
		to[i] = value.Level(repetition, definition, s.column)
	}
	s.at, s.left = s.at+n, s.left-n
	return n, nil
}

// lookup reads the values of places in a dictionary.
type lookup struct {
	dictionary parquet.Dictionary
	indexes    []int32
}

// ReadValues implements [parquet.ValueReader].
func (r *lookup) ReadValues(to []parquet.Value) (int, error) {
	n := min(len(to), len(r.indexes))
	r.dictionary.Lookup(r.indexes[:n], to[:n])
	r.indexes = r.indexes[n:]
	return n, nil
}

// resized returns a slice of that length in the same memory, where that is long enough. Its
// content is not set.
func resized[T any](values []T, n int) []T {
	if n <= cap(values) {
		return values[:n]
	}
	return make([]T, n)
}
