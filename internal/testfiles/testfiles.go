// Package testfiles has what tests do with files.
package testfiles

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/convert"
	"iwda/internal/input"
	"iwda/internal/must"
)

// Write writes a file, and makes the folders above it.
func Write(t testing.TB, path, text string) {
	t.Helper()
	MakeFolder(t, filepath.Dir(path))
	must.Do(t, os.WriteFile(path, []byte(text), 0o666))
}

// MakeFolder makes a folder and those above it.
func MakeFolder(t testing.TB, path string) {
	t.Helper()
	must.Do(t, os.MkdirAll(path, 0o777))
}

// Remove removes a file, which must be there, or an empty folder.
func Remove(t testing.TB, path string) {
	t.Helper()
	must.Do(t, os.Remove(path))
}

// Folder returns a new folder with files by their paths below it, with slashes.
func Folder[T string | []byte](t testing.TB, files map[string]T) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, content := range files {
		Write(t, filepath.Join(root, filepath.FromSlash(name)), string(content))
	}
	return root
}

// Read returns the content of a file.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	return must.Have(input.Read(path, input.Tensors))(t)
}

// ReadJSON reads a file of JSON into a value.
func ReadJSON(t testing.TB, path string, value any) {
	t.Helper()
	if err := json.Unmarshal(Read(t, path), value); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// Gzip returns the content of a file that gzip has compressed.
func Gzip[T string | []byte](t testing.TB, content T) T {
	t.Helper()
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	must.Have(w.Write([]byte(content)))(t)
	must.Do(t, w.Close())
	return T(packed.Bytes())
}

// Rows writes an .npz file with the array features, rows of that width, and one of labels of that name,
// if there are any, and the names of the classes, of at most eight letters.
func Rows(t testing.TB, path string, width int, values []float32, name string, labels []int, classes ...string) {
	t.Helper()
	var file bytes.Buffer
	archive := zip.NewWriter(&file)
	add := func(name, descr, shape string, data any) {
		header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
		w, err := archive.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
		if err == nil {
			_, err = fmt.Fprintf(w, "\x93NUMPY\x01\x00%s%s", []byte{byte(len(header)), 0}, header)
		}
		if err == nil {
			err = binary.Write(w, binary.LittleEndian, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add("features", "<f4", fmt.Sprintf("(%d, %d)", len(values)/width, width), values)
	if len(labels) > 0 {
		add(name, "<i8", fmt.Sprintf("(%d,)", len(labels)), convert.Slice[int64](labels))
	}
	if len(classes) > 0 {
		letters := make([][8]int32, len(classes))
		for i, class := range classes {
			copy(letters[i][:], []rune(class))
		}
		add("class_names", "<U8", fmt.Sprintf("(%d,)", len(classes)), letters)
	}
	must.Do(t, archive.Close())
	Write(t, path, file.String())
}

// Names are those of a folder's entries, in order.
func Names(t testing.TB, folder string) []string {
	t.Helper()
	return convert.Each(must.Have(os.ReadDir(folder))(t), os.DirEntry.Name)
}

// Cells changes the rows of a CSV text, of which the first names the columns.
func Cells(t testing.TB, text string, change func(rows [][]string)) string {
	t.Helper()
	rows := must.Have(csv.NewReader(strings.NewReader(text)).ReadAll())(t)
	change(rows)
	var b strings.Builder
	must.Do(t, csv.NewWriter(&b).WriteAll(rows))
	return b.String()
}
