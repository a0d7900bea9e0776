package table

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// benchmarked goes over the batches of a table of so many rows, once an iteration.
func benchmarked(b *testing.B, rows int, open func() (*Table, error)) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		table, err := open()
		if err != nil {
			b.Fatal(err)
		}
		read := 0
		for batch, err := range table.Batches(256) {
			if err != nil {
				b.Fatal(err)
			}
			read += batch.Len()
		}
		if read != rows {
			b.Fatalf("%d rows were read of %d", read, rows)
		}
		if err := table.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}

const benchWidth = 512

// npyText is a .npy array of that type, whose elements have these bytes.
func npyText(descr string, rows, width int, element []byte) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }\n", descr, rows, width)
	return npyMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header +
		string(bytes.Repeat(element, rows*width))
}

func BenchmarkNPY(b *testing.B) {
	const rows = 20000
	for descr, element := range map[string]string{"<f2": "\x01\x3c", "<f4": "\x01\x02\x80\x3f", "<f8": "\x01\x02\x03\x04\x05\x06\xf0\x3f"} {
		b.Run(descr[1:], func(b *testing.B) {
			benchmarked(b, rows, file(write(b, "rows.npy", npyText(descr, rows, benchWidth, []byte(element))), Options{}))
		})
	}
}

func BenchmarkCSV(b *testing.B) {
	const rows = 1000
	var text strings.Builder
	text.WriteString("id")
	for j := range benchWidth {
		fmt.Fprintf(&text, ",f%d", j)
	}
	for i := range rows {
		fmt.Fprintf(&text, "\n%d", i)
		for j := range benchWidth {
			text.WriteString("," + strconv.FormatFloat(math.Sin(float64(i*benchWidth+j)), 'g', 8, 32))
		}
	}
	benchmarked(b, rows, file(write(b, "rows.csv", text.String()), Options{}))
}

func BenchmarkParquet(b *testing.B) {
	const rows = 5000
	type list struct {
		Features []float32 `parquet:"features"`
	}
	path := filepath.Join(b.TempDir(), "rows.parquet")
	content := make([]list, rows)
	for i := range content {
		content[i].Features = make([]float32, benchWidth)
		for j := range content[i].Features {
			content[i].Features[j] = float32(math.Sin(float64(i*benchWidth + j)))
		}
	}
	if err := parquet.WriteFile(path, content, parquet.Compression(&parquet.Snappy)); err != nil {
		b.Fatal(err)
	}
	benchmarked(b, rows, file(path, Options{}))
}

func BenchmarkWritePredictions(b *testing.B) {
	const rows, classes = 100_000, 3
	ids, probabilities := make([]string, rows), make([]float32, classes*rows)
	for i := range ids {
		ids[i] = fmt.Sprintf("row-%d", i)
		for j := range classes {
			probabilities[i*classes+j] = float32(math.Abs(math.Sin(float64(i*classes + j))))
		}
	}
	for _, extension := range Formats() {
		b.Run(extension, func(b *testing.B) {
			path, what := filepath.Join(b.TempDir(), "predictions."+extension), Predictions{Classes: []string{"cat", "dog", "owl"}, Probabilities: true}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := WritePredictions(path, what, func(add Add) error {
					for i, id := range ids {
						if err := add(id, probabilities[i*classes:(i+1)*classes]); err != nil {
							return err
						}
					}
					return nil
				}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(rows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
