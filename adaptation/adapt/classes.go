package adapt

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"iwda/adaptation/judge"
	"iwda/datasets/table"
	"iwda/experiments/model"
	"iwda/inference/trust"
	"iwda/internal/heading"
	"iwda/weightest/intervals"
)

// weigh sets the weight that follows from the shares: the target's over the source's, 0 for a
// class that neither has.
func (c *ClassOutcome) weigh() {
	weight := func(share float64) float64 {
		if share == 0 {
			return 0
		}
		return share / c.SourceShare
	}
	c.Weight = weight(c.TargetShare)
	if i := c.TargetInterval; i != nil {
		c.WeightInterval = &WeightInterval{weight(i.Low), weight(i.High)}
	}
}

// classShares returns what the model of a compared run says of the classes, with the intervals of the
// target's shares, unless the test found that more than these is new: then none would hold. An error
// beside shares is why else these have no intervals.
func classShares(about model.Metadata, compared *judge.Comparison, run int) ([]ClassOutcome, error) {
	source, target := about.Shares.Source, about.Shares.Target
	switch {
	case target == nil:
		return nil, errors.New("its model has no estimate of the target's class shares")
	case len(source) != len(about.Classes) || len(target) != len(about.Classes):
		return nil, fmt.Errorf("%d classes, but shares of %d in the source and of %d in the target", len(about.Classes), len(source), len(target))
	}
	shares := make([]ClassOutcome, len(about.Classes))
	for i, class := range about.Classes {
		shares[i] = ClassOutcome{Class: class, SourceShare: source[i], TargetShare: target[i]}
	}
	if compared.Shared.Test.Rejected() { // then none would hold
		return shares, nil
	}
	if why := compared.Shared.Dependent; why != "" {
		return shares, errors.New(why)
	}
	return shares, bound(shares, compared, run)
}

// meanShares returns the mean of what several runs say of the same classes. The bounds are means
// too, since the runs see the same target, but no narrower than runs are apart: the squared distance
// from the mean grows by what their variance is above that of their intervals, as far as another run may
// be off (a random effect). Where one has no intervals there are none.
func meanShares(each [][]ClassOutcome) []ClassOutcome {
	mean, n := make([]ClassOutcome, len(each[0])), float64(len(each))
	for i := range mean {
		m := ClassOutcome{Class: each[0][i].Class, TargetInterval: new(TargetInterval)}
		var shares []float64
		for _, run := range each {
			s := run[i]
			shares = append(shares, s.TargetShare)
			m.SourceShare, m.TargetShare = m.SourceShare+s.SourceShare/n, m.TargetShare+s.TargetShare/n
			if s.TargetInterval == nil {
				m.TargetInterval = nil
			}
			if m.TargetInterval != nil {
				m.TargetInterval.Low += s.TargetInterval.Low / n
				m.TargetInterval.High += s.TargetInterval.High / n
			}
		}
		if m.TargetInterval != nil && len(shares) > 1 {
			m.widen(stat.StdDev(shares, nil))
		}
		m.weigh()
		mean[i] = m
	}
	return mean
}

// widen takes the bounds further apart if they are closer than runs are whose shares have that standard
// deviation.
func (c *ClassOutcome) widen(deviation float64) {
	i, reach := c.TargetInterval, -distuv.UnitNormal.Quantile((1-level)/2)
	within := (i.High - i.Low) / 2
	if between := reach*reach*deviation*deviation - within*within; between > 0 {
		i.Low = max(0, c.TargetShare-math.Sqrt(math.Pow(c.TargetShare-i.Low, 2)+between))
		i.High = min(1, c.TargetShare+math.Sqrt(math.Pow(i.High-c.TargetShare, 2)+between))
	}
}

// The bootstrap behind the intervals, and their level.
const (
	replicas = 200
	level    = 0.95
)

// bound finds the intervals of the target's shares by the bootstrap: the run's
// held-out source rows and its target rows are both drawn again, and each time the shares
// estimated as they were.
func bound(shares []ClassOutcome, compared *judge.Comparison, run int) error {
	if err := trust.CheckResamples(len(shares)); errors.Is(err, trust.ErrMinutes) {
		return fmt.Errorf("%w; iwrun labelshift --run makes them", err)
	} else if err != nil {
		return err
	}
	fitted, err := compared.Fit(run)
	if err != nil {
		return err
	}
	uncertainty, err := fitted.Bootstrap(intervals.BootstrapSettings{Replicas: replicas, Level: level, Seed: 1})
	if err != nil {
		return err
	}
	for i, interval := range uncertainty.Shares.Each {
		shares[i].TargetInterval = &TargetInterval{interval.Low, interval.High}
	}
	return nil
}

// writeClasses writes a line a class: its shares and its weight, with their intervals where there are
// some, whether these shares are rejected, and how well the class is predicted.
func writeClasses(path string, shares []ClassOutcome) error {
	columns := []string{
		heading.Class, heading.SourceShare, heading.TargetShare, heading.TargetShareLow, heading.TargetShareHigh, heading.Weight, heading.WeightLow, heading.WeightHigh, heading.MeanProbability, heading.PredictedShare,
		heading.Recall, heading.Recall + heading.Low, heading.Recall + heading.High, heading.Precision, heading.Precision + heading.Low, heading.Precision + heading.High, heading.ShareRejected,
	}
	known := func(n *trust.Number) (values []float64) {
		for _, v := range []*float64{n.Of().Value, n.Of().Low, n.Of().High} {
			if v == nil {
				values = append(values, math.NaN())
			} else {
				values = append(values, *v)
			}
		}
		return values
	}
	return table.WriteTable(path, columns, func(line func(...string) error) error {
		for _, s := range shares {
			target, weight := TargetInterval{math.NaN(), math.NaN()}, WeightInterval{math.NaN(), math.NaN()}
			if s.TargetInterval != nil {
				target, weight = *s.TargetInterval, *s.WeightInterval
			}
			row := []string{s.Class}
			values := []float64{s.SourceShare, s.TargetShare, target.Low, target.High, s.Weight, weight.Low, weight.High, s.MeanProbability, s.PredictedShare}
			for _, v := range slices.Concat(values, known(s.Recall), known(s.Precision)) {
				row = append(row, table.SixDecimals(v))
			}
			rejected := "no"
			if s.ShareRejected {
				rejected = "yes"
			}
			if err := line(append(row, rejected)...); err != nil {
				return err
			}
		}
		return nil
	})
}
