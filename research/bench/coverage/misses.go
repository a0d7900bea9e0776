package main

import (
	"fmt"
	"strings"
)

// Of intervals 93 to 97 in 100 should hold, of sets of 90% at least 88, and tests should reject in at most 7.
const (
	leastHeld, mostHeld = 0.93, 0.97
	leastInSets         = 0.88
	mostRejected        = 0.07
)

// misses is a table of how many cells of a grid hold as often as they should, and of those that do not by name.
func misses(all []cell, counted map[string]tally) string {
	text := "| number | should be | cells | so | above | below |\n| --- | --- | ---: | ---: | --- | --- |\n"
	for _, number := range []struct {
		name        string
		least, most float64
		rate        func(t tally) (rate, of float64)
	}{
		{"shares", leastHeld, mostHeld, func(t tally) (held, of float64) {
			for _, count := range t.Shares {
				held += float64(count)
			}
			return held, float64(t.Draws * len(t.Shares))
		}},
		{"all shares", leastHeld, mostHeld, func(t tally) (held, of float64) { return float64(t.Joint[0]), float64(t.Draws) }},
		{"accuracy", leastHeld, mostHeld, nil},
		{"precision", leastHeld, mostHeld, nil},
		{"sets of 90%", leastInSets, 1, nil},
		{"label shift rejects", 0, mostRejected, func(t tally) (rejected, of float64) { return float64(t.Rejected), float64(t.Tested) }},
		{"means rejects", 0, mostRejected, nil},
		{"columns rejects", 0, mostRejected, nil},
		{"Kolmogorov-Smirnov rejects", 0, mostRejected, nil},
	} {
		var cells, so, wide int
		var above, below []string
		for _, c := range all {
			t, is := counted[c.String()]
			if !is {
				continue
			}
			held, of := t.More[number.name].Held, t.More[number.name].Of
			if number.rate != nil {
				held, of = number.rate(t)
			}
			if of == 0 {
				continue
			}
			cells++
			rate := held / of
			named := fmt.Sprintf("%v: %.1f", c, 100*rate)
			switch {
			case rate < number.least:
				below = append(below, named)
			case rate <= number.most:
				so++
			case number.least > 0: // too wide, which misleads nobody
				wide++
			default:
				above = append(above, named)
			}
		}
		if cells == 0 {
			continue
		}
		high := strings.Join(above, "; ")
		if wide > 0 {
			high = fmt.Sprint(wide)
		}
		text += fmt.Sprintf("| %s | %.0f to %.0f%% | %d | %d | %s | %s |\n", number.name, 100*number.least, 100*number.most, cells, so, high, strings.Join(below, "; "))
	}
	return text
}
