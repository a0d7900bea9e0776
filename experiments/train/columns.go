package train

import (
	"context"
	"strconv"

	"iwda/datasets"
	"iwda/experiments/store"
	"iwda/weightest/shifttest"
)

// compareColumns asks, of a classifier that is solved for, whether the columns of both domains
// agree under the class shares that it estimates. A network is not asked, as it answers the same.
func (c *conclusion) compareColumns(ctx context.Context) error {
	d := c.data
	if d.crossed == nil {
		return nil
	}
	size := datasets.Size(d.rowShape)
	sums, err := shifttest.NewColumnSums(c.shares.Sample, c.shares.Target(), size)
	if err != nil {
		c.logf("the columns are not compared: %v", err)
		return nil
	}
	const rows = 500 // at once
	for _, part := range []rowReader{d.onSource, d.onHeldOut} {
		for b, err := range part.batches(ctx, rows) {
			if err != nil {
				return err
			}
			sums.AddSource(b.values.floats, b.labels.Classes(), nil)
		}
	}
	if err := d.judged(ctx, func(values []float32) { sums.AddTarget(values) }); err != nil {
		return err
	}
	found, err := sums.Test()
	if err != nil {
		c.logf("the columns are not compared: %v", err)
		return nil
	}
	name := strconv.Itoa(found.Column)
	if d.columns != nil {
		name = d.columns[found.Column]
	}
	c.columns = &store.Columns{P: found.P, Odd: name, Distance: found.Distance}
	return nil
}
