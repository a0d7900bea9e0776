package adapt

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/datasets"
	"iwda/datasets/normalise"
	"iwda/experiments/model"
	"iwda/experiments/predict"
	"iwda/weightest"
)

// picture is some rows of both domains in two dimensions, before a network and after it.
type picture struct {
	labels    []int       // of the source's rows, which come first
	predicted []int       // of the target's
	before    *projection // nil of images
	after     *projection // nil if no network with features predicts
	network   string      // the run whose network it is
	what      string      // after is of, as "features (256)"
}

// pictureOf projects the sample before the members and after the first network among them; others
// have no features but the columns.
func (o *conclusion) pictureOf(p *Plan, members []model.Model) error {
	s := p.Data.sample
	o.picture.labels = datasets.LabelsOf(s.source).Classes()
	by, err := normalise.Fit(normalise.Settings{Way: normalise.OfSource}, s.source, s.target)
	if err != nil {
		return err
	}
	before := mat.NewDense(s.source.Len()+s.target.Len(), p.Data.Width, nil)
	before.Stack(normalise.Values(by.OnSource(s.source)), normalise.Values(by.OnTarget(s.target)))
	o.picture.before = principal(before)
	at := slices.IndexFunc(members, func(m model.Model) bool { return !m.Architecture.Name.OnRows() })
	if at < 0 {
		return nil
	}
	var values []float32
	width := 0
	for _, rows := range []datasets.Set{members[at].Normalisation.OnSource(s.source), members[at].Normalisation.OnTarget(s.target)} {
		part, size, err := predict.Features(members[at], rows, p.predictOptions())
		if err != nil {
			return err
		}
		values, width = append(values, part...), size
	}
	o.picture.after = principal(mat.NewDense(len(values)/width, width, weightest.Widen(values)))
	o.picture.network, o.picture.what = o.Runs[at].ID.String(), fmt.Sprintf("%d features", width)
	return nil
}

// pictureOfLogits projects what the first network says of both domains' rows, if there are no
// columns to show and a pass of its own through the network would take long.
func (o *conclusion) pictureOfLogits() {
	c := o.first
	k := c.Classes
	random := rand.New(datasets.Stream(1, "rows of a report"))
	var values []float32
	draw := func(from []float32, classes []int) (drawn []int) {
		for _, row := range drawRows(len(classes), mostSampled, random) {
			values, drawn = append(values, from[row*k:(row+1)*k]...), append(drawn, classes[row])
		}
		return drawn
	}
	o.picture = picture{network: c.Run, what: fmt.Sprintf("%d logits", k)}
	o.picture.labels = draw(c.HeldOut, c.HeldOutLabels)
	o.picture.predicted = draw(c.Target, o.disputes.used)
	o.picture.after = principal(mat.NewDense(len(values)/k, k, weightest.Widen(values)))
}
