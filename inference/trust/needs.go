package trust

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Need is what somebody needs of predictions.
type Need struct {
	Text  string
	kind  string // accuracy, recall, precision, share
	class string
	bound float64 // at least; of a share, how far off at most
}

var forms = regexp.MustCompile(`^\s*(accuracy|(?:recall|precision)\s*\((.*)\))\s*>=\s*([0-9.]+)\s*$|^\s*share\s*\((.*)\)\s*within\s+([0-9.]+)\s*$`)

// ParseNeeds reads needs such as "accuracy >= 0.9", "recall(sepsis) >= 0.8", "precision(x) >= 0.5" and
// "share(sepsis) within 0.03", of these classes; without any, of classes of any name.
func ParseNeeds(texts, classes []string) (needs []Need, err error) {
	for _, text := range texts {
		parts := forms.FindStringSubmatch(text)
		if parts == nil {
			return nil, fmt.Errorf("--need %q: want accuracy >= 0.9, recall(CLASS) >= 0.8, precision(CLASS) >= 0.5 or share(CLASS) within 0.03", text)
		}
		n := Need{Text: strings.TrimSpace(text), kind: "share", class: parts[4]}
		number := parts[5]
		if parts[1] != "" {
			n.kind, _, _ = strings.Cut(parts[1], "(")
			n.kind, n.class, number = strings.TrimSpace(n.kind), parts[2], parts[3]
		}
		n.class = strings.Trim(strings.TrimSpace(n.class), `"'`)
		if n.bound, err = strconv.ParseFloat(number, 64); err != nil || n.bound > 1 {
			return nil, fmt.Errorf("--need %q: %s is no share from 0 to 1", text, number)
		}
		if n.kind != "accuracy" && classes != nil && !slices.Contains(classes, n.class) {
			return nil, fmt.Errorf("--need %q: there is no class %q; the classes are %.200q", text, n.class, classes)
		}
		needs = append(needs, n)
	}
	return needs, nil
}

// Answer says whether a need is met.
type Answer struct {
	Need    string `json:"need"`
	Answer  string `json:"answer"` // Yes, No or Untold
	Because string `json:"because"`
}

// The answers.
const (
	Yes    = "yes"
	No     = "no"
	Untold = "cannot be told"
)

// Unmet is the error of a need that is not met, or of which nobody can tell.
type Unmet struct{ Answer }

func (u *Unmet) Error() string {
	return fmt.Sprintf("needed: %s: %s: %s", u.Need, u.Answer.Answer, u.Because)
}

// ExitStatus is 3 for a need that is not met, and 4 if that cannot be told.
func (u *Unmet) ExitStatus() int {
	if u.Answer.Answer == No {
		return 3
	}
	return 4
}

// Together is the answer to all: no if one is, yes if all are.
func Together(answers []Answer) string {
	all := Yes
	for _, a := range answers {
		if a.Answer == No || a.Answer == Untold && all == Yes {
			all = a.Answer
		}
	}
	return all
}

// Check returns an *[Unmet] of the first need that decides it, unless all are met.
func Check(answers []Answer) error {
	all := Together(answers)
	if all == Yes {
		return nil
	}
	return &Unmet{answers[slices.IndexFunc(answers, func(a Answer) bool { return a.Answer == all })]}
}

// Answers says whether needs are met; without any, whether predictions are better than always the most
// frequent class, and whether no class of 2% or more is lost.
func (k Known) Answers(needs []Need) (answers []Answer) {
	for _, n := range needs {
		answer, because := k.meets(n)
		answers = append(answers, Answer{n.Text, answer, because})
	}
	if needs != nil {
		return answers
	}
	better := Answer{Need: "right more often than always the most frequent class"}
	better.Answer, better.Because = k.better()
	lost := Answer{"no class of 2% or more is lost", Yes, "each has rows that are predicted so"}
	if said := k.Lost(); said != "" {
		lost.Answer, lost.Because = No, said
	} else if said := k.perhapsLost(); said != "" {
		lost.Answer, lost.Because = Untold, said
	}
	return []Answer{better, lost}
}

