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
}

// Labels that are no classes from 0 on name the file, and take no memory.
func TestLabelsThatAreNoNumbers(t *testing.T) {
	values := npyOf("<f4", "(2, 1)", make([]byte, 8))
	labels := map[string]struct{ descr, body, words string }{
		"large":   {"<i8", "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00", `label "1099511627776"; labels are integers that count from 0, up to 32767`},
		"text":    {"|S1", "ab", `label "a"; labels are integers`},
		"below":   {"|i1", "\x00\xfe", `label "-2"; labels are integers`},
		"unknown": {"|i1", "\x00\xff", "row 1 has no label"},
	}
	root := t.TempDir()
	for domain, c := range labels {
		write(t, filepath.Join(root, domain+".npz"), zipOf(t, map[string][]byte{"features": values, "labels": npyOf(c.descr, "(2,)", []byte(c.body))}))
		refused(t, domain+".npz: "+c.words, func() error {
			_, err := ReadFeatures(root, domain)
			return err
		})
	}
	write(t, filepath.Join(root, "none.npz"), zipOf(t, map[string][]byte{"features": values}))
	refused(t, "none.npz: no labels", func() error {
		_, err := ReadFeatures(root, "none")
		return err
	})
}

// Names in an archive are never names of files.
func TestMembersOfOtherFolders(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, "data"), 0o700); err != nil {
		t.Fatal(err)
	}
	one := npyOf("<f4", "(1, 1)", make([]byte, 4))
	write(t, filepath.Join(root, "features.npy"), one)
	write(t, filepath.Join(root, "data", "a.npz"), zipOf(t, map[string][]byte{"../features.npy": one, "/labels.npy": one}))
	_, err := ReadFeatures(filepath.Join(root, "data"), "a")
	if err == nil || !strings.Contains(err.Error(), `no array of the values, features;`) || !strings.Contains(err.Error(), `"../features"`) {
		t.Errorf("error %v", err)
	}
	for _, domain := range []string{"../a", "/a", "x/../a", ""} {
		if _, err := ReadFeatures(root, domain); err == nil || !strings.Contains(err.Error(), "not the name of a file") {
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
		if _, err := ReadFeatures(root, domain); err == nil || !strings.Contains(err.Error(), name+": not a file") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := readFile(filepath.Join(root, "a.npz"), ReadIDXImages); err == nil || !strings.Contains(err.Error(), "not a file") {
		t.Errorf("error %v", err)
	}
}

// npyOf is a .npy file of that type and shape.
func npyOf(descr, shape string, body []byte) []byte {
	header := "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n"
	start := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	return append(append(start, header...), body...)
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
