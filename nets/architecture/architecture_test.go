package architecture

import (
	"slices"
	"testing"

	"iwda/internal/must"
)

func TestNamesAndInputs(t *testing.T) {
	taking := map[string]int{} // inputs of each network
	for input, most := range map[Input]string{SmallImages: "lenet", Vectors: "mlp", Photographs: "resnet50"} {
		networks := Taking(input)
		if !slices.Contains(networks, most) {
			t.Errorf("input %d is taken by %v, not by %s", input, networks, most)
		}
		for _, name := range networks {
			taking[name]++
		}
	}
	for _, name := range Names() {
		want := 1
		if name == string(TorchScript) || name == string(LeNet) {
			want = 2
		}
		if taking[name] != want {
			t.Errorf("%s takes %d inputs, want %d", name, taking[name], want)
		}
	}
	if len(taking) != len(Names()) {
		t.Errorf("by input %v, by name %v", taking, Names())
	}
	for _, name := range Names() {
		if a, err := Parse(name); err != nil || string(a) != name {
			t.Errorf("%s: %q, %v", name, a, err)
		}
	}
	must.Refuse(Parse("resnet"))(t, `"resnet"; there are lenet, mlp, linear, forest, boosting, perceptron, resnet18`)
}
