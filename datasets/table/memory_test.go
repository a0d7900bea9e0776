package table

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"iwda/internal/allocation"
)

// What reading takes of Go's memory, of values that have 34 MB as float32: next to none
// where they are mapped or go by in batches, and theirs once where all are kept.
func TestMemory(t *testing.T) {
	const rows, width, size = 1 << 13, 1 << 10, 1 << 25
	// Decompression and slices that grow leave some garbage, far less than a second copy.
	const little, garbage = 1 << 22, 3 << 23
	array := npyText("<f4", rows, width, []byte(one))
	half := npyText("<f2", rows, width, []byte("\x00\x3c"))
	packed := zipOf(t, zip.Deflate, member{"features.npy", npyHeaderOf(rows, width) + noise(size)})
	stored := zipOf(t, zip.Store, member{"features.npy", half})

	keep := func(table *Table) error {
		_, err := table.Load()
		return err
	}
	load := func(table *Table) error {
		rows, err := table.Load()
		if err != nil {
			return err
		}
		row := make([]float32, width)
		for i := range rows.Len() {
			if rows.CopyRow(row, (i*7919)%rows.Len()); row[0] != 1 {
				return fmt.Errorf("row %d begins with %v", i, row[0])
			}
		}
		return nil
	}
	batches := func(table *Table) error {
		read := 0
		for batch, err := range table.Batches(256) {
			if err != nil {
				return err
			}
			read += batch.Len()
		}
		if read != rows {
			return fmt.Errorf("%d rows of %d", read, rows)
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		open  func() (*Table, error)
		use   func(*Table) error
		limit int
	}{
		{"float32, mapped", file(write(t, "rows.npy", array), Options{}), load, little},
		{"float16, mapped", file(write(t, "rows.npz", stored), Options{}), load, little},
		{"float32, in batches", file(write(t, "rows.npy", array), Options{}), batches, little},
		{"compressed, in batches", file(write(t, "rows.npz", packed), Options{}), batches, garbage},
		{"compressed, kept", file(write(t, "rows.npz", packed), Options{}), keep, size + garbage},
	} {
		t.Run(c.name, func(t *testing.T) {
			allocation.Within(t, c.limit, func() {
				if err := c.use(opened(t, c.open)); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// npyHeaderOf is the header of so many rows of float32.
func npyHeaderOf(rows, width int) string {
	return npyOf("<f4", fmt.Sprintf("(%d, %d)", rows, width), "")
}

// noise is so many bytes of numbers between 1 and 2 that are hard to compress: they come
// again, but farther away than the compression looks.
func noise(size int) string {
	random := rand.New(rand.NewPCG(1, 2))
	block := make([]byte, 1<<20)
	for i := 0; i < len(block); i += 4 {
		bits := random.Uint32()
		block[i], block[i+2], block[i+3] = byte(bits), 0x80|byte(bits>>8)&0x7f, 0x3f
	}
	return strings.Repeat(string(block), size/len(block))
}

// npyText is a .npy array of that type, whose elements have these bytes.
func npyText(descr string, rows, width int, element []byte) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", descr, rows, width)
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header +
		string(bytes.Repeat(element, rows*width))
}
