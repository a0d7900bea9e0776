// Package nearest finds the name that a misspelt one most likely stands for.
package nearest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/xrash/smetrics"
)

// Name returns the name that a misspelt one most likely stands for, and "" where
// none is near. It allows one edit (Levenshtein: a letter that is inserted, deleted or
// replaced; one beyond ASCII counts as its bytes) and one more for every four
// letters, but not one for each letter of the name; upper and lower case count as
// equal. The first of equally near names wins.
func Name(misspelt string, names []string) string {
	nearest, best := "", 2+utf8.RuneCountInString(misspelt)/4
	for _, name := range names {
		if d := smetrics.WagnerFischer(strings.ToLower(misspelt), strings.ToLower(name), 1, 1, 1); d < best && d < utf8.RuneCountInString(name) {
			nearest, best = name, d
		}
	}
	return nearest
}

// Suggestion returns the end of the message about an unknown name: the nearest of the
// valid names, or all of them, each once.
func Suggestion(unknown string, valid []string) string {
	if nearest := Name(unknown, valid); nearest != "" {
		return fmt.Sprintf("did you mean %q?", nearest)
	}
	var once []string
	for _, name := range valid {
		if !slices.Contains(once, name) {
			once = append(once, name)
		}
	}
	return "choose from " + strings.Join(once, ", ")
}
