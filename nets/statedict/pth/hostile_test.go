package pth

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/internal/must"
	"iwda/internal/testfiles"
)

// Names of records and keys of storages are only compared: they read no other file.
func TestRecordsOfOtherFolders(t *testing.T) {
	root := t.TempDir()
	testfiles.MakeFolder(t, filepath.Join(root, "work"))
	t.Chdir(filepath.Join(root, "work"))
	testfiles.Write(t, "../0", oneAndTwo)
	program := oneTensor("K\x02", "K\x00", "K\x02\x85", "K\x01\x85")
	for key, want := range map[string]string{
		"../0": `lacks the record of storage "../0"`, "../../../0": "lacks the record", filepath.Join(root, "0"): "lacks the record",
	} {
		other := strings.Replace(program, "U\x010", "U"+string(rune(len(key)))+key, 1)
		if _, err := Read(zipOf(t, other, oneAndTwo)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("key %q: error %v", key, err)
		}
	}
	// A folder of any name holds the records, and nothing is looked for on the disk.
	archive := bytes.ReplaceAll(zipOf(t, program, oneAndTwo), []byte("a/data"), []byte("../../")) // of the same length
	must.Refuse(Read(archive))(t, "no data.pkl")
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 0 {
		t.Errorf("reading left %v, error %v", entries, err)
	}
}

// Entries of the archive's directory may all mean the same bytes; each would be summed
// up again.
func TestRecordsThatOverlap(t *testing.T) {
	const size = 1 << 16
	storage := strings.Repeat("\x00", 4*size)
	program := "}"
	for _, key := range []string{"0", "1", "2"} {
		tensor := oneTensor("J\x00\x00\x01\x00", "K\x00", "K\x01\x85", "K\x01\x85")
		tensor = strings.Replace(tensor, "U\x010", "U\x01"+key, 1)
		program += strings.Replace(tensor[len("\x80\x02}"):len(tensor)-1], "U\x01w", "U\x01"+key, 1)
	}
	archive := zipOf(t, program+".", storage)
	whole := directory(t, archive, "a/data/0", "a/data/1", "a/data/2")
	must.Refuse(Read(whole))(t, "records are larger than the file")
}

// directory replaces the directory of a zip archive by one that has the entry of the
// first name under all of the names.
func directory(t *testing.T, archive []byte, names ...string) []byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil || len(r.File) != 2 {
		t.Fatalf("%v", err)
	}
	begin := bytes.Index(archive, []byte("PK\x01\x02"))
	second := begin + 4 + bytes.Index(archive[begin+4:], []byte("PK\x01\x02"))
	end := bytes.LastIndex(archive, []byte("PK\x05\x06"))
	changed := bytes.Clone(archive[:second])
	for _, name := range names {
		changed = append(changed, bytes.Replace(archive[second:end], []byte(names[0]), []byte(name), 1)...)
	}
	size := len(changed) - begin
	tail := bytes.Clone(archive[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(1+len(names)))
	binary.LittleEndian.PutUint16(tail[10:], uint16(1+len(names)))
	binary.LittleEndian.PutUint32(tail[12:], uint32(size))
	return append(changed, tail...)
}

// Objects that contain themselves, and long lists in gopickle's messages, are short
// errors.
func TestObjectsWithinThemselves(t *testing.T) {
	for name, program := range map[string]string{
		"a list in itself":       "]2a.",
		"a called list":          "]q\x00h\x00ah\x00h\x00h\x00\x86R.",
		"a dictionary in itself": "}q\x00h\x00h\x00s.",
		"a long list called":     "](" + strings.Repeat("K\x01", 50_000) + "e)\x81.",
		"marks without end":      strings.Repeat("(", 50_000) + ".",
	} {
		if _, err := Read(zipOf(t, program, oneAndTwo)); err == nil || len(err.Error()) > 1000 {
			t.Errorf("%s: error %.100v", name, err)
		}
	}
}
