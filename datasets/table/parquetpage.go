package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquetPass is one reading of columns of a file. Some bytes of run lengths or of compressed data
// can stand for gigabytes, in one page or in many: what all pages of a pass may unpack to is
// [MaxUnpacked] of the file's size.
type parquetPass struct {
	file     *parquetFile
	left     int64 // bytes that are still allowed
	unpacker unpacker
	// Columns share the memory of the last page.
	last   *pageSource // whose it is
	packed []byte      // as the file has it
	page   []byte      // unpacked, with its header
}

func newPass(f *parquetFile) *parquetPass { return &parquetPass{file: f, left: MaxUnpacked(f.size)} }

// spend returns an error where more than the file is allowed has been unpacked.
func (p *parquetPass) spend(n int64) error {
	if p.left -= n; p.left < 0 {
		return errors.New("the file unpacks to more than 100 times its size; save it by numpy.savez, as .npz")
	}
	return nil
}

// pageSource is the pages of a column in a group of rows as parquet-go reads them: one after the other,
// each without compression, and only after it was found that it takes no more memory than its header says.
// For parquet-go takes what run lengths, differences and compressed data ask for.
type pageSource struct {
	pass       *parquetPass
	column     *parquet.Column
	at, end    int64 // in the file
	codec      format.CompressionCodec
	dictionary bool   // whether one came
	rest       []byte // what is still to be read of the last page
	err        error  // of a page; parquet-go's says less
}

