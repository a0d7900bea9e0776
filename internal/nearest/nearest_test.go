package nearest

import "testing"

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"epochs", "epochs", 0},
		{"epohcs", "epochs", 1}, // swap
		{"epoch", "epochs", 1},  // insert
		{"eepochs", "epochs", 1},
		{"epocks", "epochs", 1}, // replace
		{"ca", "abc", 3},        // 2 if a swapped pair could be edited again
		{"kitten", "sitting", 3},
		{"ä", "a", 1}, // letters, not bytes
	} {
		if got := Distance(test.a, test.b); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.a, test.b, got, test.want)
		}
		if got := Distance(test.b, test.a); got != test.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", test.b, test.a, got, test.want)
		}
	}
}

func TestName(t *testing.T) {
	for _, test := range []struct {
		misspelt string
		names    []string
		want     string
	}{
		{"IWDNA", []string{"dann", "iwdan", "iwdan-o"}, "iwdan"},
		{"iwcdn-o", []string{"iwdan-o", "iwcdan", "iwcdan-o"}, "iwcdan-o"},
		{"ääx", []string{"bbx"}, ""},   // a letter of two bytes is one
		{"x", []string{"a", "bc"}, ""}, // a name is not near where no letter is left of it
		{"svhn-mnist", []string{"mnist-usps", "usps-mnist"}, ""},
		{"lenet", nil, ""},
	} {
		if got := Name(test.misspelt, test.names); got != test.want {
			t.Errorf("Name(%q, %v) = %q, want %q", test.misspelt, test.names, got, test.want)
		}
	}
}

func TestSuggestion(t *testing.T) {
	names := []string{"dann", "iwdan"}
	if got, want := Suggestion("dan", names), `did you mean "dann"?`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := Suggestion("tomato", append(names, names...)), "choose from dann, iwdan"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
