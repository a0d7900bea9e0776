// Package npz writes sets of vectors as NumPy does.
package npz

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"iwda/datasets"
)

// WriteFeatures writes a set of vectors as an .npz file with the arrays features
// (n×d, float32), labels (n, int64), -1 for a row without one, and class_names, which package
// table and NumPy read. There is no array of labels where no row has one.
func WriteFeatures(w io.Writer, set datasets.Set) error {
	file := file{zip.NewWriter(w)}
	n, d := set.Len(), datasets.Size(set.Shape())
	features, err := file.array("features", "<f4", n, d)
	if err != nil {
		return err
	}
	row, encoded := make([]float32, d), make([]byte, 0, 4*d)
	for i := range n {
		set.CopyRow(row, i)
		encoded, _ = binary.Append(encoded[:0], binary.LittleEndian, row)
		if _, err := features.Write(encoded); err != nil {
			return err
		}
	}
	if datasets.LabelsOf(set).Known() > 0 {
		labels, err := file.array("labels", "<i8", n)
		if err != nil {
			return err
		}
		if _, err := labels.Write(encodeLabels(set)); err != nil {
			return err
		}
	}
	if names := set.ClassNames(); len(names) > 0 {
		if err := file.texts("class_names", names); err != nil {
			return err
		}
	}
	return file.archive.Close()
}

// encodeLabels returns the labels of all rows as <i8, -1, which no class is, where they are
// not known.
func encodeLabels(set datasets.Set) []byte {
	encoded := make([]byte, 0, 8*set.Len())
	for i := range set.Len() {
		class, known := set.Label(i)
		if !known {
			class = -1
		}
		encoded = binary.LittleEndian.AppendUint64(encoded, uint64(class))
	}
	return encoded
}

// file is an .npz file in the making. Its arrays are not compressed, so that they can be mapped.
type file struct{ archive *zip.Writer }

// array begins an array of elements of NumPy's type descr, such as <f4, whose bytes are
// then to be written, row after row, before the next array begins.
func (n file) array(name, descr string, shape ...int) (io.Writer, error) {
	w, err := n.archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return nil, err
	}
	_, err = w.Write(npyHeader(descr, shape))
	return w, err
}

// texts writes an array of texts.
func (n file) texts(name string, texts []string) error {
	longest := 1
	for _, text := range texts {
		longest = max(longest, utf8.RuneCountInString(text))
	}
	w, err := n.array(name, fmt.Sprintf("<U%d", longest), len(texts))
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
	start := append([]byte("\x93NUMPY\x01\x00"), byte(length), byte(length>>8))
	padding := bytes.Repeat([]byte(" "), length-len(header)-1)
	return append(append(append(start, header...), padding...), '\n')
}
