package printable

import (
	"regexp"
	"strings"

	"iwda/internal/convert"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+=-]+$`)

// ShellWord returns the text as one word of a command of bash, zsh, fish and the shells of POSIX, whatever it holds.
func ShellWord(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// Command is a command line that a shell reads as these words.
func Command(words ...string) string { return strings.Join(convert.Each(words, ShellWord), " ") }
