package adapt

import (
	"fmt"

	"iwda/inference/trust"
	"iwda/internal/convert"
	"iwda/internal/printable"
)

// Known is what the outcome knows of its predictions, by which needs are answered.
func (o *Outcome) Known() trust.Known {
	k := trust.Known{Cases: o.Cases, Rejected: o.SharesRejected, Rows: o.Target.Rows}
	for _, c := range o.Classes {
		class := trust.Class{Name: c.Class, Share: trust.Number{Value: &c.TargetShare}, Mean: c.MeanProbability, Predicted: c.PredictedShare, Recall: c.Recall, Precision: c.Precision}
		if i := c.TargetInterval; i != nil {
			class.Share = trust.NumberOf(c.TargetShare, i.Low, i.High)
		}
		k.Classes = append(k.Classes, class)
	}
	return k
}

// Ask answers needs, as [trust.ParseNeeds] reads them, in the outcome; without any those that were asked
// before, or the usual ones.
func (o *Outcome) Ask(needs []string) error {
	if len(needs) > 0 {
		o.Asked = needs
	}
	parsed, err := trust.ParseNeeds(o.Asked, o.classNames())
	if err != nil {
		return err
	}
	known := o.Known()
	o.Headline, o.Needs = known.Headline(), known.Answers(parsed)
	o.Reliable = trust.Together(o.Needs)
	return nil
}

// labelCase is what labels say of the predictions, nil if they say nothing that all rows share.
func (o conclusion) labelCase(measured *Measured) *trust.Case {
	switch {
	case measured.all():
		return &trust.Case{If: trust.Labels, For: fmt.Sprintf("the labels of all %d rows", measured.Rows), Accuracy: trust.NumberOf(measured.Value, measured.Value, measured.Value)}
	case o.labels != nil:
		a := o.labels.Accuracy
		return &trust.Case{If: trust.Labels, For: printable.Count(o.labels.Labels, "label"), Accuracy: trust.NumberOf(a.Value, a.Low, a.High)}
	}
	return nil
}

func (o *Outcome) classNames() []string {
	return convert.Each(o.Classes, func(c ClassOutcome) string { return c.Class })
}
