package datasets

import "testing"

func TestBatchRows(t *testing.T) {
	for _, c := range []struct {
		asked, rows int
		shape       []int
		want        int
	}{
		{500, 1000, []int{1, 28, 28}, 500}, {500, 300, []int{7}, 300}, {1_000_000, -1, []int{3, 224, 224}, 55},
		{1_000_000, 1 << 40, []int{8}, 1_000_000}, {36, 0, []int{5}, 1}, {36, -1, []int{1 << 24}, 1},
	} {
		if got := BatchRows(c.asked, c.rows, c.shape); got != c.want {
			t.Errorf("%d of %d rows of shape %v: %d, want %d", c.asked, c.rows, c.shape, got, c.want)
		}
	}
}
