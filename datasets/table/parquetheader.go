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

// checkFooter returns an error unless the description at the end of a file of that size is all there.
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
	_, err := structLength(footer)
	return err
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
