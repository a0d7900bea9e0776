package train

import (
	"context"

	"iwda/classshares"
	"iwda/weightest"
	"iwda/weightest/calibration"
)

// estimationRows are what the network says, in evaluation mode, of rows by which class shares
// can be estimated: those of the source that it is not trained on, and the target's
// training rows, whose labels are not read.
type estimationRows struct {
	source, target outputs
}

// readHeldOut passes these rows through the network; some of the source must be held out.
func readHeldOut(ctx context.Context, e evaluator, d *data) (*estimationRows, error) {
	rows := &estimationRows{}
	if err := e.evaluate(ctx, d.onHeldOut, &rows.source); err != nil {
		return nil, err
	}
	if err := e.evaluate(ctx, d.onTarget, &rows.target); err != nil {
		return nil, err
	}
	return rows, nil
}

// sample returns the rows' probabilities after a calibration, fitted to the source's, with its
// note. MLLS takes probabilities for what they say; for other estimators they stay as they are.
// Of the sample follow the estimate (Problem) and whether class shares alone explain the target
// ([shifttest.LabelShiftTest]).
func (r *estimationRows) sample(needs weightest.Requirement, classes int) (*weightest.Sample, string, error) {
	how := classshares.Settings{Calibration: calibration.None}
	if needs == weightest.HeldOutRows {
		how.Calibration = classshares.DefaultCalibration
	}
	c, err := classshares.Calibrate(classes, r.source.rows(), r.source.labels, how)
	if err != nil {
		return nil, "", err
	}
	s, err := c.Sample(r.source.rows(), r.source.labels, r.target.rows())
	return s, c.Note, err
}

// overShares is an estimator whose weights are the target's shares that another one estimates
// over the source's, which are known, so that w·D_S = 1; see [weightest.Ratios].
type overShares struct {
	weightest.Estimator
	source []float64 // D_S, length k
}

func (o overShares) Estimate(p weightest.Problem) (weightest.Estimate, error) {
	estimate, err := o.Estimator.Estimate(p)
	if err != nil {
		return weightest.Estimate{}, err
	}
	estimate.Weights = weightest.Ratios(estimate.TargetDistribution, o.source)
	return estimate, nil
}
