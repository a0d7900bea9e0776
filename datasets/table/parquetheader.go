package table

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// parquet-go makes room for what the headers of a file say before it reads on, and a few
// bytes can say terabytes. Headers are therefore looked through first.

// readFooter reads the description at the end of a file of that size.
func readFooter(r io.ReaderAt, size int64) (*format.FileMetaData, error) {
	const tail = 8 // the description's length and PAR1
	end := make([]byte, tail)
	if size < tail {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := r.ReadAt(end, size-tail); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(end))
	if string(end[4:]) != parquetMagic || length > size-tail {
		return nil, errors.New("no description of columns at its end")
	}
	footer := make([]byte, length)
	if _, err := r.ReadAt(footer, size-tail-length); err != nil {
		return nil, err
	}
	read, err := structLength(footer)
	if err != nil {
		return nil, err
	}
	metadata := new(format.FileMetaData)
	return metadata, thrift.Unmarshal(new(thrift.CompactProtocol), footer[:read], metadata)
}

// parquetMagic begins and ends a file.
const parquetMagic = "PAR1"

// part is that of a column in a group of rows: where its pages are in the file, and how they are compressed.
type part struct {
	at, size int64
	codec    format.CompressionCodec
}

// hidden returns the parts that a description has, and a file of that description alone, in which every part
// is as a [pageSource] has it.
func hidden(metadata *format.FileMetaData) (parts [][]part, file []byte, err error) {
	for g := range metadata.RowGroups {
		var group []part
		for c := range metadata.RowGroups[g].Columns {
			column := &metadata.RowGroups[g].Columns[c].MetaData
			at := column.DataPageOffset
			if first := column.DictionaryPageOffset; first > 0 {
				at = min(at, first)
			}
			group = append(group, part{at, column.TotalCompressedSize, column.Codec})
			column.DataPageOffset, column.DictionaryPageOffset = 0, 0
			column.TotalCompressedSize, column.Codec = math.MaxInt64, format.Uncompressed
		}
		parts = append(parts, group)
	}
	text, err := thrift.Marshal(new(thrift.CompactProtocol), *metadata)
	file = append([]byte(parquetMagic), text...)
	return parts, append(binary.LittleEndian.AppendUint32(file, uint32(len(text))), parquetMagic...), err
}

// pageHeader reads the header of a page and returns how long it is.
func pageHeader(r io.ReaderAt, at, end int64) (*format.PageHeader, int, error) {
	const first, most = 1 << 9, 1 << 24
	for window := int64(first); ; window *= 8 {
		content := make([]byte, min(window, end-at))
		if _, err := r.ReadAt(content, at); err != nil {
			return nil, 0, err
		}
		length, err := structLength(content)
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
func structLength(content []byte) (int, error) {
	r := new(thrift.CompactProtocol).NewReaderFromBytes(content)
	err := skipValue(r, thrift.STRUCT, len(content), 0)
	return r.BytesRead(), err
}

// skipValue goes over a value of that kind, after whose end there may be more of the size bytes.
func skipValue(r thrift.Reader, kind thrift.Type, size, depth int) (err error) {
	const deepest = 32
	if depth > deepest {
		return errors.New("a header of structs in structs, or lists in lists, without end")
	}
	switch kind {
	case thrift.TRUE, thrift.FALSE, thrift.I8:
		_, err = r.ReadInt8()
	case thrift.I16, thrift.I32, thrift.I64:
		_, err = r.ReadInt64()
	case thrift.DOUBLE:
		_, err = r.ReadFloat64()
	case thrift.BINARY:
		_, err = r.ReadBytes() // a part of the content, not a copy
	case thrift.LIST, thrift.SET:
		list, err := r.ReadList()
		if err != nil || int(list.Size) > size-r.BytesRead() { // each value takes a byte at least
			return errCut
		}
		for range list.Size {
			if err := skipValue(r, list.Type, size, depth+1); err != nil {
				return err
			}
		}
	case thrift.STRUCT:
		for {
			field, err := r.ReadField()
			switch {
			case err != nil:
				return errCut
			case field.Type == thrift.STOP:
				return nil
			case field.Type == thrift.TRUE || field.Type == thrift.FALSE: // whose kind says all
				continue
			}
			if err := skipValue(r, field.Type, size, depth+1); err != nil {
				return err
			}
		}
	default:
		return fmt.Errorf("a header with a value of kind %d, which Parquet has not", kind)
	}
	if err != nil {
		return errCut
	}
	return nil
}
