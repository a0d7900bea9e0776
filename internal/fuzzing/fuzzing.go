// Package fuzzing tries what reads bytes with many inputs.
package fuzzing

import (
	"hash/crc64"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

// Mutants is the variable of the environment with the number of mutants that are tried with each
// input, 0 by default. To find out what an input covers takes ten times as long as to read it.
const Mutants = "IWDA_MUTANTS"

var table = crc64.MakeTable(crc64.ISO)

// Bytes fuzzes with the seeds of f: try is called with each input, and with mutants of it.
func Bytes(f *testing.F, try func(t *testing.T, input []byte)) {
	mutants, err := strconv.Atoi(os.Getenv(Mutants))
	if err != nil && os.Getenv(Mutants) != "" {
		f.Fatalf("%s: %v", Mutants, err)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		try(t, input)
		for i := range mutants {
			tryMutant(t, try, mutant(rand.New(rand.NewPCG(crc64.Checksum(input, table), uint64(i))), input))
		}
	})
}

// tryMutant shows an input with which try fails: the fuzzer keeps the one that it is a mutant of.
func tryMutant(t *testing.T, try func(t *testing.T, input []byte), input []byte) {
	whole := false
	defer func() {
		if !whole || t.Failed() {
			t.Errorf("with the mutant %q", input)
		}
	}()
	try(t, input)
	whole = true
}

// mutant is an input with one to four edits: a byte or a bit changed, a part left out, put in again
// elsewhere, or overwritten by another.
func mutant(random *rand.Rand, input []byte) []byte {
	changed := append([]byte(nil), input...)
	for range 1 + random.IntN(4) {
		if len(changed) == 0 {
			return append(changed, byte(random.Uint32()))
		}
		at, from := random.IntN(len(changed)), random.IntN(len(changed))
		part := changed[from:min(len(changed), from+1+random.IntN(16))]
		switch random.IntN(6) {
		case 0, 1:
			changed[at] = byte(random.Uint32())
		case 2:
			changed[at] ^= 1 << random.IntN(8)
		case 3:
			copy(changed[at:], part)
		case 4:
			changed = append(changed[:from], changed[from+len(part):]...)
		case 5:
			part = append([]byte(nil), part...)
			changed = append(changed[:at], append(part, changed[at:]...)...)
		}
	}
	return changed
}
