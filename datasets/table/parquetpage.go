package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetPass is one reading of columns of a file. Some bytes of run lengths or of compressed data
// can stand for gigabytes, in one page or in many: what all pages of a pass may unpack to is
// [MaxUnpacked] of the file's size.
type parquetPass struct {
	file     *parquetFile
	left     int64 // bytes that are still allowed
	unpacker unpacker
	packed   []byte // the last page, of whatever column, as the file has it
}

func newPass(f *parquetFile) *parquetPass { return &parquetPass{file: f, left: MaxUnpacked(f.size)} }

// spend returns an error where more than the file is allowed has been unpacked.
func (p *parquetPass) spend(n int64) error {
	if p.left -= n; p.left < 0 {
		return errors.New("the file unpacks to more than 100 times its size; save it by numpy.savez, as .npz")
	}
	return nil
}

// parquetPage is what is left of a page: values one after another, or their places in a dictionary. Pages are read
// here, and not by parquet-go, which takes the memory that run lengths, differences and compressed data ask for.
type parquetPage struct {
	left                   int // values, nulls too
	repetition, definition runs
	plain                  values
	dictionary             *values
	places                 *runs // nil for values one after another
}

// values are some as the encoding PLAIN has them: of so many bytes each, or texts, each after its length, of which
// those of a dictionary have starts.
type values struct {
	content []byte
	width   int // 0 of texts
	starts  []int
}

// value returns the next value that is not null.
func (p *parquetPage) value() ([]byte, error) {
	if p.places == nil {
		return p.plain.next()
	}
	place, err := p.places.next()
	if err != nil {
		return nil, fmt.Errorf("places in the dictionary: %w", err)
	}
	return p.dictionary.at(place)
}

// next takes the first value.
func (v *values) next() (value []byte, err error) {
	width := v.width
	if width == 0 {
		if value, v.content, err = prefixed(v.content); err != nil {
			err = errFewValues
		}
		return value, err
	}
	if width > len(v.content) {
		return nil, errFewValues
	}
	value, v.content = v.content[:width], v.content[width:]
	return value, nil
}

// at returns the value of a dictionary at a place.
func (v *values) at(place int) ([]byte, error) {
	if v.width > 0 && (place+1)*v.width <= len(v.content) {
		return v.content[place*v.width:][:v.width], nil
	}
	if place >= len(v.starts) {
		return nil, fmt.Errorf("place %d is not in the dictionary", place)
	}
	value, _, err := prefixed(v.content[v.starts[place]:])
	return value, err
}

// truths are the values that places of truth values have.
var truths = values{content: []byte{0, 1}, width: 1}

// readPage reads the next page, which may be one of the dictionary.
func (l *leaf) readPage() error {
	pass := l.pass
	header, length, err := pageHeader(pass.file.file, l.at, l.end)
	if err != nil {
		return err
	}
	at, packed, size := l.at+int64(length), int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	if packed < 0 || packed > l.end-at {
		return fmt.Errorf("%d bytes from byte %d on: its column ends at %d", packed, at, l.end)
	}
	n := max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues)
	if size < 0 || n < 0 {
		return fmt.Errorf("%d values in %d bytes", n, size)
	}
	if err := pass.spend(size + 4*int64(n)); err != nil {
		return fmt.Errorf("%d values in %d bytes: %w", n, size, err)
	}
	pass.packed = resized(pass.packed, int(packed))
	if _, err := pass.file.file.ReadAt(pass.packed, at); err != nil {
		return notWhole("truncated", err)
	}
	if header.CRC != 0 && crc32.ChecksumIEEE(pass.packed) != uint32(header.CRC) {
		return errors.New("damaged: its checksum differs")
	}
	levels, codec := 0, l.codec // bytes that are not compressed in the second version of pages
	if second := &header.DataPageHeaderV2.V; header.Type == format.DataPageV2 {
		repetition, definition := int(second.RepetitionLevelsByteLength), int(second.DefinitionLevelsByteLength)
		if levels = repetition + definition; repetition < 0 || definition < 0 || levels > min(int(packed), int(size)) {
			return errCut
		}
		if second.IsCompressed.Valid && !second.IsCompressed.V {
			codec = format.Uncompressed
		}
	}
	memory := l.memory
	if header.Type == format.DictionaryPage { // which stays beside the pages after it
		memory = nil
	}
	content := append(resized(memory, int(size))[:0], pass.packed[:levels]...)
	if content, err = pass.unpacker.unpack(content, pass.packed[levels:], codec, int(size)-levels); err != nil {
		return err
	}
	l.at = at + packed
	if header.Type == format.DictionaryPage {
		return l.readDictionary(content, int(n))
	}
	l.memory, l.left = content, int(n)
	return l.readValues(header, content)
}

