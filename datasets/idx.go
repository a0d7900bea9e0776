package datasets

import (
	"encoding/binary"
	"fmt"
	"io"
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
// are errors. What is allocated is bounded by what is read, not by the header; a
// compressed file that unpacks to more than 100 times its size, and 16 MiB, is an error
// too.
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
	pixels, err := readBody(r, name, count*rows*columns)
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
	body, err := readBody(r, name, header[0])
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
		return nil, readError(name, err, int64(n), int64(len(header)), "header")
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
