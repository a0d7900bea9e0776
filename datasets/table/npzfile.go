package table

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// NPZ is an .npz file in the making. Its arrays are not compressed, so that they can be
// mapped.
type NPZ struct{ archive *zip.Writer }

// NewNPZ returns a file without arrays, which Close completes.
func NewNPZ(w io.Writer) NPZ { return NPZ{zip.NewWriter(w)} }

// Close writes the end of the file.
func (n NPZ) Close() error { return n.archive.Close() }

// Array begins an array of elements of NumPy's type descr, such as <f4, whose bytes are
// then to be written, row after row, before the next array begins.
func (n NPZ) Array(name, descr string, shape ...int) (io.Writer, error) {
	w, err := n.archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return nil, err
	}
	_, err = w.Write(npyHeader(descr, shape))
	return w, err
}

// ClassNames writes the array class_names.
func (n NPZ) ClassNames(names []string) error { return n.Texts(classNamesArray, names) }

// Texts writes an array of texts.
func (n NPZ) Texts(name string, texts []string) error {
	longest := 1
	for _, text := range texts {
		longest = max(longest, utf8.RuneCountInString(text))
	}
	w, err := n.Array(name, textType(longest), len(texts))
	if err != nil {
		return err
	}
	for _, text := range texts {
		if _, err := w.Write(wide(nil, text, longest)); err != nil {
			return err
		}
	}
	return nil
}

// textType is NumPy's type of texts of up to so many characters.
func textType(length int) string { return fmt.Sprintf("<U%d", length) }

// wide appends a text of four bytes a character, filled up with zeros.
func wide(to []byte, text string, length int) []byte {
	for _, character := range text {
		to = binary.LittleEndian.AppendUint32(to, uint32(character))
		length--
	}
	return append(to, make([]byte, 4*length)...)
}

// npyHeader is the header of a .npy file of version 1, filled up to a multiple of 64 bytes.
func npyHeader(descr string, shape []int) []byte {
	tuple := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", ", ") // (3, 4), and (3,) for one dimension
	if len(shape) == 1 {
		tuple += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, tuple)
	const prefix, unit = 10, 64
	length := (prefix+len(header)+1+unit-1)/unit*unit - prefix
	start := append([]byte(npyMagic+"\x01\x00"), byte(length), byte(length>>8))
	padding := bytes.Repeat([]byte(" "), length-len(header)-1)
	return append(append(append(start, header...), padding...), '\n')
}
