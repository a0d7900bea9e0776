package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet-go makes room for what the headers of a file say before it reads on, and a few
// bytes can say terabytes. Headers are therefore looked through first.

// checkFooter looks through the description at the end of a file of that size.
func checkFooter(r io.ReaderAt, size int64) error {
	const tail = 8 // the description's length and PAR1
	end := make([]byte, tail)
	if size < tail {
		return io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != "PAR1" || length > size-tail {
		return errors.New("no description of columns at its end")
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-tail-length); err != nil {
		return err
	}
	_, err := structLength(footer, 0)
	return err
}

// checkPages looks through the headers of all pages of a column in a group of rows.
func checkPages(r io.ReaderAt, size int64, column *format.ColumnMetaData) error {
	at := column.DataPageOffset
	if first := column.DictionaryPageOffset; first > 0 {
		at = min(at, first)
	}
	if at < 0 || column.TotalCompressedSize < 0 || column.TotalCompressedSize > size-at {
		return fmt.Errorf("a column from byte %d on, of %d bytes, in a file of %d", at, column.TotalCompressedSize, size)
	}
	for end := at + column.TotalCompressedSize; at < end; {
		header, length, err := pageHeader(r, at, end)
		if err != nil {
			return fmt.Errorf("the page at byte %d: %w", at, err)
		}
		packed := int64(header.CompressedPageSize)
		if at += int64(length) + packed; packed < 0 || at > end {
			return fmt.Errorf("the page that ends at byte %d: its column ends at %d", at, end)
		}
		most := MaxUnpacked(packed)
		values := max(header.DataPageHeader.V.NumValues, header.DataPageHeaderV2.V.NumValues, header.DictionaryPageHeader.V.NumValues)
		if int64(header.UncompressedPageSize) > most || int64(values) > most {
			return fmt.Errorf("the page that ends at byte %d has %d values and unpacks to %d bytes, more than 100 times its size, which no data set does",
				at, values, header.UncompressedPageSize)
		}
	}
	return nil
}

// pageHeader reads the header of a page and returns how long it is.
func pageHeader(r io.ReaderAt, at, end int64) (*format.PageHeader, int, error) {
	const first, most = 1 << 9, 1 << 24
	for window := int64(first); ; window *= 8 {
		content := make([]byte, min(window, end-at))
		if _, err := r.ReadAt(content, at); err != nil {
			return nil, 0, err
		}
		length, err := structLength(content, 0)
		if err == errCut && window < end-at && window < most {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		header := new(format.PageHeader)
		return header, length, thrift.Unmarshal(new(thrift.CompactProtocol), content[:length], header)
	}
}

var errCut = errors.New("a header that says more than there is")

// structLength returns the length of a struct of Thrift's compact protocol at the start of
// the content. All that it says is inside the content, or the error is errCut.
func structLength(content []byte, depth int) (int, error) {
	const deepest = 32
	if depth > deepest {
		return 0, errors.New("a header of structs in structs without end")
	}
	at := 0
	for at < len(content) {
		field := content[at]
		if at++; field == 0 {
			return at, nil
		}
		if field>>4 == 0 { // the field's number follows
			n, err := varint(content[at:])
			if err != nil {
				return 0, err
			}
			at += n
		}
		if kind := field & 15; kind > 2 { // of truth values the kind says all
			n, err := valueLength(content[at:], kind, depth)
			if err != nil {
				return 0, err
			}
			at += n
		}
	}
	return 0, errCut
}

// valueLength returns the length of a value of that kind.
func valueLength(content []byte, kind byte, depth int) (int, error) {
	length := 0
	switch kind {
	case 1, 2, 3: // a truth value in a list, a byte
		length = 1
	case 4, 5, 6: // integers
		return varint(content)
	case 7: // a number
		length = 8
	case 8: // bytes
		size, n := binary.Uvarint(content)
		if n <= 0 || size > uint64(len(content)-n) {
			return 0, errCut
		}
		length = n + int(size)
	case 9, 10: // a list, a set
		return listLength(content, depth)
	case 12:
		return structLength(content, depth+1)
	default:
		return 0, fmt.Errorf("a header with a value of kind %d, which Parquet has not", kind)
	}
	if length > len(content) {
		return 0, errCut
	}
	return length, nil
}

// listLength returns the length of a list, each value of which takes a byte at least.
func listLength(content []byte, depth int) (int, error) {
	if len(content) == 0 {
		return 0, errCut
	}
	size, kind, at := uint64(content[0]>>4), content[0]&15, 1
	if size == 15 {
		n := 0
		if size, n = binary.Uvarint(content[1:]); n <= 0 {
			return 0, errCut
		}
		at += n
	}
	if size > uint64(len(content)-at) {
		return 0, errCut
	}
	for range size {
		n, err := valueLength(content[at:], kind, depth+1)
		if err != nil {
			return 0, err
		}
		at += n
	}
	return at, nil
}

// varint returns the length of an integer of seven bits a byte.
func varint(content []byte) (int, error) {
	if _, n := binary.Uvarint(content); n > 0 {
		return n, nil
	}
	return 0, errCut
}
