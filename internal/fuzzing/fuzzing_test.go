package fuzzing

import (
	"bytes"
	"math/rand/v2"
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
