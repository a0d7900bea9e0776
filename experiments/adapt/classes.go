package adapt

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"iwda/experiments/judge"
	"iwda/experiments/model"
	"iwda/internal/wholefile"
	"iwda/weightest/intervals"
)

// ClassShare is what is known of a class.
type ClassShare struct {
	Class          string
	Source, Target float64             // its shares of the source's rows and, estimated, of the target's
	Interval       *intervals.Interval // of Target, at 95%; nil where there is none
}

// Weight is the target's share over the source's, 0 for a class that neither has.
func (c ClassShare) Weight() float64 { return c.weightOf(c.Target) }

// WeightInterval is that of Weight.
func (c ClassShare) WeightInterval() *intervals.Interval {
	if c.Interval == nil {
		return nil
	}
	return &intervals.Interval{Low: c.weightOf(c.Interval.Low), High: c.weightOf(c.Interval.High)}
}

func (c ClassShare) weightOf(share float64) float64 {
	if share == 0 {
		return 0
	}
	return share / c.Source
}

// classShares returns what a run's model says of the classes, with the intervals of the
// target's shares. An error beside shares is why these have no intervals.
func classShares(about model.Metadata, c judge.Candidate) ([]ClassShare, error) {
	source, target := about.Shares.Source, about.Shares.Target
	switch {
	case target == nil:
		return nil, errors.New("its model has no estimate of the target's class shares")
	case len(source) != len(about.Classes) || len(target) != len(about.Classes):
		return nil, fmt.Errorf("%d classes, but shares of %d in the source and of %d in the target", len(about.Classes), len(source), len(target))
	}
	shares := make([]ClassShare, len(about.Classes))
	for i, class := range about.Classes {
		shares[i] = ClassShare{Class: class, Source: source[i], Target: target[i]}
	}
	return shares, bound(shares, c)
}

// meanShares returns the mean of what several runs say of the same classes. The bounds are
// means too: as far apart as those of one run, where the mean of estimates varies less. Where
// one has no intervals there are none.
func meanShares(each [][]ClassShare) []ClassShare {
	mean, n := slices.Clone(each[0]), float64(len(each))
	for i := range mean {
		m := &mean[i]
		interval := new(intervals.Interval)
		m.Source, m.Target = 0, 0
		for _, shares := range each {
			s := shares[i]
			m.Source, m.Target = m.Source+s.Source/n, m.Target+s.Target/n
			if s.Interval == nil {
				interval = nil
			}
			if interval != nil {
				interval.Low, interval.High = interval.Low+s.Interval.Low/n, interval.High+s.Interval.High/n
			}
		}
		m.Interval = interval
	}
	return mean
}

// The bootstrap behind the intervals, and the memory for its sums, which suffices for 225
// classes.
const (
	replicas     = 200
	replicaBytes = 245e6 // bytes
)

// bound finds the intervals of the target's shares by the bootstrap: the candidate's
// held-out source rows and its target rows are both drawn again, and each time the shares
// estimated as they were.
func bound(shares []ClassShare, c judge.Candidate) error {
	if intervals.MostReplicas(len(shares), replicaBytes) < replicas {
		return fmt.Errorf("%d resamples of the sums of %d classes take more than %.0f MB; iwrun labelshift --run, which may take 2 GB, makes them",
			replicas, len(shares), replicaBytes/1e6)
	}
	fitted, err := c.Fit()
	if err != nil {
		return err
	}
	uncertainty, err := fitted.Bootstrap(intervals.BootstrapSettings{Replicas: replicas, Seed: 1})
	if err != nil {
		return err
	}
	for i := range shares {
		shares[i].Interval = &uncertainty.Shares.Each[i]
	}
	return nil
}

// writeClasses writes a line a class: its shares and its weight, with their intervals
// where there are some.
func writeClasses(path string, shares []ClassShare) error {
	records := [][]string{{
		"class", "source_share", "estimated_target_share", "target_share_low", "target_share_high", "weight", "weight_low", "weight_high",
	}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
	ends := func(interval *intervals.Interval) []string {
		if interval == nil {
			return []string{"", ""}
		}
		return []string{number(interval.Low), number(interval.High)}
	}
	for _, s := range shares {
		record := append([]string{s.Class, number(s.Source), number(s.Target)}, ends(s.Interval)...)
		records = append(records, append(append(record, number(s.Weight())), ends(s.WeightInterval())...))
	}
	return wholefile.Write(path, func(w io.Writer) error { return csv.NewWriter(w).WriteAll(records) })
}
