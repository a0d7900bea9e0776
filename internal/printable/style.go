package printable

import (
	"bytes"
	"io"
	"math"
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

// screenOf is the terminal that is written to by w, or by what it unwraps to; nil for none.
func screenOf(w io.Writer) *Screen {
	if outer, is := w.(interface{ Unwrap() io.Writer }); is {
		return screenOf(outer.Unwrap())
	}
	screen, _ := w.(*Screen)
	return screen
}

// Width is the number of characters in a line of w for text to read.
func Width(w io.Writer) int {
	if screen := screenOf(w); screen != nil {
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
	if screen := screenOf(w); screen != nil && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
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

// Folder is a writer that breaks lines that are too wide: a sentence between words, and of a row of a table,
// whose cells are two spaces or more apart, the last cell, which goes on below itself or on a line of its own.
type Folder struct {
	to    io.Writer
	width int
	line  []byte // what came of it
}

// Fold returns a Folder to the [Width] of a terminal. What programs read is not folded.
func Fold(w io.Writer) *Folder {
	if screenOf(w) == nil {
		return &Folder{to: w, width: math.MaxInt}
	}
	return &Folder{to: w, width: Width(w)}
}

// Write keeps what comes after the last line end.
func (f *Folder) Write(text []byte) (int, error) {
	f.line = append(f.line, text...)
	whole := bytes.LastIndexByte(f.line, '\n') + 1
	var b strings.Builder
	for line := range strings.Lines(string(f.line[:whole])) {
		b.WriteString(fold(strings.TrimSuffix(line, "\n"), f.width) + "\n")
	}
	f.line = f.line[whole:]
	_, err := io.WriteString(f.to, b.String())
	return len(text), err
}

func fold(line string, width int) string {
	const indent, room = "    ", 24
	if line = strings.TrimRight(line, " "); uniseg.StringWidth(line) <= width {
		return line
	}
	cell := strings.LastIndex(line, "  ")
	if cell < 0 || strings.TrimSpace(line[:cell]) == "" { // a sentence
		return Wrap(line, width, indent)
	}
	cell += len("  ")
	at := uniseg.StringWidth(line[:cell])
	if at+room > width {
		return strings.TrimRight(line[:cell], " ") + "\n" + Wrap(indent+line[cell:], width, indent)
	}
	return line[:cell] + strings.ReplaceAll(Wrap(line[cell:], width-at, ""), "\n", "\n"+strings.Repeat(" ", at))
}