// ReadAt stands for [io.ReaderAt], of which parquet-go asks for the bytes in their order. Unlike one, it ends at
// the end of a page, so that none is unpacked before it is wanted: it takes the place of another column's.
func (s *pageSource) ReadAt(to []byte, _ int64) (n int, err error) {
	if len(s.rest) == 0 {
		if s.at == s.end {
			return 0, io.EOF
		}
		if err := s.next(); err != nil {
			s.err = fmt.Errorf("the page at byte %d: %w", s.at, err)
			return 0, s.err
		}
	}
	n = copy(to, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// next unpacks the next page.
func (s *pageSource) next() error {
	file := s.pass.file.file
	header, length, err := pageHeader(file, s.at, s.end)
	if err != nil {
		return err
	}
	at, packed, size := s.at+int64(length), int64(header.CompressedPageSize), int64(header.UncompressedPageSize)
	if packed < 0 || packed > s.end-at {
		return fmt.Errorf("%d bytes from byte %d on: its column ends at %d", packed, at, s.end)
	}
	values := int64(max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues))
	if size < 0 || values < 0 {
		return fmt.Errorf("%d values in %d bytes", values, size)
	}
	if err := s.pass.spend(size + 4*values); err != nil {
		return fmt.Errorf("%d values in %d bytes: %w", values, size, err)
	}
	pass := s.pass
	if pass.last != nil {
		pass.last.rest = slices.Clone(pass.last.rest)
	}
	pass.last, pass.packed = s, resized(pass.packed, int(packed))
	if _, err := file.ReadAt(pass.packed, at); err != nil {
		return notWhole("truncated", err)
	}
	if header.CRC != 0 && crc32.ChecksumIEEE(pass.packed) != uint32(header.CRC) {
		return errors.New("damaged: its checksum differs")
	}
	levels, codec := 0, s.codec // bytes that are not compressed in the second version of pages
	if second := &header.DataPageHeaderV2.V; header.Type == format.DataPageV2 {
		repetition, definition := int(second.RepetitionLevelsByteLength), int(second.DefinitionLevelsByteLength)
		if levels = repetition + definition; repetition < 0 || definition < 0 || levels > min(int(packed), int(size)) {
			return errCut
		}
		if second.IsCompressed.Valid && !second.IsCompressed.V {
			codec = format.Uncompressed
		}
	}
	header.CompressedPageSize, header.CRC, header.DictionaryPageHeader.V.Encoding = int32(size), 0, format.Plain
	text, err := thrift.Marshal(new(thrift.CompactProtocol), header)
	if err != nil {
		return err
	}
	page := append(resized(pass.page, len(text)+int(size))[:0], text...)
	page = append(page, pass.packed[:levels]...)
	if page, err = pass.unpacker.unpack(page, pass.packed[levels:], codec, int(size)-levels); err != nil {
		return err
	}
	if err := s.check(header, page[len(text):], int(values)); err != nil {
		return err
	}
	s.at, s.rest, pass.page = at+packed, page, page
	return nil
}

// check returns an error unless what follows a page's header is no more than its values.
func (s *pageSource) check(header *format.PageHeader, content []byte, values int) (err error) {
	var encoding format.Encoding
	var repetition, definition []byte
	switch header.Type {
	case format.DictionaryPage:
		s.dictionary = true
		return s.checkValues(format.Plain, content, values, values)
	case format.DataPage:
		first := header.DataPageHeader.V
		encoding = first.Encoding
		for _, levels := range []struct {
			most     int
			encoding format.Encoding
			to       *[]byte
		}{{s.column.MaxRepetitionLevel(), first.RepetitionLevelEncoding, &repetition}, {s.column.MaxDefinitionLevel(), first.DefinitionLevelEncoding, &definition}} {
			if levels.most == 0 {
				continue
			}
			if levels.encoding != format.RLE {
				return fmt.Errorf("levels in the encoding %v; want RLE", levels.encoding)
			}
			if *levels.to, content, err = prefixed(content); err != nil {
				return err
			}
		}
	case format.DataPageV2:
		second := header.DataPageHeaderV2.V
		encoding = second.Encoding
		repetition, content = content[:second.RepetitionLevelsByteLength], content[second.RepetitionLevelsByteLength:]
		definition, content = content[:second.DefinitionLevelsByteLength], content[second.DefinitionLevelsByteLength:]
	default:
		return fmt.Errorf("a page of kind %v", header.Type)
	}
	there := values // without nulls
	if most := s.column.MaxRepetitionLevel(); most > 0 {
		if _, _, err := countRuns(repetition, widthOf(most), values, -1); err != nil {
			return fmt.Errorf("repetition levels: %w", err)
		}
	}
	if most := s.column.MaxDefinitionLevel(); most > 0 {
		if _, there, err = countRuns(definition, widthOf(most), values, most); err != nil {
			return fmt.Errorf("definition levels: %w", err)
		}
	}
	if nulls := int(header.DataPageHeaderV2.V.NumNulls); header.Type == format.DataPageV2 && nulls != values-there {
		return fmt.Errorf("%d nulls of %d values, of which %d are there", nulls, values, there)
	}
	return s.checkValues(encoding, content, values, there)
}

// checkValues is check of what follows the levels, in which so many of the values must be there: parquet-go
// looks whether it has memory for them, which may be that of another page.
func (s *pageSource) checkValues(encoding format.Encoding, content []byte, values, there int) (err error) {
	kind, got := s.column.Type(), 0
	switch encoding {
	case format.Plain:
		got = s.plainValues(content)
	case format.RLEDictionary, plainDictionary:
		if !s.dictionary {
			return errors.New("places in a dictionary that is not there")
		}
		if len(content) == 0 {
			content = make([]byte, 1)
		}
		if _, _, err := countRuns(content[1:], int(content[0]), there, -1); err != nil {
			return fmt.Errorf("places in the dictionary: %w", err)
		}
		return nil
	case format.RLE: // of truth values
		if content, _, err = prefixed(content); err == nil {
			got, _, err = countRuns(content, 1, there, -1)
		}
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		got, _, err = afterDeltas(content, values)
	case format.DeltaByteArray: // lengths of what is shared with the value before, and of what follows
		var rest []byte
		if got, rest, err = afterDeltas(content, values); err == nil {
			var others int
			others, _, err = afterDeltas(rest, values)
			got = min(got, others)
		}
	case format.ByteStreamSplit:
		got = s.plainValues(content)
	default:
		err = fmt.Errorf("the encoding %v, which is not read", encoding)
	}
	if err != nil {
		return err
	}
	if got < there || got > there && kind.Kind() == parquet.ByteArray {
		return fmt.Errorf("%d values of %d", got, there)
	}
	if encoding == format.Plain || encoding == format.RLE {
		return nil
	}
	size := kind.EstimateDecodeSize(values, content, parquet.LookupEncoding(encoding))
	if size < 0 {
		return errors.New("texts of negative lengths")
	}
	return s.pass.spend(int64(size))
}

// plainValues is the number of values that lie one after the other.
func (s *pageSource) plainValues(content []byte) (n int) {
	const prefix = 4 // of a text, its length
	switch kind := s.column.Type(); kind.Kind() {
	case parquet.Boolean:
		return 8 * len(content)
	case parquet.ByteArray:
		for ; len(content) >= prefix; n++ {
			content = content[prefix+min(int(binary.LittleEndian.Uint32(content)), len(content)-prefix):]
		}
		return n
	case parquet.Int64, parquet.Double:
		return len(content) / 8
	case parquet.Int96:
		return len(content) / 12
	case parquet.FixedLenByteArray:
		return len(content) / max(1, kind.Length())
	}
	return len(content) / 4
}

// plainDictionary is the encoding RLEDictionary as older writers call it.
const plainDictionary = format.Encoding(2)

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

// widthOf is the number of bits that levels up to most take.
func widthOf(most int) int { return bits.Len(uint(most)) }

// countRuns counts numbers of so many bits, in Parquet's hybrid of run lengths and packed bits, and which of
// them are the largest level, -1 for none. They must be as many as the values, or hardly more: the last group of
// packed bits may be filled up.
func countRuns(runs []byte, width, values, most int) (total, largest int, err error) {
	const fill = 1 << 10
	for len(runs) > 0 {
		head, n := binary.Uvarint(runs)
		left := uint64(values + fill - total)
		count, size := head>>1, uint64(width+7)/8 // one value, so many times
		if head&1 == 1 && count <= left {         // groups of eight values
			count, size = 8*count, count*uint64(width)
		}
		if n <= 0 || width > 32 || count > left || size > uint64(len(runs)-n) {
			return 0, 0, fmt.Errorf("runs of more than %d values, or that end too early", values)
		}
		run, wanted := runs[n:uint64(n)+size], max(0, min(int(count), values-total))
		switch {
		case most < 0:
		case head&1 == 0:
			if int(run[0]) == most {
				largest += wanted
			}
		default:
			for at := 0; at < wanted*width; at += width {
				bits := uint(run[at/8]) >> (at % 8)
				if at/8+1 < len(run) {
					bits |= uint(run[at/8+1]) << (8 - at%8)
				}
				if int(bits&(1<<width-1)) == most {
					largest++
				}
			}
		}
		total, runs = total+int(count), runs[uint64(n)+size:]
	}
	if total < values {
		return 0, 0, fmt.Errorf("runs of %d of %d values", total, values)
	}
	return total, largest, nil
}

// afterDeltas returns the number of the integers at the start of the content that are stored as packed differences,
// of which there may be at most so many, and what follows them.
func afterDeltas(content []byte, most int) (n int, rest []byte, err error) {
	number := func() uint64 {
		value, n := binary.Uvarint(content)
		if n <= 0 {
			content = nil
			return 0
		}
		content = content[n:]
		return value
	}
	block, parts, total := number(), number(), number()
	number() // the first one
	if parts == 0 || parts > 1<<16 || block > 1<<24 || total > uint64(most) {
		return 0, nil, fmt.Errorf("%d differences in blocks of %d, for %d values", total, block, most)
	}
	n = int(total)
	for each := int(block / parts); total > 1 && each > 0; {
		number() // the least difference of the block
		if len(content) < int(parts) {
			return 0, nil, errCut
		}
		widths := content[:parts]
		content = content[parts:]
		for _, width := range widths {
			if total <= 1 {
				break
			}
			size := each * int(width) / 8
			if size > len(content) {
				return 0, nil, errCut
			}
			content = content[size:]
			total -= min(total-1, uint64(each))
		}
	}
	return n, content, nil
}

// resized returns a slice of that length in the same memory, where that is long enough. Its
// content is not set.
func resized[T any](values []T, n int) []T {
	if n <= cap(values) {
		return values[:n]
	}
	return make([]T, n)
}
