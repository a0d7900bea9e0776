package printable

import (
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"
	"golang.org/x/term"
)

// The width of what is no terminal, or does not tell, and the most that is easy to read.
const (
	usualWidth = 80
	mostWidth  = 100
)

// Width is the number of characters in a line of w for text to read.
func Width(w io.Writer) int {
	if screen, is := w.(*Screen); is {
		if width, _, err := term.GetSize(int(screen.File.Fd())); err == nil && width > 0 {
			return min(width, mostWidth)
		}
	}
	return usualWidth
}

// Style sets parts of a text off on a terminal; the zero Style leaves all as it is.
type Style struct{ colours bool }

// Styled returns where styled text is written to instead of w, and its style: w and none, unless it is a
// terminal that shows colours to somebody who wants them (NO_COLOR is unset or empty). What
// passes through a style is [Text] then.
func Styled(w io.Writer) (io.Writer, Style) {
	if screen, is := w.(*Screen); is && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		return screen.File, Style{true}
	}
	return w, Style{}
}

// Plain returns text that is not set off.
func (s Style) Plain(text string) string {
	if !s.colours {
		return text
	}
	return Text(text)
}

// These set a text off.
func (s Style) Bold(text string) string   { return s.paint("1", text) }
func (s Style) Faint(text string) string  { return s.paint("2", text) }
func (s Style) Green(text string) string  { return s.paint("32", text) }
func (s Style) Yellow(text string) string { return s.paint("33", text) }

func (s Style) paint(code, text string) string {
	if !s.colours {
		return text
	}
	return "\x1b[" + code + "m" + Text(text) + "\x1b[0m"
}

// Wrap breaks a text between words into lines of at most a width in columns, of which all but the
// first begin with the indentation. A longer word has a line of its own.
func Wrap(text string, width int, indent string) string {
	var b strings.Builder
	b.WriteString(text[:len(text)-len(strings.TrimLeft(text, " "))])
	at, first := b.Len(), true
	for word := range strings.FieldsSeq(text) {
		n := uniseg.StringWidth(word)
		switch {
		case first:
		case at+1+n > width:
			b.WriteString("\n" + indent)
			at = uniseg.StringWidth(indent)
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at, first = at+n, false
	}
	return b.String()
}
