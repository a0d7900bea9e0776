package form

import (
	"strings"
	"testing"
)

func TestNamesAreParsed(t *testing.T) {
	for _, name := range ClassificationNames() {
		if f, err := ParseClassification(name); err != nil || string(f) != name {
			t.Errorf("%s: %q, %v", name, f, err)
		}
	}
	for _, name := range MMDNames() {
		if f, err := ParseMMD(name); err != nil || string(f) != name {
			t.Errorf("%s: %q, %v", name, f, err)
		}
	}
	if _, err := ParseClassification("released"); err == nil || !strings.Contains(err.Error(), `"released"; there are balanced, weighted-balanced`) {
		t.Errorf("a form of the MMD as a classification loss: %v", err)
	}
	if _, err := ParseMMD("balanced"); err == nil || !strings.Contains(err.Error(), "there are released, biased") {
		t.Errorf("a classification loss as a form of the MMD: %v", err)
	}
}
