// Package golden reads the reference values that tests compare against: numbers
// computed in float64 with the code released by the paper's authors.
//
// The folder is the one that $IWDA_GOLDEN names, else testdata/golden at the root
// of the module. Any folder whose files hold the same keys will do: no test knows
// a value by heart.
package golden

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"iwda/internal/convert"

	"github.com/sbinet/npyio"
	"github.com/sbinet/npyio/npz"
)

// Folder returns the folder of the golden files. A relative path is one from the module's root.
func Folder(t testing.TB) string {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	folder := cmp.Or(os.Getenv("IWDA_GOLDEN"), filepath.Join("testdata", "golden"))
	if filepath.IsAbs(folder) {
		return folder
	}
	return filepath.Join(filepath.Dir(file), "..", "..", folder)
}

// Array is one array of a golden file, in C order, whatever its type on disk.
type Array struct {
	Shape []int
	Data  []float64
}

// Ints returns the values as integers. It panics where one is none.
func (a Array) Ints() []int {
	ints := make([]int, len(a.Data))
	for i, v := range a.Data {
		if ints[i] = int(v); float64(ints[i]) != v {
			panic(fmt.Sprintf("golden: value %d is %v, no integer", i, v))
		}
	}
	return ints
}

// Scalar returns the single value of a 0-dimensional or one-element array. It panics
// where there is not exactly one.
func (a Array) Scalar() float64 {
	if len(a.Data) != 1 {
		panic(fmt.Sprintf("golden: a scalar of %d values", len(a.Data)))
	}
	return a.Data[0]
}

// File holds every array of one .npz file by its key.
type File map[string]Array

// Open reads every array of the named file of the golden folder ("losses" reads losses.npz) and
// stops the test where it cannot.
func Open(t testing.TB, name string) File {
	t.Helper()
	path := filepath.Join(Folder(t), name+".npz")
	r, err := npz.Open(path)
	if err != nil {
		t.Fatalf("golden: %s: %v", path, err)
	}
	defer r.Close()
	file := make(File)
	for _, key := range r.Keys() {
		header := r.Header(key)
		values, err := readArray(r, key, header)
		if err != nil {
			t.Fatalf("golden: %s: %s: %v", path, key, err)
		}
		file[strings.TrimSuffix(key, ".npy")] = Array{header.Descr.Shape, values}
	}
	return file
}

func readArray(r *npz.Reader, key string, header *npyio.Header) ([]float64, error) {
	if header.Descr.Fortran && len(header.Descr.Shape) > 1 {
		return nil, errors.New("stored in Fortran order; golden files are in C order")
	}
	switch header.Descr.Type {
	case "<f8":
		return readAs[float64](r, key)
	case "<f4":
		return readAs[float32](r, key)
	case "<i8":
		return readAs[int64](r, key)
	case "<u8":
		return readAs[uint64](r, key)
	}
	return nil, fmt.Errorf("type %q is not one that golden files use", header.Descr.Type)
}

func readAs[T float32 | float64 | int64 | uint64](r *npz.Reader, key string) ([]float64, error) {
	var values []T
	err := r.Read(key, &values)
	return convert.Slice[float64](values), err
}

// Get returns the array of the key and stops the test where there is none.
func (f File) Get(t testing.TB, key string) Array {
	t.Helper()
	a, ok := f[key]
	if !ok {
		t.Fatalf("golden: no key %q; there are %s", key, strings.Join(f.Groups(), ", "))
	}
	return a
}

// Groups returns the sorted first components of the keys: the cases of the file.
func (f File) Groups() []string {
	groups := map[string]bool{}
	for key := range f {
		group, _, _ := strings.Cut(key, "/")
		groups[group] = true
	}
	return slices.Sorted(maps.Keys(groups))
}