// meets answers one need.
func (k Known) meets(n Need) (answer, because string) {
	if n.kind == "accuracy" {
		return k.least(n.bound)
	}
	at := slices.IndexFunc(k.Classes, func(c Class) bool { return c.Name == n.class })
	if at < 0 {
		return Untold, fmt.Sprintf("there is no class %q", n.class)
	}
	c := k.Classes[at]
	if k.Rejected != "" {
		return Untold, "more than the class shares changed: " + k.Rejected
	}
	number, what := c.Share, "share"
	if n.kind == "recall" && c.Recall != nil {
		number, what = *c.Recall, "recall"
	} else if n.kind == "precision" && c.Precision != nil {
		number, what = *c.Precision, "precision"
	} else if n.kind != "share" {
		return Untold, fmt.Sprintf("nothing is known of the %s", n.kind)
	}
	if number.Low == nil {
		return Untold, fmt.Sprintf("the %s has no interval", what)
	}
	because = fmt.Sprintf("the %s is %v, if %s", what, number, OnlyShares)
	if n.kind == "share" {
		if max(*number.High-*number.Value, *number.Value-*number.Low) <= n.bound {
			return Yes, because
		}
		return Untold, because
	}
	return atLeast(number, n.bound), because
}

// atLeast answers whether a number is.
func atLeast(n Number, bound float64) string {
	switch {
	case n.Low != nil && *n.Low >= bound:
		return Yes
	case n.High != nil && *n.High < bound:
		return No
	}
	return Untold
}

// least answers whether an accuracy is as high as asked, by labels if there are some, otherwise by what
// nothing speaks against, or by the floor.
func (k Known) least(bound float64) (answer, because string) {
	for _, c := range k.Cases {
		if c.Accuracy.Low == nil || c.If == OnlyShares && k.Rejected != "" {
			continue
		}
		said := fmt.Sprintf("the accuracy is %v, if %s", c.Accuracy, c.If)
		switch c.If {
		case Labels:
			return atLeast(c.Accuracy, bound), fmt.Sprintf("the accuracy is %v, by %s", c.Accuracy, c.For)
		case Anything:
			said = fmt.Sprintf("the accuracy is %v, but %s", c.Accuracy, c.Against)
		}
		if answer = atLeast(c.Accuracy, bound); answer != Untold {
			return answer, said
		}
		because = cmp.Or(because, said) // the first assumes most and knows most
	}
	return Untold, cmp.Or(because, "no accuracy is known")
}

// better answers whether predictions are right more often than always the most frequent class.
func (k Known) better() (answer, because string) {
	most := k.frequent()
	if most.Predicted == 1 {
		return No, fmt.Sprintf("all rows are predicted as %q", most.Name)
	}
	floor := slices.IndexFunc(k.Cases, func(c Case) bool { return c.If == Anything && c.Accuracy.Low != nil })
	if byLabels := slices.ContainsFunc(k.Cases, func(c Case) bool { return c.If == Labels }); k.Rejected != "" && !byLabels && floor >= 0 {
		return k.aboveAnyShare(k.Cases[floor])
	}
	share := k.share(most)
	answer, because = k.least(*share.Value)
	if answer == No && share.Low != nil {
		if surely, _ := k.least(*share.Low); surely != No { // the class may be as rare
			answer = Untold
		}
	}
	return answer, fmt.Sprintf("%s; always %q would be right in %v", because, most.Name, share)
}

// aboveAnyShare answers better by a floor alone: rows of a class are predicted so, or wrong, so that no class has
// a larger share than what is predicted as one at most and what may be wrong.
func (k Known) aboveAnyShare(floor Case) (answer, because string) {
	low, predicted := *floor.Accuracy.Low, 0.0
	for _, c := range k.Classes {
		predicted = max(predicted, c.Predicted)
	}
	answer, most := Untold, min(1, predicted+1-low)
	if low > most {
		answer = Yes
	}
	return answer, fmt.Sprintf("the accuracy is %v, but %s; no class then has more than %.0f%%", floor.Accuracy, floor.Against, math.Ceil(100*most))
}

