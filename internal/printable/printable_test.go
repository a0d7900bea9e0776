package printable

import (
	"strings"
	"testing"
)

func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"cat\tdog\n": "cat\tdog\n", "Vögel \u2713": "Vögel \u2713", "\x1b[2J\x07": `\x1b[2J\x07`, "a\rb": `a\x0db`, "\x9b31m": `\x9b31m`,
		"\u009b31m": `\u009b31m`, "a\u202eb\u2066": `a\u202eb\u2066`, "\ufffd": "\ufffd", "\x7f\x00": `\x7f\x00`, "ü\xffx": `ü\xffx`,
	} {
		if got := Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// A cell of a table is one line without tabs.
func TestLine(t *testing.T) {
	for text, want := range map[string]string{"a\tb": `a\tb`, "c\r\nd\n": `c\x0d\nd\n`, "e\x1b\u2028f": `e\x1b\u2028f`, "Vögel": "Vögel"} {
		if got := Line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestFirstTen(t *testing.T) {
	parts := strings.Split("abcdefghijkl", "")
	for n, want := range map[int]string{0: "", 1: "a", 10: "a, b, c, d, e, f, g, h, i, j", 12: "a, b, c, d, e, f, g, h, i, j, 2 more"} {
		if got := FirstTen(parts[:n]); got != want {
			t.Errorf("%d parts: %q, want %q", n, got, want)
		}
	}
	if parts[10] != "k" {
		t.Errorf("the list was written over: %q", parts)
	}
}

func TestAnd(t *testing.T) {
	for want, parts := range map[string][]string{"": nil, "a": {"a"}, "a and b": {"a", "b"}, "a, b and c": {"a", "b", "c"}} {
		if got := And(parts); got != want {
			t.Errorf("%q: %q, want %q", parts, got, want)
		}
		if got, want := Or(parts), strings.Replace(want, " and ", " or ", 1); got != want {
			t.Errorf("%q: %q, want %q", parts, got, want)
		}
	}
}
