package train

import (
	"errors"
	"io"

	"iwda/datasets"
	"iwda/experiments/config"
	"iwda/experiments/domains"
)

// data is what a run is trained and measured on.
type data struct {
	domains.About
	feed      feed
	onSource  rowReader // the source's training rows, as in evaluation
	onTest    rowReader // the target's test rows
	onHeldOut rowReader // the source's rows that training does not see; nil for none
	files     io.Closer // what the rows are read from; nil for nothing
}

// openData opens data that are held in memory.
func openData(run config.Resolved) (*data, error) {
	rows, err := domains.Open(run, true)
	if err != nil {
		return nil, err
	}
	const replaced = true
	if err := rows.CheckBatch(run, replaced); err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	sources := []datasets.Set{rows.Source}
	for i, part := range rows.Parts {
		sources = append(sources[:i], datasets.Subset(rows.Source, part.Rows))
	}
	d := &data{
		About: rows.About, onSource: inMemory{rows.Source}, onTest: inMemory{rows.Test}, files: rows,
		feed: newResampled(sources, rows.Target, run.Train.Batch, run.Seed),
	}
	if rows.HeldOut != nil {
		d.onHeldOut = inMemory{rows.HeldOut}
	}
	return d, nil
}

func (d *data) close() error {
	err := d.feed.close()
	if d.files != nil {
		err = errors.Join(err, d.files.Close())
	}
	return err
}
