package printable

import (
	"regexp"
	"strings"

	"iwda/internal/convert"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+=-]+$`)

// ShellWord returns the text as one word of a shell's command, whatever it holds.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return Quoted(text)
}

// Quoted is a text between single quotes, for bash, zsh, fish and the shells of POSIX.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// Command is a command line that a shell reads as these words.
func Command(words ...string) string { return strings.Join(convert.Each(words, ShellWord), " ") }
