package datasets_test

import (
	"fmt"
	"math"
	"testing"

	"iwda/datasets"
	"iwda/internal/must"
)

// TestStreamIsStable pins the generator's state to the documented hash: sha256sum
// of the bytes 00 00 00 00 00 00 00 01 and the word subsample begins with these
// two words.
func TestStreamIsStable(t *testing.T) {
	state := must.Have(datasets.Stream(1, "subsample").MarshalBinary())(t)
	if got, want := fmt.Sprintf("%x", state[len(state)-16:]), "6cda720c632a137c67882aacde9317a1"; got != want {
		t.Errorf("state %s, want %s", got, want)
	}
}

func TestStreamsDiffer(t *testing.T) {
	first := map[uint64]string{}
	for _, seed := range []int64{-1, 0, 1, 2, math.MaxInt64, math.MinInt64} {
		for _, purpose := range []string{"", "subsample", "source batches", "target batches"} {
			name := fmt.Sprint(seed, purpose)
			value := datasets.Stream(seed, purpose).Uint64()
			if former, taken := first[value]; taken {
				t.Errorf("the streams %q and %q begin alike", name, former)
			}
			first[value] = name
		}
	}
}
