package table

import (
	"archive/zip"
	"encoding/binary"
	"math"
	"path/filepath"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"iwda/internal/allocation"
	"iwda/internal/testfiles"
)

// fuzzed reads bytes as a file of a format. Whatever is accepted must be whole rows, the same in
// batches as all at once.
func fuzzed(f *testing.F, extension string, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	folder := f.TempDir()
	f.Fuzz(func(t *testing.T, content []byte) {
		path := filepath.Join(folder, "rows"+extension)
		testfiles.Write(t, path, string(content))
		allocation.Within(t, allocation.Allowed(len(content)), func() {
			table, err := Open(path, Options{})
			if err != nil {
				return
			}
			defer table.Close()
			consistent(t, table)
		})
	})
}

// consistent fails the test where a table that was opened is loaded without an error and
// its parts do not fit.
func consistent(t *testing.T, table *Table) {
	t.Helper()
	rows, err := table.Load()
	if err != nil {
		return
	}
	if rows.Len() == 0 || table.Width() == 0 || table.Len() >= 0 && table.Len() != rows.Len() {
		t.Fatalf("%d rows of %d values, of %d", rows.Len(), table.Width(), table.Len())
	}
	names := rows.ClassNames()
	row := make([]float32, table.Width())
	size := 3
	if rows.Len() > 1<<12 {
		size = 1000 // some bytes may stand for millions of rows
	}
	for batch, err := range table.Batches(size) {
		if err != nil {
			t.Fatalf("in batches: %v", err)
		}
		for i := range batch.Len() {
			at := batch.First + i
			rows.CopyRow(row, at)
			for j, v := range row {
				if v-v != 0 || batch.Values[i*len(row)+j] != v {
					t.Fatalf("row %d: %v, in a batch %v", at, row, batch.Values[i*len(row):(i+1)*len(row)])
				}
			}
			label := labelOf(rows.Label(at))
			if label < unknown || label >= len(names) || labelOf(batch.Label(i)) != label {
				t.Fatalf("row %d: label %d of %d classes", at, label, len(names))
			}
			if rows.ID(at) != batch.ID(i) {
				t.Fatalf("row %d: ids %q and %q", at, rows.ID(at), batch.ID(i))
			}
		}
	}
}

func FuzzNPY(f *testing.F) {
	fuzzed(f, ".npy",
		npyOf("<f4", "(2, 1)", one+one), npyOf("<f2", "(1, 2)", "\x00\x3c\x00\x3c"), npyOf("<f8", "(1, 1)", long),
		npyWith("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n", one+one),
		npyOf("<f4", "(1000000, 1000000)", one), npyWith("'shape': 'fortran_order': 'descr': \n", one))
}

func FuzzNPZ(f *testing.F) {
	values := member{"features.npy", npyOf("<f4", "(2, 1)", one+one)}
	labels := member{"labels.npy", npyOf("<U1", "(2,)", "a\x00\x00\x00b\x00\x00\x00")}
	names := member{"class_names.npy", npyOf("|S1", "(2,)", "ab")}
	numbers := member{"labels.npy", npyOf("|i1", "(2,)", "\x01\xff")}
	fuzzed(f, ".npz",
		zipOf(f, zip.Store, values, labels), zipOf(f, zip.Deflate, values, numbers, names),
		zipOf(f, zip.Store, member{"features.npy", npyWith("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 1), }\n", one+one)}, labels),
		zipOf(f, zip.Store, member{"probabilities.npy", npyOf("<f4", "(2, 1)", one+one)}, numbers))
}

func FuzzCSV(f *testing.F) {
	fuzzed(f, ".csv",
		"id,label,a,b\nx,dog,1,2\n\"y\n\",,3,4\n", "\xef\xbb\xbfa;b\r\n1;2\r\n", "probability_a\tprobability_b\n0.5\t0.5\n",
		"a;b\n1,5;1.234\n", inUTF16("id;a;label\n1;1,5;ä\n", binary.LittleEndian))
}

func FuzzPackedCSV(f *testing.F) {
	const rows = "id,label,a,b\nx,dog,1,2\ny,,3,4\n"
	fuzzed(f, ".csv.gz", testfiles.Gzip(f, rows)+testfiles.Gzip(f, "z,dog,5,6\n"), testfiles.Gzip(f, inUTF16(rows, binary.BigEndian)))
}

func FuzzParquet(f *testing.F) {
	var seeds []string
	for _, name := range []string{"duckdb-null-row", "duckdb-null-value", "duckdb-probabilities", "duckdb-ragged"} {
		content := testfiles.Read(f, "testdata/"+name+".parquet")
		seeds = append(seeds, string(content))
	}
	rows, _ := rowsOfAllEncodings(20)
	for _, codec := range codecs {
		for version := 1; version <= 2; version++ {
			seeds = append(seeds, parquetOf(f, rows, codec, parquet.DataPageVersion(version), parquet.PageBufferSize(100)))
		}
	}
	runs := craftedPage{0, 1 << 12, format.RLEDictionary, false, "\x00" + run(1<<12, "")}
	seeds = append(seeds,
		crafted{1 << 47, 0, []craftedPage{{4, 1, format.Plain, false, one}}}.of(f, numberRow{1}),
		crafted{1 << 13, 0, []craftedPage{{4, 1, format.Plain, true, one}, runs, runs}}.of(f, numberRow{1}))
	fuzzed(f, ".parquet", seeds...)
}

// A file of class shares of any content is shares that sum to 1, or an error.
func FuzzReadShares(f *testing.F) {
	f.Add([]byte("class,share\na,0.5\nb,3\n"))
	f.Add([]byte("target_share,class\n1e15,b\n\"0\",a\n"))
	f.Fuzz(func(t *testing.T, content []byte) {
		path := write(t, "shares.csv", string(content))
		allocation.Within(t, allocation.Allowed(len(content)), func() {
			shares, err := ReadShares(path, []string{"a", "b"})
			if err != nil {
				return
			}
			if len(shares) != 2 || math.Abs(shares[0]+shares[1]-1) > 1e-12 || shares[0] < 0 || shares[1] < 0 {
				t.Errorf("shares %v", shares)
			}
		})
	})
}
