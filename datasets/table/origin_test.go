package table

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"iwda/internal/must"
)

// Seconds since 1970 a minute apart are more than float32 tells apart. In every form they come out less an
// origin, none of their digits lost, while columns that float32 holds keep their bits.
func TestOrigins(t *testing.T) {
	const n = 120 // rows
	type row struct {
		T int64   `parquet:"t"`
		D float64 `parquet:"d"`
		V float64 `parquet:"v"`
		I int32   `parquet:"i"`
	}
	type list struct {
		Features []float64 `parquet:"features,list"`
	}
	var rows []row
	var lists []list
	var text, gaps strings.Builder
	var flat, columns []float64
	text.WriteString("t,d,v,i\n")
	gaps.WriteString("t,d,v,i,w\n")
	for i := range n {
		r := row{1_700_000_000 + int64(i*7%60), -3e9 - float64(i*11%50)/4, float64(i*13%n) / 10, int32(2000 + i%20)}
		rows, lists = append(rows, r), append(lists, list{[]float64{float64(r.T), r.D, r.V, float64(r.I)}})
		flat = append(flat, lists[i].Features...)
		line := fmt.Sprintf("%d,%.2f,%v,%d", r.T, r.D, r.V, r.I)
		fmt.Fprintln(&text, line)
		if i == 5 {
			line = fmt.Sprintf(",%.2f,%v,%d", r.D, r.V, r.I)
		}
		fmt.Fprintln(&gaps, line+[]string{",yes", ",no"}[i%2])
	}
	for j := range 4 {
		for i := range n {
			columns = append(columns, flat[4*i+j])
		}
	}
	npy := func(order string, values []float64) string {
		header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': %s, 'shape': (%d, 4), }", order, n)
		header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
		return "\x93NUMPY\x01\x00" + string(binary.LittleEndian.AppendUint16(nil, uint16(len(header)))) + header + doubles(values)
	}
	for name, content := range map[string]string{
		"rows.csv": text.String(), "rows.tsv": strings.ReplaceAll(text.String(), ",", "\t"), "rows.parquet": parquetOf(t, rows),
		"lists.parquet": parquetOf(t, lists), "row.npy": npy("False", flat), "column.npy": npy("True", columns),
		"dict.parquet": parquetOf(t, rows, parquet.DefaultEncoding(&parquet.RLEDictionary)), "gaps.csv": gaps.String(),
	} {
		path, reference := write(t, name, content), Reference{}
		if name == "gaps.csv" {
			l := learnt(t, path, path)
			reference = Reference{Encoding: l.Encoding, Origins: l.Origins}
		}
		table := opened(t, file(path, Options{Kind: Features, Centre: true, Reference: reference}))
		read := must.Have(table.Load())(t)
		origins, width := read.Origins(), read.Width()
		if len(origins) != width {
			t.Errorf("%s: origins %v for %d values", name, origins, width)
			continue
		}
		streamed := opened(t, file(path, Options{Kind: Features, Reference: Reference{Name: "model", Width: width, Encoding: reference.Encoding, Origins: origins}}))
		var again []float32
		for b, err := range streamed.Batches(7) {
			if err != nil {
				t.Fatal(err)
			}
			again = append(again, b.Values...)
		}
		at := []int{0, 1 + (width-4)/3, 0, 0}
		at[2], at[3] = at[1]+1, at[1]+2 // the places of the four columns, between which gaps.csv has what is missing
		values := make([]float32, width)
		for i := range n {
			read.CopyRow(values, i)
			if !slices.Equal(values, again[i*width:(i+1)*width]) {
				t.Fatalf("%s: row %d is %v loaded, %v streamed", name, i, values, again[i*width:(i+1)*width])
			}
			if name == "gaps.csv" && i == 5 {
				if got := origins[0] + float64(values[0]); got < 1_700_000_025 || got > 1_700_000_035 || values[1] != 1 {
					t.Errorf("a missing number is %v", got)
				}
				continue
			}
			for j, want := range lists[i].Features {
				if got := origins[at[j]] + float64(values[at[j]]); j < 2 && got != want || j > 1 && (origins[at[j]] != 0 || values[at[j]] != float32(want)) {
					t.Fatalf("%s: row %d, column %d is %v + %v, want %v", name, i, j, origins[at[j]], values[at[j]], want)
				}
			}
		}
		if said := read.Coarse(); len(said) != 0 {
			t.Errorf("%s: %v", name, said)
		}
	}
}

func doubles(values []float64) string {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, values) // a buffer takes all
	return b.String()
}

// What float32 has lost before it is read is said, of a source and of a target far from it.
func TestCoarseColumns(t *testing.T) {
	type row struct {
		A float32 `parquet:"a"`
		B float32 `parquet:"b"`
	}
	var rows []row
	for i := range 200 {
		rows = append(rows, row{float32(1.7e9 + 128*float64(i%5)), float32(i)})
	}
	for name, from := range map[string]func() (*Table, error){
		"columns": file(write(t, "rows.parquet", parquetOf(t, rows)), Options{Centre: true}),
		"target":  file(write(t, "rows.csv", "a,b\n"+strings.Repeat("4000000001,1\n4000000002.5,2\n4000000003,3\n", 50)), Options{Centre: true, Reference: Reference{Width: 2, Origins: []float64{1e9, 0}}}),
	} {
		read := must.Have(opened(t, from).Load())(t)
		if said := read.Coarse(); len(said) != 1 || !strings.Contains(said[0], "1000 steps of float32") {
			t.Errorf("%s: %v", name, said)
		}
	}
}
