package datasets_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"iwda/datasets"
)

func TestWithReplacementIsUniform(t *testing.T) {
	const n, draws = 7, 70000
	rows := make([]int, draws)
	datasets.NewWithReplacement(n, datasets.Stream(1, "test")).Next(rows)
	var times [n]float64
	repeats := 0
	for i, row := range rows {
		times[row]++
		if i > 0 && row == rows[i-1] {
			repeats++
		}
	}
	// Five standard deviations of a binomial, and of the pairs in a row.
	tolerance := 5 * math.Sqrt(draws*(1.0/n)*(1-1.0/n))
	for row, got := range times {
		if math.Abs(got-draws/n) > tolerance {
			t.Errorf("row %d drawn %v times of %d, want about %d", row, got, draws, draws/n)
		}
	}
	if math.Abs(float64(repeats)-draws/n) > tolerance {
		t.Errorf("%d of %d rows equal the one before, want about %d", repeats, draws, draws/n)
	}
}

func TestWithReplacementRestores(t *testing.T) {
	sampler := datasets.NewWithReplacement(1000, datasets.Stream(1, "source batches"))
	sampler.Next(make([]int, 77))
	state, err := sampler.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]int, 500), make([]int, 500)
	sampler.Next(want)

	restored := datasets.NewWithReplacement(1000, datasets.Stream(9, "another"))
	restored.Next(make([]int, 3))
	if err := restored.UnmarshalBinary(state); err != nil {
		t.Fatal(err)
	}
	restored.Next(got)
	if !slices.Equal(got, want) {
		t.Error("the restored sampler draws other rows")
	}

	other := datasets.NewWithReplacement(999, datasets.Stream(1, "source batches"))
	if err := other.UnmarshalBinary(state); err == nil {
		t.Error("no error for the state of a sampler of another number of rows")
	}
	for length := range state {
		if err := restored.UnmarshalBinary(state[:length]); err == nil {
			t.Errorf("no error for %d of %d bytes of state", length, len(state))
		}
	}
}

// TestStreamIsStable pins the generator's state to the documented hash: sha256sum
// of the bytes 00 00 00 00 00 00 00 01 and the word subsample begins with these
// two words.
func TestStreamIsStable(t *testing.T) {
	state, err := datasets.Stream(1, "subsample").MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
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

func ExampleWithReplacement() {
	sampler := datasets.NewWithReplacement(100, datasets.Stream(1, "source batches"))
	rows := make([]int, 5)
	sampler.Next(rows)
	state, _ := sampler.MarshalBinary()
	sampler.Next(rows)
	fmt.Println(rows)

	resumed := datasets.NewWithReplacement(100, datasets.Stream(1, "source batches"))
	if err := resumed.UnmarshalBinary(state); err != nil {
		fmt.Println(err)
		return
	}
	resumed.Next(rows)
	fmt.Println(rows)
	// Output:
	// [17 14 36 1 41]
	// [17 14 36 1 41]
}
