package datasets

import (
	"archive/zip"
	"bytes"
	"testing"

	"github.com/maruel/safetensors"
	"github.com/sbinet/npyio"

	"iwda/internal/allocation"
)

// consistent fails the test unless an array holds what its shape says.
func consistent(t *testing.T, a array) {
	t.Helper()
	if count := len(a.floats) + len(a.ints); count != product(a.shape) || a.floats != nil && a.ints != nil {
		t.Errorf("%d numbers and %d integers of shape %v", len(a.floats), len(a.ints), a.shape)
	}
}

// consistentFeatures fails the test if features that are accepted are no rows.
func consistentFeatures(t *testing.T, values, labels array) {
	t.Helper()
	raw, err := newRawFeatures(values, labels)
	if err == nil && (raw.size <= 0 || len(raw.values) != raw.size*len(raw.labels)) {
		t.Errorf("%d values of size %d for %d labels", len(raw.values), raw.size, len(raw.labels))
	}
}

func npyOf(t testing.TB, values any) []byte {
	t.Helper()
	var buffer bytes.Buffer
	if err := npyio.Write(&buffer, values); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

// npyWith is a .npy file of version 1 with that header, and a body of zeros.
func npyWith(header string, body int) []byte {
	start := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(start, header...), make([]byte, body)...)
}

func FuzzParseNPY(f *testing.F) {
	f.Add(npyOf(f, []float64{1, 2}))
	f.Add(npyOf(f, []int32{1, 2, 3}))
	f.Add(npyWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24))
	f.Add(npyWith("{'descr': '|u1', 'fortran_order': True, 'shape': (3,), }\n", 3))
	f.Add(npyWith("{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n", 8))
	f.Fuzz(func(t *testing.T, file []byte) {
		allocation.Within(t, 1<<20+40*len(file), func() {
			if a, err := parseNPY(file); err == nil {
				consistent(t, a)
			}
		})
	})
}

func FuzzParseNPZ(f *testing.F) {
	whole := npzOf(f, newFeatures(f, []float32{1, 2, 3, 4}, []int{0, 1}, "a", "b"))
	f.Add(whole)
	f.Add(whole[:len(whole)-30])
	f.Add(zipOf(f, map[string][]byte{
		"features": npyWith("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2), }\n", 16),
		"labels":   npyWith("{'descr': '|u1', 'fortran_order': False, 'shape': (1,), }\n", 1),
	}))
	f.Fuzz(func(t *testing.T, file []byte) {
		allocation.Within(t, 1<<28+2000*len(file), func() {
			if values, labels, err := parseNPZ(bytes.NewReader(file), int64(len(file))); err == nil {
				consistent(t, values)
				consistent(t, labels)
				consistentFeatures(t, values, labels)
			}
		})
	})
}

// zipOf is an archive of compressed members.
func zipOf(t testing.TB, members map[string][]byte) []byte {
	t.Helper()
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for name, content := range members {
		member, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := member.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func safetensorsOf(t testing.TB, tensors ...safetensors.Tensor) []byte {
	t.Helper()
	var buffer bytes.Buffer
	file := safetensors.File{Tensors: tensors}
	if err := file.Serialize(&buffer); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}

func FuzzParseSafetensors(f *testing.F) {
	f.Add(safetensorsOf(f,
		safetensors.Tensor{Name: "features", DType: safetensors.F32, Shape: []uint64{1, 2}, Data: make([]byte, 8)},
		safetensors.Tensor{Name: "labels", DType: safetensors.I64, Shape: []uint64{1}, Data: make([]byte, 8)}))
	f.Add(safetensorsOf(f, safetensors.Tensor{Name: "features", DType: safetensors.F32, Shape: []uint64{0, 1 << 63}}))
	f.Fuzz(func(t *testing.T, file []byte) {
		allocation.Within(t, 1<<20+200*len(file), func() {
			if values, labels, err := parseSafetensors(file); err == nil {
				consistentFeatures(t, values, labels)
			}
		})
	})
}
