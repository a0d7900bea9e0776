package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Fingerprint returns the SHA-256, in hexadecimal digits, of all that sets hold:
// shapes, class names, labels and values, in order. Two runs with the same
// fingerprint rest on the same data, wherever its files lie.
func Fingerprint(sets ...Set) string {
	sum := sha256.New()
	for _, set := range sets {
		fmt.Fprintf(sum, "%d %d %q\n", set.Len(), set.Shape(), set.ClassNames())
		sum.Write(encodeLabels(set))
		writeRows(sum, set)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// writeRows writes the values of all rows. Images in memory give their bytes, which
// is four times less than the numbers that come of them.
func writeRows(sum hash.Hash, set Set) {
	if pixels := pixelsOf(set); pixels != nil {
		for i := range set.Len() {
			sum.Write(pixels(i))
		}
		return
	}
	values := make([]float32, Size(set.Shape()))
	bytes := make([]byte, 0, 4*len(values))
	for i := range set.Len() {
		set.CopyRow(values, i)
		bytes, _ = binary.Append(bytes[:0], binary.LittleEndian, values)
		sum.Write(bytes)
	}
}

// pixelsOf returns what gives the bytes of a row of images in memory, or of a view of
// some, and nil for all other sets.
func pixelsOf(set Set) func(row int) []byte {
	switch s := set.(type) {
	case *Images:
		return s.Pixels
	case *subset:
		if pixels := pixelsOf(s.Set); pixels != nil {
			return func(row int) []byte { return pixels(s.rows[row]) }
		}
	}
	return nil
}

// encodeLabels returns the labels of all rows as <i8, -1, which no class is, where they are
// not known.
func encodeLabels(set Set) []byte {
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
