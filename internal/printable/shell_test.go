package printable

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"iwda/internal/must"
)

// A shell reads words as they were.
func TestShellWord(t *testing.T) {
	words := []string{"", "plain-1.0", "a b", "it's", `"$HOME" \`, "a\nb", "`id`", "-n", "*", "~", "ä", "!x", "a;b&c|d>e", "\t"}
	script := "printf '%s\\0'"
	for _, word := range words {
		script += " " + ShellWord(word)
	}
	out := must.Have(exec.Command("bash", "-c", script).Output())(t)
	if got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"); !slices.Equal(got, words) {
		t.Errorf("got %q, want %q", got, words)
	}
}

// A shell reads a command line as the words of which it was made.
func TestCommand(t *testing.T) {
	words := []string{"a", "", "two words", "it's", "$HOME", "*", "~", "#", "a\nb", "é", "KEY=[1, 2]", "-o"}
	if got := Command("iwrun", "adapt", "a/b.csv", "--set=x"); got != "iwrun adapt a/b.csv --set=x" {
		t.Errorf("%s", got)
	}
	text, err := exec.Command("sh", "-c", `for word in `+Command(words...)+`; do printf '%s|' "$word"; done`).Output()
	if want := strings.Join(words, "|") + "|"; err != nil || string(text) != want {
		t.Errorf("%q, want %q, %v", text, want, err)
	}
}
