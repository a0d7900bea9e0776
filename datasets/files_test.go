package datasets_test

import (
	"encoding/base64"
	"encoding/binary"
	"testing"

	"iwda/internal/must"
)

// idx returns an IDX file: the magic number, the sizes, the bytes.
func idx(magic uint32, sizes []uint32, body []byte) []byte {
	file := binary.BigEndian.AppendUint32(nil, magic)
	for _, size := range sizes {
		file = binary.BigEndian.AppendUint32(file, size)
	}
	return append(file, body...)
}

// idxImages returns an IDX file of count images, pixel i of the file being i mod
// 251.
func idxImages(count, rows, columns int) []byte {
	body := make([]byte, count*rows*columns)
	for i := range body {
		body[i] = byte(i % 251)
	}
	return idx(0x803, []uint32{uint32(count), uint32(rows), uint32(columns)}, body)
}

func idxLabels(labels ...byte) []byte { return idx(0x801, []uint32{uint32(len(labels))}, labels) }

// bzip2OfTwoDigits is "1 1:1\n10 256:-1\n", compressed with bzip2.
func bzip2OfTwoDigits(t testing.TB) []byte {
	t.Helper()
	return must.Have(base64.StdEncoding.DecodeString("QlpoOTFBWSZTWVv8P1QAAARYAAAQQAJzECAAIaDJkIMmINGYsIQ5x+LuSKcKEgt/h+qA"))(t)
}
