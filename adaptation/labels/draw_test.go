package labels

import (
	"math"
	"slices"
	"strconv"
	"testing"
)

// drawn draws from so many rows, whose confidences are those of a function.
func drawn(rows, n int, seed int64, confidence func(i int) float64) []Row {
	d := NewDraw(n, seed)
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
	first := ids(drawn(1000, 50, 1, sure))
	if again := ids(drawn(1000, 50, 1, rising)); !slices.Equal(first, again) {
		t.Errorf("%v, by other predictions %v", first, again)
	}
	if more := ids(drawn(1000, 80, 1, sure)); len(more) != 80 || !slices.Equal(more[:50], first) {
		t.Errorf("80 rows are %v, 50 were %v", more, first)
	}
	if other := ids(drawn(1000, 50, 2, sure)); slices.Equal(first, other) {
		t.Error("another seed draws the same")
	}
	for n, want := range map[int]int{0: 0, 1: 1, 7: 7, 12: 7} {
		got := ids(drawn(7, n, 1, sure))
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
		for place, id := range ids(drawn(10, 3, int64(seed), func(i int) float64 { return 0.7 })) {
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
