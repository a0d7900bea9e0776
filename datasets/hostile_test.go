package datasets

import (
	"bytes"
	"encoding/base64"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"iwda/datasets/table"
	"iwda/internal/allocation"
	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// refused fails the test unless the error has the words, or f allocates more than some
// times what a compressed file may hold.
func refused(t *testing.T, words string, f func() error) {
	t.Helper()
	allocation.Within(t, 1<<28, func() {
		must.Fail(t, f(), words)
	})
}

// A few kilobytes that stand for many megabytes are refused before those are
// there.
func TestCompressedBombs(t *testing.T) {
	header := []byte{0, 0, 8, 3, 0, 0x10, 0, 0, 0, 0, 0, 32, 0, 0, 0, 32} // 1,048,576 images of 32×32
	file := append(testfiles.Gzip(t, header), bytes.Repeat(testfiles.Gzip(t, make([]byte, 1<<20)), 100)...)
	refused(t, "images.gz: after", func() error {
		_, err := ReadIDXImages(bytes.NewReader(file), "images.gz")
		return err
	})

	unbase := func(text string) []byte {
		return must.Have(base64.StdEncoding.DecodeString(text))(t)
	}
	zeros := unbase("QlpoOTFBWSZTWckBtsgBWKtAIMAAEAAACCAAMMwFKaZSSFJsVJIUni7kinChIZIDbZA=") // 45 MB
	refused(t, table.ErrGrowth.Error(), func() error {
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

// A pipe that nobody writes to, in the place of a file, is an error, not a wait without
// end.
func TestOnlyFilesAreOpened(t *testing.T) {
	path := filepath.Join(t.TempDir(), "images.idx")
	must.Do(t, unix.Mkfifo(path, 0o600))
	must.Refuse(readFile(path, ReadIDXImages))(t, "not a file")
}
