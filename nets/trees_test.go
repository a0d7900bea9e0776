package nets_test

import (
	"slices"
	"testing"

	"iwda/learners/forest"
	"iwda/nets"
	"iwda/nets/architecture"
	"iwda/torch"
)

// A forest that has predicted predicts by the numbers that are loaded or set after that.
func TestForestChanges(t *testing.T) {
	settings := nets.Settings{RowShape: []int{1}, Classes: 2}
	torch.Tidy(func() {
		leaf := func(shares ...float32) forest.Forest {
			return forest.Forest{Trees: 1, Classes: 2, Nodes: make([]float32, forest.Fields), Shares: shares}
		}
		n, other := nets.NewTrees(architecture.Forest, settings), nets.NewTrees(architecture.Forest, settings)
		says := func(of forest.Forest) {
			t.Helper()
			_, logits := n.Forward(torch.FromSlice([]float32{0}, 1, 1), false)
			want := of.Logits([]float32{0}, 1, 1)
			if got := torch.ToSlice[float32](logits); !slices.Equal(got, []float32{float32(want[0]), float32(want[1])}) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		says(leaf(0.5, 0.5))
		other.Set(leaf(0.25, 0.75))
		values := map[string]torch.Tensor{}
		for _, e := range other.State() {
			values[e.Name] = e.Tensor
		}
		if err := n.State().Load(values); err != nil {
			t.Fatal(err)
		}
		says(leaf(0.25, 0.75))
		n.Set(leaf(0.875, 0.125))
		says(leaf(0.875, 0.125))
	})
}
