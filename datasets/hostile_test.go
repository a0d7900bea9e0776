package datasets

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/maruel/safetensors"
	"golang.org/x/sys/unix"

	"iwda/internal/allocation"
)

// refused fails the test unless the error has the words, or f allocates more than some
// times what a compressed file may hold.
func refused(t *testing.T, words string, f func() error) {
	t.Helper()
	allocation.Within(t, 1<<28, func() {
		if err := f(); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("error %v, want one with %q", err, words)
		}
	})
}

// A few kilobytes that stand for many megabytes are refused before those are
// there.
func TestCompressedBombs(t *testing.T) {
	member := func(content []byte) []byte {
		var gzipped bytes.Buffer
		w := gzip.NewWriter(&gzipped)
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return gzipped.Bytes()
	}
	header := []byte{0, 0, 8, 3, 0, 0x10, 0, 0, 0, 0, 0, 32, 0, 0, 0, 32} // 1,048,576 images of 32×32
	file := append(member(header), bytes.Repeat(member(make([]byte, 1<<20)), 100)...)
	refused(t, "images.gz: after", func() error {
		_, err := ReadIDXImages(bytes.NewReader(file), "images.gz")
		return err
	})

	unbase := func(text string) []byte {
		content, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	zeros := unbase("QlpoOTFBWSZTWckBtsgBWKtAIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIZIDbZA=") // 45 MB
	refused(t, errGrowth.Error(), func() error {
		r, err := decompress(bytes.NewReader(zeros), "labels.bz2")
		if err == nil {
			_, err = readBody(r, "labels.bz2", 45_000_000)
		}
		return err
	})
	lines := unbase("QlpoOTFBWSZTWXUuwHYDbuNIAAAQIAAgADCATUYVCETRUIROYoKyTKazIr23vAAACZAAACBAAEAAQVNBBYmcXckU4UJB7A1syA==") // "1", 450,000 times
	refused(t, "usps.bz2:20001: more than 20000 digits", func() error {
		_, err := ReadUSPS(bytes.NewReader(lines), "usps.bz2")
		return err
	})
	archive := zipOf(t, map[string][]byte{"features.npy": make([]byte, 24<<20)})
	refused(t, "features.npy: "+errGrowth.Error(), func() error {
		_, _, err := parseNPZ(bytes.NewReader(archive), int64(len(archive)))
		return err
	})
}

// What a header says is not believed before the bytes are there.
func TestHeadersThatPromiseTooMuch(t *testing.T) {
	npy := func(header string, body int) func() error {
		return func() error {
			_, err := parseNPY(npyWith(header, body))
			return err
		}
	}
	refused(t, "do not fill the shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000), }\n", 8))
	refused(t, "do not fill the shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n", 0))
	refused(t, "do not fill the shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -1), }\n", 8))
	refused(t, "do not fill the shape", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n", 9))
	refused(t, "damaged header", npy("{'descr': '<f4'", 8))
	refused(t, "damaged header", npy("'shape': 'fortran_order': 'descr': \n", 8))
	refused(t, "the header is cut off", func() error {
		_, err := parseNPY([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr': "))
		return err
	})
	refused(t, "row 1 has label 1099511627776; labels count from 0, up to 32767", func() error {
		values := array{shape: []int{2, 1}, floats: []float32{1, 2}}
		_, err := newRawFeatures(values, array{shape: []int{2}, ints: []int{0, 1 << 40}})
		return err
	})
	refused(t, "0 labels for 0 rows", func() error {
		values, labels, err := parseSafetensors(safetensorsOf(t,
			safetensors.Tensor{Name: "features", DType: safetensors.F32, Shape: []uint64{0, 1<<64 - 1}},
			safetensors.Tensor{Name: "labels", DType: safetensors.I64, Shape: []uint64{0}}))
		if err == nil {
			_, err = newRawFeatures(values, labels)
		}
		return err
	})
}

// Names in an archive are never names of files.
func TestMembersOfOtherFolders(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	one := npyWith("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }\n", 4)
	write(t, filepath.Join(root, "features.npy"), one)
	write(t, filepath.Join(root, "data", "a.npz"), zipOf(t, map[string][]byte{"../features.npy": one, "/labels.npy": one}))
	_, err := readFeatures(filepath.Join(root, "data"), "a")
	if err == nil || !strings.Contains(err.Error(), `no array "features"`) || !strings.Contains(err.Error(), `"../features.npy"`) {
		t.Errorf("error %v", err)
	}
	for _, domain := range []string{"../a", "/a", "x/../a", ""} {
		if _, err := readFeatures(root, domain); err == nil || !strings.Contains(err.Error(), "not the name of a file") {
			t.Errorf("domain %q: error %v", domain, err)
		}
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 2 {
		t.Errorf("reading left %v, error %v", entries, err)
	}
}

// A pipe that nobody writes to, in the place of a file, is an error, not a wait without
// end.
func TestOnlyFilesAreOpened(t *testing.T) {
	root := t.TempDir()
	for domain, name := range map[string]string{"a": "a.npz", "b": "b.safetensors", "c": "c-features.npy"} {
		if err := unix.Mkfifo(filepath.Join(root, name), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readFeatures(root, domain); err == nil || !strings.Contains(err.Error(), name+": not a file") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := readFile(filepath.Join(root, "a.npz"), ReadIDXImages); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
}

// A member that says a small size and holds more is not read past that size.
func TestMemberThatHoldsMoreThanItSays(t *testing.T) {
	archive := zipOf(t, map[string][]byte{"features.npy": make([]byte, 1<<20)})
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	r.File[0].UncompressedSize64 = 10
	if _, err := unzip(r.File[0], int64(len(archive))); err == nil || !strings.Contains(err.Error(), "features.npy") {
		t.Errorf("error %v", err)
	}
}