// readDictionary reads the values of a column's dictionary.
func (l *leaf) readDictionary(content []byte, n int) error {
	v := &values{content: content, width: l.width}
	l.dictionary = v
	if v.width > 0 {
		if n > len(content)/v.width {
			return errFewValues
		}
		v.content = content[:n*v.width]
		return nil
	}
	if err := l.pass.spend(8 * int64(n)); err != nil {
		return err
	}
	for rest := content; len(v.starts) < n; {
		v.starts = append(v.starts, len(content)-len(rest))
		var err error
		if _, rest, err = prefixed(rest); err != nil {
			return errFewValues
		}
	}
	return nil
}

// readValues finds the levels and values in the content of a page.
func (l *leaf) readValues(header *format.PageHeader, content []byte) (err error) {
	var encoding format.Encoding
	repetition, definition := newRuns(l.repeated, l.left), newRuns(l.optional, l.left)
	switch header.Type {
	case format.DataPage:
		first := header.DataPageHeader.V
		encoding = first.Encoding
		for _, levels := range []struct {
			*runs
			encoding format.Encoding
		}{{&repetition, first.RepetitionLevelEncoding}, {&definition, first.DefinitionLevelEncoding}} {
			if levels.width == 0 {
				continue
			}
			if levels.encoding != format.RLE {
				return fmt.Errorf("levels in the encoding %v; want RLE", levels.encoding)
			}
			if levels.content, content, err = prefixed(content); err != nil {
				return err
			}
		}
	case format.DataPageV2:
		second := header.DataPageHeaderV2.V
		encoding = second.Encoding
		repetition.content, content = content[:second.RepetitionLevelsByteLength], content[second.RepetitionLevelsByteLength:]
		definition.content, content = content[:second.DefinitionLevelsByteLength], content[second.DefinitionLevelsByteLength:]
	default:
		return fmt.Errorf("a page of kind %v", header.Type)
	}
	l.repetition, l.definition, l.places = repetition, definition, nil
	l.plain = values{content: content, width: l.width}
	isTruth := l.kind == parquet.Boolean
	switch {
	case isTruth && encoding == format.Plain:
		l.dictionary, l.places = &truths, &runs{width: 1, left: l.left, packed: content, many: 8 * len(content)}
	case isTruth && encoding == format.RLE:
		l.dictionary, l.places = &truths, &runs{width: 1, left: l.left}
		l.places.content, _, err = prefixed(content)
	case encoding == format.Plain:
	case encoding == format.RLEDictionary || encoding == plainDictionary:
		switch {
		case l.dictionary == nil:
			return errors.New("places in a dictionary that is not there")
		case len(content) == 0: // of nulls alone
			content = make([]byte, 1)
		}
		l.places = &runs{content: content[1:], width: int(content[0]), left: l.left}
	case encoding == format.DeltaBinaryPacked && (l.kind == parquet.Int32 || l.kind == parquet.Int64), encoding == format.DeltaLengthByteArray && l.width == 0:
		l.plain.content, err = l.undelta(encoding, content)
	case encoding == format.ByteStreamSplit && l.width > 0:
		l.plain.content = unsplit(content, l.width)
	default:
		err = fmt.Errorf("the encoding %v, which is not read; write the column with the encoding PLAIN", encoding)
	}
	return err
}

// plainDictionary is the encoding RLEDictionary as older writers call it.
const plainDictionary = format.Encoding(2)

