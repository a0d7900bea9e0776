package store

import "testing"

func TestID(t *testing.T) {
	for want, id := range map[string]ID{
		"subsampled/usps-mnist/iwdan/seed-1": {"subsampled", "usps-mnist", "iwdan", 1},
		"target-x/a-b/dann+wc/seed--12":      {"target-x", "a-b", "dann+wc", -12},
	} {
		if id.String() != want {
			t.Errorf("%#v became %s, want %s", id, id, want)
		}
	}
}