// frequent is the class that is most frequent.
func (k Known) frequent() Class {
	return slices.MaxFunc(k.Classes, func(a, b Class) int {
		return int(math.Copysign(1, *k.share(a).Value-*k.share(b).Value))
	})
}

// share is what is known of a class's share: the estimate, or if that is rejected the mean of probabilities.
func (k Known) share(c Class) Number {
	if k.Rejected != "" || c.Share.Value == nil {
		return Number{Value: &c.Mean}
	}
	return c.Share
}

// What is lost: a class that should have a share of the rows, of which next to none are predicted.
const (
	worthFinding = 0.02
	nextToNone   = 0.1 // of what should be
	mostSaid     = 3
)

// Lost says which classes are lost, a clause; "" if none are.
func (k Known) Lost() string {
	var said []string
	more := 0
	for _, c := range k.Classes {
		should := k.share(c)
		if *should.Value < worthFinding || c.Predicted >= nextToNone**should.Value {
			continue
		}
		if len(said) == mostSaid {
			more++
			continue
		}
		expected := fmt.Sprintf("about %.0f%% should be, by the mean of the probabilities", 100**should.Value)
		if should.Low != nil {
			expected = fmt.Sprintf("%.0f to %.0f%% should be", 100**should.Low, 100**should.High)
		} else if k.Rejected == "" {
			expected = fmt.Sprintf("about %.0f%% should be", 100**should.Value)
		}
		said = append(said, fmt.Sprintf("%s; %s", k.predicted(c), expected))
	}
	if more > 0 {
		said = append(said, fmt.Sprintf("%d more classes are lost", more))
	}
	return strings.Join(said, "; ")
}

// predicted says how few rows are predicted as a class, a clause.
func (k Known) predicted(c Class) string {
	rows := "no row is"
	if n := int(math.Round(c.Predicted * float64(k.Rows))); n > 0 {
		rows = fmt.Sprintf("only %d of %d rows are", n, k.Rows)
	}
	return fmt.Sprintf("%s predicted as %q", rows, c.Name)
}

// perhapsLost names a class that is not, as its share is estimated to be too small, but may be by the share's
// interval, a clause; "" for none.
func (k Known) perhapsLost() string {
	for _, c := range k.Classes {
		if high := k.share(c).High; high != nil && *high >= worthFinding && c.Predicted < nextToNone*worthFinding {
			return fmt.Sprintf("%s; up to %.0f%% may be", k.predicted(c), 100**high)
		}
	}
	return ""
}

// Headline says what is known, a clause: a class that is lost, or how often predictions are right.
func (k Known) Headline() string {
	if lost := k.Lost(); lost != "" {
		return lost
	}
	of := map[string]Case{}
	for _, c := range k.Cases {
		of[c.If] = c
	}
	shares, selected, floor := of[OnlyShares], of[Selected], of[Anything]
	if by, is := of[Labels]; is {
		return fmt.Sprintf("%v of the predictions are right, by %s", by.Accuracy, by.For)
	}
	if shares.Missing != "" && shares.Accuracy.Value == nil && selected.Accuracy.Value == nil {
		return "how many predictions are right is not known: " + shares.Missing
	}
	text := ""
	switch {
	case k.Rejected != "" && selected.Accuracy.Value != nil:
		text = fmt.Sprintf("more than the class shares changed; %v of the predictions should be right if %s", selected.Accuracy, Selected)
		if selected.Against != "" {
			text += ", against which columns speak"
		}
		if floor.Accuracy.Low != nil {
			text += fmt.Sprintf(", and %v otherwise", floor.Accuracy)
		}
	case shares.Accuracy.Value != nil:
		text = fmt.Sprintf("%v of the predictions should be right, if %s", shares.Accuracy, OnlyShares)
		if shares.For == "you said so" {
			text += ", as you said"
		}
	default:
		text = "how many predictions are right is not known: " + shares.Missing
	}
	if answer, _ := k.better(); answer == No || answer == Untold && k.Rejected == "" {
		most := k.frequent()
		text += fmt.Sprintf("; always %q would be right in %v", most.Name, k.share(most))
	}
	return text
}
