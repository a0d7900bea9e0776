package table

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

// Rows are the same whether a file holds them row after row or column after column, mapped or
// compressed, in batches or in any order.
func TestFortranOrder(t *testing.T) {
	const rows, width = 1501, 7
	random := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, rows*width)
	for i := range values {
		values[i] = float32(random.NormFloat64())
	}
	var body []byte
	for j := range width {
		for i := range rows {
			body = binary.LittleEndian.AppendUint32(body, math.Float32bits(values[i*width+j]))
		}
	}
	array := npyWith(fmt.Sprintf("{'descr': '<f4', 'fortran_order': True, 'shape': (%d, %d), }\n", rows, width), string(body))
	for name, path := range map[string]string{
		"npy":        write(t, "rows.npy", array),
		"mapped":     write(t, "stored.npz", zipOf(t, zip.Store, member{"features.npy", array})),
		"compressed": write(t, "packed.npz", zipOf(t, zip.Deflate, member{"features.npy", array})),
	} {
		table := must.Have(Open(path, Options{}))(t)
		defer table.Close()
		for _, size := range []int{1, 64, rows, 2 * rows} {
			var got []float32
			for batch, err := range table.Batches(size) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, batch.Values...)
			}
			if !slices.Equal(got, values) {
				t.Errorf("%s: other values in batches of %d", name, size)
			}
		}
		all := must.Have(table.Load())(t)
		row := make([]float32, width)
		for _, i := range []int{0, rows - 1, 17, 1024} {
			if all.CopyRow(row, i); !slices.Equal(row, values[i*width:(i+1)*width]) {
				t.Errorf("%s: row %d is %v", name, i, row)
			}
		}
	}
	refused(t, write(t, "short.npz", zipOf(t, zip.Deflate, member{"features.npy", array[:len(array)-4]})), Options{}, "do not fill the shape")
	stored := zipOf(t, zip.Store, member{"features.npy", array})
	middle := strings.Index(stored, "(1501, 7)") + len(array)/2
	damaged := stored[:middle] + string([]byte{stored[middle] ^ 1}) + stored[middle+1:]
	refused(t, write(t, "damaged.npz", damaged), Options{}, "features: zip: checksum error")
}

// Whole numbers and truth values are values as real numbers are.
func TestWholeNumbersAsValues(t *testing.T) {
	for descr, test := range map[string]struct {
		body string
		want []float32
	}{
		"|b1": {"\x00\x01", []float32{0, 1}},
		"|i1": {"\xff\x7f", []float32{-1, 127}},
		"|u1": {"\xff\x7f", []float32{255, 127}},
		"<i2": {"\xfe\xff\x00\x01", []float32{-2, 256}},
		"<u2": {"\xfe\xff\x00\x01", []float32{65534, 256}},
		"<i4": {"\xfd\xff\xff\xff\x00\x00\x01\x00", []float32{-3, 65536}},
		"<u4": {"\xff\xff\xff\xff\x00\x00\x01\x00", []float32{1 << 32, 65536}},
		"<i8": {"\xfc\xff\xff\xff\xff\xff\xff\xff" + long, []float32{-4, 1}},
		"<u8": {"\xff\xff\xff\xff\xff\xff\xff\xff" + long, []float32{1 << 64, 1}},
	} {
		got := contentOf(t, file(write(t, "rows.npy", npyOf(descr, "(1, 2)", test.body)), Options{}))
		if !slices.Equal(got.Values, test.want) {
			t.Errorf("%s: %v, want %v", descr, got.Values, test.want)
		}
	}
}
