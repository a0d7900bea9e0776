package table

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// How people write numbers beside the way that programs do. Each can be read in one way alone.
var (
	bound     = regexp.MustCompile(`^[<>≤≥]=? *`)                                           // <0.5, of what is below what can be measured
	account   = regexp.MustCompile(`^\(([^()+-]*\d[^()+-]*)\)$`)                            // (12.50), less than zero
	parted    = regexp.MustCompile(`^[+-]?[1-9]\d{0,2}([` + blanks + `]\d{3})+([.,]\d+)?$`) // 1 234 567.5
	blankless = strings.NewReplacer(" ", "", "'", "", "’", "", "\u00a0", "", "\u202f", "")
	clock     = regexp.MustCompile(`^([+-]?)(\d{1,3}):(\d\d?)(:\d\d?(\.\d+)?)?$`)
	halfDays  = []string{"3:04 PM", "3:04PM", "3:04:05 PM"}
	pair      = regexp.MustCompile(`^\d{1,4} ?[/'x×] ?\d{1,4}"?$`)    // 125/80, 5'4", 20x30
	twoDates  = regexp.MustCompile(`^\d{1,2}/\d{1,2}/(\d{2}|\d{4})$`) // which is the day, and which the month
)

const blanks = " '’\u00a0\u202f" // that may stand between thousands

// plain writes a number as programs do: the bound of a value that is only known to be below or above it, a minus
// for the parentheses of accounts and for the typeset sign, and nothing between thousands. Any other text stays
// as it is.
func plain(text string) string {
	if isBound(text) {
		text = text[len(bound.FindString(text)):]
	}
	if strings.HasPrefix(text, "(") {
		if in := account.FindStringSubmatch(text); in != nil {
			text = "-" + strings.TrimSpace(in[1])
		}
	}
	if rest, is := strings.CutPrefix(text, "−"); is {
		text = "-" + rest
	}
	if strings.ContainsAny(text, blanks) && parted.MatchString(text) {
		text = blankless.Replace(text)
	}
	return text
}

// isBound tells whether a number, without blanks before it, is only a bound.
func isBound(text string) bool {
	return strings.HasPrefix(text, "<") || strings.HasPrefix(text, ">") || strings.HasPrefix(text, "≤") || strings.HasPrefix(text, "≥")
}

// hoursOf returns a time of the day in hours, and what else has hours and minutes: with seconds, or with a sign. Without
// these, 4:3 may be a ratio.
func hoursOf(text string) (hours float64, is bool) {
	if !strings.Contains(text, ":") || len(text) > len("-100:00:00.000000000") {
		return 0, false
	}
	if in := clock.FindStringSubmatch(strings.Replace(text, "−", "-", 1)); in != nil {
		hours, _ = strconv.ParseFloat(in[2], 64)
		minutes, _ := strconv.ParseFloat(in[3], 64)
		seconds, _ := strconv.ParseFloat(strings.TrimPrefix(in[4], ":"), 64) // 0 if there are none
		if minutes >= 60 || seconds >= 60 || in[1]+in[4] == "" && (hours >= 24 || len(in[3]) < 2) {
			return 0, false
		}
		hours += (60*minutes + seconds) / 3600
		if in[1] == "-" {
			hours = -hours
		}
		return hours, true
	}
	for _, form := range halfDays {
		if at, err := time.Parse(form, strings.ToUpper(text)); err == nil {
			return at.Sub(at.Truncate(24 * time.Hour)).Hours(), true
		}
	}
	return 0, false
}

// cutUnit takes what stands before and after the number of a word off it: a currency, and after the number letters
// and signs too. The unit is "" if there is none, or no number.
func cutUnit(word string) (number, unit string) {
	if !strings.ContainsAny(word, "0123456789") { // as most words
		return "", ""
	}
	word = plain(word)
	bare := strings.TrimLeft(word, "+-")
	rest := strings.TrimLeftFunc(bare, isCurrency)
	before := bare[:len(bare)-len(rest)]
	end := strings.LastIndexFunc(rest, unicode.IsDigit) + 1
	unit = before + strings.TrimSpace(rest[end:])
	number = plain(word[:len(word)-len(bare)] + strings.TrimSpace(rest[:end]))
	if strings.ContainsFunc(unit, unicode.IsDigit) || wayOf(number) == noNumber {
		return "", ""
	}
	return number, unit
}

func isCurrency(r rune) bool { return unicode.Is(unicode.Sc, r) }

// withUnit reads a number with this unit, "" for none.
func (t *Table) withUnit(text, unit string) (value float64, is bool, err error) {
	if unit == "" {
		return t.number(text)
	}
	number, found := cutUnit(strings.TrimSpace(text))
	if found != unit {
		return 0, false, nil
	}
	return t.number(number)
}

// writing is what was seen of the cells of a column that are no numbers without more.
type writing struct {
	unit      string // of the first number with one
	units     strays // cells with that unit
	mixed     bool   // there are other units
	other     string // the first text that is no such number
	various   bool   // there are other texts
	undecided int    // dates that can be read in two ways
	pairs     int    // two numbers, as a blood pressure
	bounds    strays // numbers that are only bounds
	unfit     strays // numbers that cannot have the decimal sign that was given
}

// add counts a cell that is no number, and reads it if it has the unit of the others.
func (w *writing) add(t *Table, text string, place int) (value float64, is bool, err error) {
	text = strings.TrimSpace(text)
	if number, unit := cutUnit(text); unit != "" {
		if w.unit == "" {
			w.unit = strings.Clone(unit)
		}
		if unit == w.unit {
			if value, is, err = t.number(number); is {
				w.units.add(t, text, place)
			}
			return value, is, err
		}
		w.mixed = true
	}
	if strings.Contains(text, "/") && twoDates.MatchString(text) {
		w.undecided++
	}
	if pair.MatchString(text) {
		w.pairs++
	}
	if t.unfit(text) {
		w.unfit.add(t, text, place)
	}
	w.various = w.various || w.other != "" && w.other != text
	if w.other == "" {
		w.other = strings.Clone(text[:min(len(text), 100)])
	}
	return 0, false, nil
}
