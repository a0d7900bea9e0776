package datasets

import (
	"slices"
	"testing"

	"iwda/internal/must"
)

// grouped is a set whose rows belong together.
type grouped struct {
	Set
	of []int
}

func (g grouped) Groups() []int { return g.of }

// Rows of joined sets are those of each in turn, and know it through views; groups of two sets are the same by their numbers.
func TestJoin(t *testing.T) {
	set := func(name string, values ...float32) Set {
		var labels Labels
		for _, v := range values {
			labels.Add(int(v)%2, v > 1)
		}
		return must.Have(NewFeatures(name, values, labels, []string{"a", "b"}))(t)
	}
	first, second := set("first", 1, 2, 3), set("second", 5, 4)
	if Join(first) != first || PartsOf(first) != nil {
		t.Error("one set is joined")
	}
	all := Join(Subset(first, []int{2, 0}), second)
	if all.Name() != "first+second" || all.Len() != 4 || GroupsOf(all) != nil {
		t.Errorf("%s of %d rows", all.Name(), all.Len())
	}
	view := Subset(all, []int{3, 0, 2, 1})
	value := make([]float32, 1)
	for i, want := range []float32{4, 3, 5, 1} {
		view.CopyRow(value, i)
		if class, known := view.Label(i); value[0] != want || known != (want > 1) || known && class != int(want)%2 {
			t.Errorf("row %d: %v of class %d, %v, want %v", i, value, class, known, want)
		}
	}
	if parts := PartsOf(view); !slices.Equal(parts, []int{1, 0, 1, 0}) {
		t.Errorf("parts %v", parts)
	}
	joined := Join(grouped{first, []int{7, 7, 8}}, second, grouped{second, []int{7, 8}})
	if groups := GroupsOf(joined); !slices.Equal(groups, []int{7, 7, 8, 9, 10, 7, 8}) {
		t.Errorf("groups %v", groups)
	}
}
