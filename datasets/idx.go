package datasets

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// The first four bytes of an IDX file: two zeros, the type (8 is unsigned byte)
// and the number of dimensions.
const (
	idxLabelsMagic = 0x00000801
	idxImagesMagic = 0x00000803
)

// maxIDXSide bounds the height and width that a header may claim.
const maxIDXSide = 1 << 14

// IDXImages is the content of an IDX file of images.
type IDXImages struct {
	Count, Rows, Columns int
	Pixels               []byte // Count × Rows × Columns, in C order
}

// ReadIDXImages reads images of unsigned bytes in the IDX format of MNIST, gzipped,
// bzip2-compressed or plain; the name heads its errors. A wrong magic number or
// dimension, fewer bytes than the header asks for, and bytes after the last image
// are errors. What is allocated is bounded by what is read, not by the header.
func ReadIDXImages(r io.Reader, name string) (IDXImages, error) {
	var result IDXImages
	r, err := decompress(r, name)
	if err != nil {
		return result, err
	}
	header, err := readIDXHeader(r, name, idxImagesMagic, 3)
	if err != nil {
		return result, err
	}
	count, rows, columns := header[0], header[1], header[2]
	if rows < 1 || rows > maxIDXSide || columns < 1 || columns > maxIDXSide {
		return result, fmt.Errorf("%s: images of %d×%d pixels, want 1 to %d a side", name, rows, columns, maxIDXSide)
	}
	pixels, err := readIDXBody(r, name, count*rows*columns)
	if err != nil {
		return result, err
	}
	return IDXImages{int(count), int(rows), int(columns), pixels}, nil
}

// ReadIDXLabels reads labels of one unsigned byte each in the IDX format of MNIST;
// see [ReadIDXImages]. A label that is not below classes is an error.
func ReadIDXLabels(r io.Reader, name string, classes int) ([]int, error) {
	r, err := decompress(r, name)
	if err != nil {
		return nil, err
	}
	header, err := readIDXHeader(r, name, idxLabelsMagic, 1)
	if err != nil {
		return nil, err
	}
	body, err := readIDXBody(r, name, header[0])
	if err != nil {
		return nil, err
	}
	labels := make([]int, len(body))
	for i, label := range body {
		if int(label) >= classes {
			return nil, fmt.Errorf("%s: label %d of item %d, want 0 to %d", name, label, i, classes-1)
		}
		labels[i] = int(label)
	}
	return labels, nil
}

// readIDXHeader reads the magic number and the sizes of the dimensions.
func readIDXHeader(r io.Reader, name string, magic uint32, dimensions int) ([]int64, error) {
	header := make([]byte, 4+4*dimensions)
	if n, err := io.ReadFull(r, header); err != nil {
		return nil, idxReadError(name, err, int64(n), int64(len(header)), "header")
	}
	if got := binary.BigEndian.Uint32(header); got != magic {
		return nil, fmt.Errorf("%s: magic number %#08x, want %#08x (unsigned bytes, %d dimensions)", name, got, magic, dimensions)
	}
	sizes := make([]int64, dimensions)
	for d := range sizes {
		sizes[d] = int64(binary.BigEndian.Uint32(header[4+4*d:]))
	}
	return sizes, nil
}

// readIDXBody reads exactly size bytes, after which the stream must end. The
// buffer grows as bytes arrive, up to four times what has been read.
func readIDXBody(r io.Reader, name string, size int64) ([]byte, error) {
	if size > math.MaxInt {
		return nil, fmt.Errorf("%s: the header asks for %d bytes, more than this machine can address", name, size)
	}
	const first = 1 << 20
	body := make([]byte, 0, min(size, first))
	for {
		n, err := io.ReadFull(r, body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err != nil {
			return nil, idxReadError(name, err, int64(len(body)), size, "header asks for")
		}
		if int64(len(body)) == size {
			break
		}
		body = append(make([]byte, 0, min(size, 4*int64(cap(body)))), body...)
	}
	switch _, err := io.ReadFull(r, make([]byte, 1)); err {
	case io.EOF:
		return body, nil
	case nil:
		return nil, fmt.Errorf("%s: more bytes after the %d that the header asks for", name, size)
	default:
		return nil, fmt.Errorf("%s: after all %d bytes, at the end of the compressed stream: %w", name, size, err)
	}
}

// idxReadError says how much of a part of the file could be read.
func idxReadError(name string, err error, got, want int64, part string) error {
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: truncated: %d bytes, want %d (%s): %w", name, got, want, part, io.ErrUnexpectedEOF)
	}
	return fmt.Errorf("%s: after %d of %d bytes (%s): %w", name, got, want, part, err)
}
