package nearest

import "testing"

func TestName(t *testing.T) {
	for _, test := range []struct {
		misspelt string
		names    []string
		want     string
	}{
		{"IWDNA", []string{"dann", "iwdan", "iwdan-o"}, "iwdan"},
		{"epohcs", []string{"epochs"}, "epochs"}, // swapped letters are two edits
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
