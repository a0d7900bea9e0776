// Package printable keeps what strangers wrote, the names of classes, ids and files, from steering
// the terminal that it is shown on.
package printable

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/term"
)

// Text returns a text in which control characters but line feeds and tabs, marks that turn the
// direction of writing, and bytes that are no UTF-8 are spelt out, as in \x1b[2J.
func Text(text string) string {
	steers := func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
	}
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch _, size := utf8.DecodeRuneInString(text[i:]); {
		case r == utf8.RuneError && size == 1 || steers(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case steers(r) && r != utf8.RuneError:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Line is [Text] in which tabs and line ends are spelt out too, as in \t: a cell of a table.
func Line(text string) string { return lineEnds.Replace(Text(text)) }

var lineEnds = strings.NewReplacer("\n", `\n`, "\t", `\t`, "\u2028", `\u2028`, "\u2029", `\u2029`)

// FirstTen lists parts, the first ten of them.
func FirstTen(parts []string) string {
	const shown = 10
	if more := len(parts) - shown; more > 0 {
		parts = append(slices.Clip(parts[:shown]), fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, ", ")
}

// And lists parts as a sentence does, as in a, b and c.
func And(parts []string) string { return listed(parts, " and ") }

// Or lists parts as And does: a, b or c.
func Or(parts []string) string { return listed(parts, " or ") }

func listed(parts []string, before string) string {
	last := len(parts) - 1
	if last < 1 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:last], ", ") + before + parts[last]
}

// Count is a number of things, of which the noun names one.
func Count(n int, noun string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(noun, "s"), strings.HasSuffix(noun, "tch"):
		noun += "es"
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// Sentence begins and ends a text as one.
func Sentence(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// Screen is a terminal on which [Text] of what is written appears.
type Screen struct{ File *os.File }

// Write writes whole texts: a character that two calls share is taken for bytes.
func (s *Screen) Write(text []byte) (int, error) {
	if _, err := s.File.WriteString(Text(string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

// IsTerminal reports whether a file is a terminal.
func IsTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }
