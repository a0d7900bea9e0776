package chart

import (
	"fmt"
	"html/template"
)

// Shares are those of a class in the source, as estimated in the target with the ends of its
// interval, and among the predictions.
type Shares struct {
	Source, Target float64
	Rejected       bool        // the target's is not to be believed
	Interval       *[2]float64 // nil if not known
	Predicted      float64
}

// Most is the largest of them.
func (s Shares) Most() float64 {
	most := max(s.Source, s.Target, s.Predicted)
	if s.Interval != nil {
		most = max(most, s.Interval[1])
	}
	return most
}

// Bars draws them as three bars on an axis up to most, of whatever width there is. It says
// nothing to those who do not see it: the numbers stand beside it.
func (s Shares) Bars(most float64) template.HTML {
	const thick, step = 8, 11
	b := new(svg)
	b.add(`<svg class="bars" aria-hidden="true" width="100%%" height="%d">`, 3*step)
	percent := func(share float64) string { return fmt.Sprintf("%.2f%%", 100*share/most) }
	for i, bar := range []struct {
		class string
		share float64
	}{{"source", s.Source}, {"target", s.Target}, {"predicted", s.Predicted}} {
		if bar.class == "target" && s.Rejected {
			bar.class = "rejected"
		}
		b.add(`<rect class="fill %s" x="0" y="%d" width="%s" height="%d"/>`, bar.class, i*step+1, percent(bar.share), thick)
	}
	if i := s.Interval; i != nil {
		const middle = step + 1 + thick/2
		b.add(`<line class="whisker" x1="%s" x2="%s" y1="%d" y2="%[3]d"/>`, percent(i[0]), percent(i[1]), middle)
		for _, end := range i {
			b.add(`<line class="whisker" x1="%s" x2="%[1]s" y1="%d" y2="%d"/>`, percent(end), middle-3, middle+3)
		}
	}
	return b.end()
}
