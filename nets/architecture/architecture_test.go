package architecture

import (
	"slices"
	"strings"
	"testing"
)

func TestEveryNetworkTakesOneInput(t *testing.T) {
	var taking []string
	for _, input := range []Input{SmallImages, Vectors, Photographs} {
		networks := Taking(input)
		if len(networks) == 0 {
			t.Errorf("no network takes input %d", input)
		}
		taking = append(taking, networks...)
	}
	if !slices.Equal(taking, Names()) {
		t.Errorf("by input %v, by name %v", taking, Names())
	}
	for _, name := range Names() {
		if a, err := Parse(name); err != nil || string(a) != name {
			t.Errorf("%s: %q, %v", name, a, err)
		}
	}
	if _, err := Parse("resnet"); err == nil || !strings.Contains(err.Error(), `"resnet"; there are lenet, mlp, resnet18`) {
		t.Errorf("no network's name: %v", err)
	}
}
