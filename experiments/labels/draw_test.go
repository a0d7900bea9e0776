package labels

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"testing"
)

// drawn draws from so many rows, whose confidences are those of a function.
func drawn(rows, n int, stratified bool, seed int64, confidence func(i int) float64) []Row {
	d := NewDraw(n, stratified, seed)
	for i := range rows {
		d.Add(strconv.Itoa(i), "cat", confidence(i))
	}
	return d.Rows()
}

func ids(rows []Row) (ids []string) {
	for _, r := range rows {
		ids = append(ids, r.ID)
	}
	return ids
}

// What is drawn depends on the seed alone, not on predictions, and more rows are the same rows with
// others after them.
func TestDraw(t *testing.T) {
	sure := func(int) float64 { return 1 }
	rising := func(i int) float64 { return float64(i) / 1000 }
	first := ids(drawn(1000, 50, false, 1, sure))
	if again := ids(drawn(1000, 50, false, 1, rising)); !slices.Equal(first, again) {
		t.Errorf("%v, by other predictions %v", first, again)
	}
	if more := ids(drawn(1000, 80, false, 1, sure)); len(more) != 80 || !slices.Equal(more[:50], first) {
		t.Errorf("80 rows are %v, 50 were %v", more, first)
	}
	if other := ids(drawn(1000, 50, false, 2, sure)); slices.Equal(first, other) {
		t.Error("another seed draws the same")
	}
	for n, want := range map[int]int{0: 0, 1: 1, 7: 7, 12: 7} {
		got := ids(drawn(7, n, false, 1, sure))
		slices.Sort(got)
		if len(got) != want || len(slices.Compact(got)) != want {
			t.Errorf("%d of 7 rows: %v", n, got)
		}
	}
}

// Every row is drawn as often as any other, in every place.
func TestDrawIsEven(t *testing.T) {
	const draws = 20_000
	drawnTimes, firstTimes := make([]float64, 10), make([]float64, 10)
	for seed := range draws {
		for place, id := range ids(drawn(10, 3, false, int64(seed), func(i int) float64 { return 0.7 })) {
			row, _ := strconv.Atoi(id)
			drawnTimes[row]++
			if place == 0 {
				firstTimes[row]++
			}
		}
	}
	for row := range drawnTimes {
		for _, c := range []struct{ times, share float64 }{{drawnTimes[row], 0.3}, {firstTimes[row], 0.1}} {
			if deviation := math.Sqrt(draws * c.share * (1 - c.share)); math.Abs(c.times-draws*c.share) > 5*deviation {
				t.Errorf("row %d: %v times of %d, want a share of %v", row, c.times, draws, c.share)
			}
		}
	}
}

// In strata, each has two rows at least and its share of all; those that are not sure have more
// than their share, and the beginning of the file has all of them.
func TestDrawInStrata(t *testing.T) {
	confidence := func(i int) float64 {
		switch {
		case i == 0:
			return 0.3 // a stratum of its own, which is too small
		case i < 100:
			return 0.6
		}
		return 0.999
	}
	rows := drawn(1000, 50, true, 1, confidence)
	count, share := map[string]int{}, map[string]float64{}
	for _, r := range rows {
		count[r.Stratum]++
		share[r.Stratum] = r.Share
	}
	if fmt.Sprint(share) != "map[0-0.8:0.1 0.99-1:0.9]" {
		t.Errorf("strata %v", share)
	}
	if n := len(rows); n != 50 || count["0-0.8"] < 15 || count["0-0.8"] > 35 {
		t.Errorf("%d rows, %v", n, count)
	}
	// As many as are asked for, whatever the strata round to or lack, and two of each at least.
	for _, n := range []int{1, 3, 4, 11, 300, 950, 999} {
		if got := len(drawn(1000, n, true, 1, confidence)); got != max(4, n) {
			t.Errorf("%d rows, want %d", got, n)
		}
	}
	begin := map[string]int{}
	for _, r := range rows[:10] {
		begin[r.Stratum]++
	}
	if begin["0-0.8"] < 3 || begin["0.99-1"] < 3 {
		t.Errorf("the first ten: %v", begin)
	}
	all := drawn(1000, 2000, true, 1, confidence)
	if got := ids(all); len(got) != 1000 {
		t.Errorf("%d rows of 1000", len(got))
	}
	if rows := drawn(5, 1, true, 1, func(int) float64 { return 1 }); len(rows) != 2 {
		t.Errorf("a stratum has %d rows", len(rows))
	}
}
