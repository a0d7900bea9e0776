package store

import "testing"

func TestParseID(t *testing.T) {
	for text, want := range map[string]ID{
		"subsampled/usps-mnist/iwdan/seed-1": {"subsampled", "usps-mnist", "iwdan", 1},
		"target-x/a-b/dann+wc/seed--12":      {"target-x", "a-b", "dann+wc", -12},
		"full/a-b/dann/seed-0":               {"full", "a-b", "dann", 0},
	} {
		if id, err := ParseID(text); err != nil || id != want || id.String() != text {
			t.Errorf("%s became %#v, %v", text, id, err)
		}
	}
	for text, want := range map[string]string{
		"":                   `run id "": it must have the form variant/task/method/seed-n`,
		"full/a-b/dann":      `run id "full/a-b/dann": it must have the form variant/task/method/seed-n`,
		"full//dann/seed-1":  `run id "full//dann/seed-1": it must have the form variant/task/method/seed-n`,
		"full/a/dann/1":      `run id "full/a/dann/1": its last part must be seed-n with a whole number n, not "1"`,
		"full/a/dann/seed-x": `run id "full/a/dann/seed-x": its last part must be seed-n with a whole number n, not "seed-x"`,
		"full/a/dann/seed-01": `run id "full/a/dann/seed-01": its last part must be seed-n with a whole number n, ` +
			`not "seed-01"`,
	} {
		if _, err := ParseID(text); err == nil || err.Error() != want {
			t.Errorf("got\n%v\nwant\n%s", err, want)
		}
	}
}
