package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/must"
	"iwda/internal/testfiles"
	"iwda/internal/wholefile"
)

var example = Record{
	Version: "9.8.7", Config: "experiment: \"sha256\":\"x\"\n",
	State: State{
		Step: 17, Passes: 3, Seconds: 1.5, LearningRate: 0.1, Sums: Sums{Total: 2.25, Steps: 4},
		Feed: Feed{FromSource: Sampler{Generator: []byte{1, 2}}, FromTarget: Sampler{Order: []int{4, 0}}}, Estimates: []Estimate{{Updates: 1}}, Confusion: [][]int{{1, 0}, {2, 3}}, DataSHA256: "ab",
	},
}

// safetensors writes a file of that format whose tensors are the values; it writes its
// head in pieces.
func safetensors(values []byte) func(io.Writer, map[string]string) error {
	return func(w io.Writer, metadata map[string]string) error {
		head, err := json.Marshal(map[string]any{"__metadata__": metadata})
		if err != nil {
			return err
		}
		text := append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...)
		for _, piece := range [][]byte{text[:50], text[50:51], text[51 : len(text)-30], text[len(text)-30:], values} {
			if _, err := w.Write(piece); err != nil {
				return err
			}
		}
		return nil
	}
}

func written(t testing.TB, record Record) (path string, content []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "checkpoint")
	must.Do(t, (*wholefile.Disk)(nil).WriteFile(path, func(file wholefile.File) error {
		return Write(file, record, safetensors(bytes.Repeat([]byte{7}, 5000)))
	}))
	content = testfiles.Read(t, path)
	return path, content
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path, content := written(t, example)
	file := must.Have(Read(path))(t)
	if diff := cmp.Diff(File{example, content}, file); diff != "" {
		t.Error(diff)
	}
}

// The SHA-256 is that of the file with zeros in its own place, as anybody can compute.
func TestSeal(t *testing.T) {
	_, content := written(t, example)
	_, stated, _ := bytes.Cut(content, []byte(`"sha256":"`))
	stated = stated[:64]
	text := string(stated)
	copy(stated, strings.Repeat("0", 64))
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != text {
		t.Errorf("it states %s, and is %x", text, sum)
	}
}

// Every flipped bit and every lost byte is noticed.
func TestReadNoticesDamage(t *testing.T) {
	path, content := written(t, example)
	check := func(what string, at int, damaged []byte) {
		t.Helper()
		testfiles.Write(t, path, string(damaged))
		_, err := Read(path)
		if damage := (*DamagedError)(nil); !errors.As(err, &damage) || damage.Path != path || !strings.Contains(err.Error(), path+" is damaged") {
			t.Errorf("%s at %d: %v", what, at, err)
		}
	}
	for at := 0; at < len(content); at += 23 {
		flipped := bytes.Clone(content)
		flipped[at] ^= 1 << (at % 8)
		check("flipped", at, flipped)
		check("cut off", at, content[:at])
	}
	testfiles.Remove(t, path)
	if _, err := Read(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

func TestOtherFormat(t *testing.T) {
	path, content := written(t, example)
	place := bytes.Index(content, []byte(`"format":"1"`))
	content[place+len(`"format":"`)] = '9'
	seal := content[bytes.Index(content, []byte(`"sha256":"`))+len(`"sha256":"`):][:64]
	copy(seal, strings.Repeat("0", 64))
	sum := sha256.Sum256(content)
	hex.Encode(seal, sum[:])
	testfiles.Write(t, path, string(content))
	_, err := Read(path)
	if damaged := (*DamagedError)(nil); errors.As(err, &damaged) || err == nil || !strings.HasPrefix(err.Error(), path+`: format: "9" there, "1" here`) {
		t.Error(err)
	}
}

// A disk that is full at any moment is an error.
func TestWriteErrors(t *testing.T) {
	full := errors.New("no space left")
	for name, file := range map[string]wholefile.File{
		"while streaming": failing{full, nil},
		"at the seal":     failing{nil, full},
	} {
		if err := Write(file, example, safetensors(nil)); !errors.Is(err, full) {
			t.Errorf("%s: %v", name, err)
		}
	}
	noSeal := func(w io.Writer, _ map[string]string) error { _, err := w.Write([]byte("{}")); return err }
	if err := Write(failing{}, example, noSeal); err == nil {
		t.Error("a file without a place for the SHA-256 was written")
	}
}

type failing struct{ writing, placing error }

func (f failing) Write(text []byte) (int, error)            { return len(text), f.writing }
func (f failing) WriteAt(text []byte, _ int64) (int, error) { return len(text), f.placing }
