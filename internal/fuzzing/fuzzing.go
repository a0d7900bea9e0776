// Package fuzzing tries what reads bytes with many inputs.
package fuzzing

import (
	"bytes"
	"hash/crc64"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"iwda/internal/input"
)

// Mutants is the variable of the environment with the number of mutants that are tried with each
// input, 0 by default. Without a look at what they cover, many more of them can be tried.
const Mutants = "IWDA_MUTANTS"

// Corpus is the variable with a folder of inputs that a fuzzer found, in which each function
// that fuzzes has a folder of its name. They are seeds, too.
const Corpus = "IWDA_CORPUS"

var table = crc64.MakeTable(crc64.ISO)

// Bytes fuzzes with the seeds of f: try is called with each input, and with mutants of it.
func Bytes(f *testing.F, try func(t *testing.T, content []byte)) {
	mutants, err := strconv.Atoi(os.Getenv(Mutants))
	if err != nil && os.Getenv(Mutants) != "" {
		f.Fatalf("%s: %v", Mutants, err)
	}
	for _, seed := range found(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		try(t, content)
		random := rand.New(rand.NewPCG(crc64.Checksum(content, table), 0))
		for range mutants {
			if t.Failed() {
				return
			}
			tryMutant(t, try, mutant(random, content))
		}
	})
}

// found reads the inputs of the corpus.
func found(f *testing.F) (inputs [][]byte) {
	files, err := filepath.Glob(filepath.Join(os.Getenv(Corpus), f.Name(), "*"))
	if err != nil || os.Getenv(Corpus) == "" {
		return nil
	}
	for _, file := range files {
		text, err := input.Read(file, input.Text)
		if err != nil {
			f.Fatal(err)
		}
		_, value, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
		content, err := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(value, "[]byte("), ")"))
		if err != nil {
			f.Fatalf("%s: %v", file, err)
		}
		inputs = append(inputs, []byte(content))
	}
	return inputs
}

// tryMutant shows a mutant with which try fails: the fuzzer itself shows what it is a mutant of.
func tryMutant(t *testing.T, try func(t *testing.T, content []byte), content []byte) {
	whole := false
	defer func() {
		if !whole || t.Failed() {
			t.Errorf("with the mutant %q", content)
		}
	}()
	try(t, content)
	whole = true
}

// mutant is an input with one to four edits: a byte or a bit changed, a part left out, put in again
// elsewhere, or overwritten by another.
func mutant(random *rand.Rand, content []byte) []byte {
	changed := bytes.Clone(content)
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
			part = bytes.Clone(part)
			changed = append(changed[:at], append(part, changed[at:]...)...)
		}
	}
	return changed
}
