package table

import (
	"archive/zip"
	"bytes"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"iwda/internal/allocation"
	"iwda/internal/testfiles"
)

// Whatever happens to a byte, of every third one, a file is refused or, where the format has checksums, gives the same
// rows. Of others the rows that are read are whole.
func TestCorruptedFiles(t *testing.T) {
	array := func(order string) string {
		return npyWith("{'descr': '<f4', 'fortran_order': "+order+", 'shape': (2, 2), }\n", one+one+"\x00\x00\x00\x3f"+one)
	}
	npz := func(method uint16, order string) string {
		return zipOf(t, method, member{"features.npy", array(order)}, member{"labels.npy", npyOf("|u1", "(2,)", "\x00\x01")},
			member{"ids.npy", npyOf("|S2", "(2,)", "no12")}, member{"class_names.npy", npyOf("<U1", "(2,)", "a\x00\x00\x00b\x00\x00\x00")})
	}
	type row struct {
		Features []float32 `parquet:"features,list"`
		Label    string    `parquet:"label"`
		ID       int64     `parquet:"id"`
	}
	rows := []row{{[]float32{1, 1}, "a", 7}, {[]float32{1, 0.5}, "b", 8}}
	for _, test := range []struct {
		name, extension, content string
		checked                  bool
	}{
		{"npz", ".npz", npz(zip.Store, "False"), true},
		{"npz, by column", ".npz", npz(zip.Store, "True"), true},
		{"npz, compressed", ".npz", npz(zip.Deflate, "False"), true},
		{"npz, compressed, by column", ".npz", npz(zip.Deflate, "True"), true},
		{"npy", ".npy", array("False"), false},
		{"npy, by column", ".npy", array("True"), false},
		{"csv, compressed", ".csv.gz", testfiles.Gzip(t, "id,label,a,b\n7,a,1,1\n8,b,1,0.5\n"), true},
		{"parquet", ".parquet", parquetOf(t, rows), false},
		{"parquet, compressed", ".parquet", parquetOf(t, rows, parquet.Compression(&parquet.Zstd), parquet.DataPageVersion(1)), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows"+test.extension)
			rows := func(content []byte) (content, bool) {
				testfiles.Write(t, path, string(content))
				return loadedOf(t, path, len(content))
			}
			want, whole := rows([]byte(test.content))
			if !whole {
				t.Fatal("the whole file is refused")
			}
			refused, cases := 0, 0
			for how, damaged := range damagedBytes([]byte(test.content), 3) {
				cases++
				got, whole := rows(damaged)
				if !whole {
					refused++
				} else if diff := cmp.Diff(want, got); test.checked && diff != "" {
					t.Errorf("%s of %d, and the rows are others: %s", how, len(test.content), diff)
				}
			}
			t.Logf("%d cases, %d refused", cases, refused)
		})
	}
}

// loadedOf reads all rows of a file of so many bytes, and whether it is one.
func loadedOf(t *testing.T, path string, size int) (c content, whole bool) {
	allocation.Within(t, allocation.Allowed(size), func() {
		table, err := Open(path, Options{})
		if err != nil {
			return
		}
		defer table.Close()
		consistent(t, table)
		rows, err := table.Load()
		if err != nil {
			return
		}
		whole = true
		c = content{Kind: rows.Kind(), Width: rows.Width(), Classes: rows.ClassNames()}
		row := make([]float32, rows.Width())
		for i := range rows.Len() {
			rows.CopyRow(row, i)
			c.Values = append(c.Values, row...)
			c.Labels, c.IDs = append(c.Labels, labelOf(rows.Label(i))), append(c.IDs, rows.ID(i))
		}
	})
	return c, whole
}

// damagedBytes gives, for one byte in so many of a file's content, what it is with a bit of that byte
// flipped, another one from byte to byte, with the byte zeroed, and cut off before it; if the
// environment asks for all that can happen by IWDA_TORTURE, with each bit of every byte flipped. Contents are valid until the
// next one.
func damagedBytes(whole []byte, step int) iter.Seq2[string, []byte] {
	bits := 1
	if os.Getenv("IWDA_TORTURE") != "" {
		bits, step = 8, 1
	}
	return func(yield func(how string, damaged []byte) bool) {
		damaged := bytes.Clone(whole)
		for at := 0; at < len(whole); at += step {
			for bit := range bits {
				bit = (at/step + bit) % 8
				damaged[at] = whole[at] ^ 1<<bit
				if !yield(fmt.Sprintf("byte %d, bit %d flipped", at, bit), damaged) {
					return
				}
			}
			damaged[at] = 0
			if whole[at] != 0 && !yield(fmt.Sprintf("byte %d zeroed", at), damaged) {
				return
			}
			damaged[at] = whole[at]
			if !yield(fmt.Sprintf("cut before byte %d", at), damaged[:at]) {
				return
			}
		}
	}
}