// unsplit returns values of so many bytes of which all first bytes come first, then all second ones, as PLAIN has them.
func unsplit(content []byte, width int) []byte {
	n := len(content) / width
	plain := make([]byte, n*width)
	for i := range plain {
		plain[i] = content[i%width*n+i/width]
	}
	return plain
}

// undelta returns the values of a page that are stored as differences, of themselves or of the texts' lengths, as PLAIN
// has them.
func (l *leaf) undelta(encoding format.Encoding, content []byte) (plain []byte, err error) {
	_, block := binary.Uvarint(content)
	_, parts := binary.Uvarint(content[max(0, block):])
	total, _ := binary.Uvarint(content[max(0, block)+max(0, parts):])
	if total > uint64(l.left) { // for which parquet-go makes room
		return nil, fmt.Errorf("%d differences for %d values", total, l.left)
	}
	if err := l.pass.spend(12*int64(l.left) + int64(len(content))); err != nil {
		return nil, err
	}
	switch {
	case encoding == format.DeltaLengthByteArray:
		texts, ends, err := parquet.DeltaLengthByteArray.DecodeByteArray(nil, content, nil)
		for i := 1; i < len(ends); i++ {
			plain = binary.LittleEndian.AppendUint32(plain, ends[i]-ends[i-1])
			plain = append(plain, texts[ends[i-1]:ends[i]]...)
		}
		return plain, err
	case l.plain.width == 8:
		numbers, err := parquet.DeltaBinaryPacked.DecodeInt64(nil, content)
		for _, number := range numbers {
			plain = binary.LittleEndian.AppendUint64(plain, uint64(number))
		}
		return plain, err
	default:
		numbers, err := parquet.DeltaBinaryPacked.DecodeInt32(nil, content)
		for _, number := range numbers {
			plain = binary.LittleEndian.AppendUint32(plain, uint32(number))
		}
		return plain, err
	}
}

// bitsAt returns the number of so many bits, up to 32, from a bit on; the lowest bits are first.
func bitsAt(packed []byte, at, width int) (value int) {
	for got := 0; got < width; {
		shift := (at + got) % 8
		value |= int(packed[(at+got)/8]>>shift) << got
		got += 8 - shift
	}
	return value & (1<<width - 1)
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

// runs are numbers of so many bits, in Parquet's hybrid of run lengths and packed bits.
type runs struct {
	content []byte // after this run
	width   int
	left    int    // numbers that the page may have from here on
	value   int    // of a run of one value
	packed  []byte // of one of packed numbers, nil of others
	at      int    // the next one's first bit
	many    int    // numbers left of the run
}

// newRuns are those of so many levels up to most, which are still to be found.
func newRuns(most, n int) runs { return runs{width: bits.Len(uint(most)), left: n} }

// next returns the next number.
func (r *runs) next() (int, error) {
	for r.many == 0 {
		if err := r.begin(); err != nil {
			return 0, err
		}
	}
	r.many--
	r.left--
	if r.packed == nil {
		return r.value, nil
	}
	r.at += r.width
	return bitsAt(r.packed, r.at-r.width, r.width), nil
}

// begin begins the next run. The last groups of packed numbers may be filled up.
func (r *runs) begin() error {
	const group, fill = 8, 1 << 10
	head, n := binary.Uvarint(r.content)
	count, size := head>>1, uint64(r.width+7)/8 // one value, so many times
	if head&1 == 1 && count <= uint64(r.left) {
		count, size = group*count, count*uint64(r.width)
	}
	if n <= 0 || r.width > 32 || count > uint64(r.left+fill) || size > uint64(len(r.content)-n) {
		return fmt.Errorf("runs of more than %d values, or that end too early", r.left)
	}
	run := r.content[n : uint64(n)+size]
	r.content, r.many, r.packed, r.at = r.content[uint64(n)+size:], int(count), nil, 0
	if head&1 == 1 {
		r.packed = run
	} else {
		r.value = bitsAt(run, 0, 8*len(run))
	}
	return nil
}

// resized returns a slice of that length in the same memory, where that is long enough. Its
// content is not set.
func resized[T any](values []T, n int) []T {
	if n <= cap(values) {
		return values[:n]
	}
	return make([]T, n)
}
