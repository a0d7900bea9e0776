package table

import (
	"strings"
	"time"
)

// The ways in which dates are written that can be read in one way alone, and the times after them.
var (
	dayForms   = []string{time.DateOnly, "2006/01/02", "02.01.2006", "02-Jan-2006"}
	clockForms = []string{"15:04", "15:04:05", "15:04Z07:00", "15:04:05Z07:00"}
	namedForms = []string{"Jan 2, 2006", "January 2, 2006", "2 Jan 2006", "2 January 2006"} // without a time
)

// ParseTime reads a date, or a date and a time with fractions of a second, in UTC where no zone is named.
func ParseTime(text string) (at time.Time, is bool) {
	text = strings.TrimSpace(text)
	if len(text) < len(time.DateOnly) { // as nearly all numbers are, of which it is asked too
		return time.Time{}, false
	}
	for _, form := range dayForms {
		mark := strings.IndexAny(form, "-/.")
		if len(text) < len(form) || text[mark] != form[mark] {
			continue
		}
		day, clock := text[:len(form)], text[len(form):]
		if clock == "" {
			at, err := time.Parse(form, day)
			return at, err == nil
		}
		if clock[0] != ' ' && clock[0] != 'T' {
			continue
		}
		for _, clockForm := range clockForms {
			if at, err := time.Parse(form+" "+clockForm, day+" "+clock[1:]); err == nil {
				return at.UTC(), true
			}
		}
	}
	if len(text) <= len("September 30, 2006") && text[len(text)-len(" 2006")] == ' ' {
		for _, form := range namedForms {
			if at, err := time.Parse(form, text); err == nil {
				return at, true
			}
		}
	}
	return time.Time{}, false
}

// daysOf returns the days since 1970, with the part of a day that a time stands for.
func daysOf(text string) (days float64, is bool) {
	at, is := ParseTime(text)
	const day = 24 * 60 * 60 // seconds
	return (float64(at.Unix()) + float64(at.Nanosecond())/1e9) / day, is
}

// Day is the date of a number of days since 1970.
func Day(days float64) string {
	return time.Unix(0, 0).UTC().Add(time.Duration(days * float64(24*time.Hour))).Format(time.DateOnly)
}
