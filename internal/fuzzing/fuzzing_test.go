package fuzzing

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// Mutants differ from their input and each other, longer and shorter ones among them, and leave
// the input as it was.
func TestMutants(t *testing.T) {
	input := []byte("\x93NUMPY\x01\x00 some header and values")
	before := bytes.Clone(input)
	different := map[string]bool{}
	longer, shorter := 0, 0
	for i := range 1000 {
		m := mutant(rand.New(rand.NewPCG(1, uint64(i))), input)
		different[string(m)] = true
		if len(m) > len(input) {
			longer++
		} else if len(m) < len(input) {
			shorter++
		}
	}
	if len(different) < 900 || longer < 100 || shorter < 100 {
		t.Errorf("of 1000 mutants %d different, %d longer, %d shorter", len(different), longer, shorter)
	}
	if !bytes.Equal(input, before) {
		t.Errorf("the input is %q now", input)
	}
	if m := mutant(rand.New(rand.NewPCG(1, 1)), nil); len(m) != 1 {
		t.Errorf("of nothing %q", m)
	}
}

// What a fuzzer wrote is read as it was.
func FuzzCorpus(f *testing.F) {
	folder := f.TempDir()
	f.Setenv(Corpus, folder)
	if err := os.Mkdir(filepath.Join(folder, f.Name()), 0o777); err != nil {
		f.Fatal(err)
	}
	want := "a \"b\"\n\x00\xff"
	if err := os.WriteFile(filepath.Join(folder, f.Name(), "1"), fmt.Appendf(nil, "go test fuzz v1\n[]byte(%q)\n", want), 0o666); err != nil {
		f.Fatal(err)
	}
	if inputs := found(f); len(inputs) != 1 || string(inputs[0]) != want {
		f.Errorf("%q", inputs)
	}
	f.Setenv(Mutants, "100")
	tried := 0
	Bytes(f, func(*testing.T, []byte) { tried++ })
	if tried != 101 {
		f.Errorf("%d inputs were tried", tried)
	}
}
