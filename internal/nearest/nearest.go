// Package nearest finds the name that a misspelt one most likely stands for.
package nearest

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Name returns the name that a misspelt one most likely stands for, and "" where
// none is near. It allows one edit (see Distance) and one more for every four
// letters, but not one for each letter of the name; upper and lower case count as
// equal. The first of equally near names wins.
func Name(misspelt string, names []string) string {
	nearest, best := "", 2+utf8.RuneCountInString(misspelt)/4
	for _, name := range names {
		if d := Distance(strings.ToLower(misspelt), strings.ToLower(name)); d < best && d < utf8.RuneCountInString(name) {
			nearest, best = name, d
		}
	}
	return nearest
}

// Distance returns the smallest number of edits that turn a into b, where an edit
// inserts, deletes or replaces a letter or swaps two neighbours, and no letter is
// edited twice (the optimal string alignment distance).
func Distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	// previous, current are the rows i-1 and i of the table of distances between the
	// first i letters of a and the first j of b; beforePrevious is the row i-2.
	beforePrevious, previous, current := make([]int, len(to)+1), make([]int, len(to)+1), make([]int, len(to)+1)
	for j := range previous {
		previous[j] = j
	}
	for i := 1; i <= len(from); i++ {
		current[0] = i
		for j := 1; j <= len(to); j++ {
			replace := previous[j-1]
			if from[i-1] != to[j-1] {
				replace++
			}
			current[j] = min(previous[j]+1, current[j-1]+1, replace)
			if i > 1 && j > 1 && from[i-1] == to[j-2] && from[i-2] == to[j-1] {
				current[j] = min(current[j], beforePrevious[j-2]+1)
			}
		}
		beforePrevious, previous, current = previous, current, beforePrevious
	}
	return previous[len(to)]
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
