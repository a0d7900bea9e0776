package config

import "testing"

func TestParseMethod(t *testing.T) {
	for _, want := range []Method{
		{"source-only", NoAlignment, NoWeights, false, false},
		{"dann", DANN, NoWeights, false, false},
		{"iwdan", DANN, EstimatedWeights, true, true},
		{"iwdan-o", DANN, OracleWeights, true, true},
		{"cdan", CDAN, NoWeights, false, false},
		{"iwcdan-o", CDAN, OracleWeights, true, true},
		{"iwcdan-e", CDANE, EstimatedWeights, true, true},
		{"iwjan", JAN, EstimatedWeights, true, true},
		{"dann+wc", DANN, EstimatedWeights, true, false},
		{"dann+wda-o", DANN, OracleWeights, false, true},
		{"cdan+wda", CDAN, EstimatedWeights, false, true},
		{"source-only@linear", NoAlignment, NoWeights, false, false},
	} {
		if got, ok := ParseMethod(want.Name); !ok || got != want {
			t.Errorf("%s: got %+v, want %+v", want.Name, got, want)
		}
	}
	for name, want := range map[string]string{"IWCDAN-E-O": "iwcdan-e-o", "iwdan@Big": "iwdan@big"} {
		if got, ok := ParseMethod(name); !ok || got.Name != want {
			t.Errorf("%s: got %+v", name, got)
		}
	}
	for _, none := range []string{"", "iwdan+wc", "iwdan-linear", "dan-o", "dann@", "dann@a/b", "@linear"} {
		if got, ok := ParseMethod(none); ok {
			t.Errorf("%q: got %+v", none, got)
		}
	}
}

func TestMethodNamesDiffer(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range MethodNames() {
		if seen[name] {
			t.Errorf("two methods are called %s", name)
		}
		seen[name] = true
	}
	if len(seen) < 23 {
		t.Errorf("%d methods, want 23 or more", len(seen))
	}
}

func TestBase(t *testing.T) {
	for name, want := range map[string]string{"source-only": "", "dann": "", "iwdan": "dann", "iwcdan-e-o": "cdan-e", "cdan+wc": "cdan"} {
		method, _ := ParseMethod(name)
		if got := method.Base(); got != want {
			t.Errorf("base of %s: got %q, want %q", name, got, want)
		}
	}
}
