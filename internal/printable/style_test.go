package printable

import (
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// Colours are for terminals whose owner wants them, and what passes through a style steers nothing.
func TestStyled(t *testing.T) {
	screen := &Screen{File: os.Stderr}
	for _, test := range []struct {
		term, noColour string
		colours        bool
	}{{"xterm", "", true}, {"xterm", "1", false}, {"dumb", "", false}} {
		t.Setenv("TERM", test.term)
		t.Setenv("NO_COLOR", test.noColour)
		to, style := Styled(screen)
		if got := style.Bold("a\x1b[2J"); test.colours && (to != screen.File || got != "\x1b[1ma\\x1b[2J\x1b[0m") || !test.colours && (to != screen || got != "a\x1b[2J") {
			t.Errorf("%+v: %q", test, got)
		}
	}
	var b strings.Builder
	if to, style := Styled(&b); to != &b || style.Green("a") != "a" || Width(&b) != 80 {
		t.Error("a text is no terminal")
	}
}

func TestWrap(t *testing.T) {
	if got := Wrap("数字 数字 数字", 9, ""); got != "数字 数字\n数字" {
		t.Errorf("wide characters take two columns: %q", got)
	}
	text := "  – some words, one of which isverymuchlongerthanaline of them"
	for width := 12; width < 70; width++ {
		wrapped := Wrap(text, width, "    ")
		if strings.Join(strings.Fields(wrapped), " ") != strings.Join(strings.Fields(text), " ") || !strings.HasPrefix(wrapped, "  –") {
			t.Errorf("%d: %q", width, wrapped)
		}
		for i, line := range strings.Split(wrapped, "\n") {
			if utf8.RuneCountInString(line) > width && strings.Contains(strings.TrimSpace(line), " ") || i > 0 && !strings.HasPrefix(line, "    ") {
				t.Errorf("%d: %q", width, line)
			}
		}
	}
}

// What is too wide is broken, in sentences and in the last cells of tables.
func TestFold(t *testing.T) {
	for _, c := range []struct {
		width      int
		text, want string
	}{
		{20, "short\nas short\n", "short\nas short\n"},
		{20, "a sentence that is too long\n", "a sentence that is\n    too long\n"},
		{50, "column  kind    use that takes more room than there is left\n", "column  kind    use that takes more room than\n                there is left\n"},
		{30, "column  number  use that takes more room\n", "column  number\n    use that takes more room\n"},
		{20, "unended, and not written", ""},
	} {
		var b strings.Builder
		f := &Folder{to: &b, width: c.width}
		for _, part := range strings.SplitAfter(c.text, " ") {
			if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatal(n, err)
			}
		}
		if b.String() != c.want {
			t.Errorf("%q in %d columns: got %q, want %q", c.text, c.width, b.String(), c.want)
		}
	}
	if line := strings.Repeat("a word ", 100); fold(line, Fold(new(strings.Builder)).width) != strings.TrimRight(line, " ") {
		t.Error("what programs read is folded")
	}
}

// wrapped stands between a program and its terminal.
type wrapped struct{ io.Writer }

func (w wrapped) Unwrap() io.Writer { return w.Writer }

// A terminal is one behind what keeps errors of writing.
func TestScreenOf(t *testing.T) {
	screen := &Screen{File: os.Stderr}
	if screenOf(wrapped{wrapped{screen}}) != screen || screenOf(wrapped{os.Stderr}) != nil || screenOf(os.Stderr) != nil {
		t.Error("another screen")
	}
}
