package main

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/report/sheet"
	"iwda/internal/evenly"
	"iwda/weightest"
)

// Lipton is the protocol of Lipton, Wang and Smola (2018), with balanced sources and
// targets of other class shares: one half of n source rows trains a network, the other
// gives its confusion matrix, and n target rows its predictions. Then networks are
// trained on all n source rows, each class with its estimated weight.
type Lipton struct {
	Experiment string  `yaml:"experiment"`
	Protocol   string  `yaml:"protocol"`
	Network    Network `yaml:"network"`
	Runs       int     `yaml:"runs"`        // of each number of rows
	Rows       []int   `yaml:"rows,flow"`   // n, of the source and of the target
	Shifts     []Shift `yaml:"shifts,flow"` // all on the same networks
	// Retrained are those of Rows for which networks are trained with weights.
	Retrained []int `yaml:"retrained,flow"`
}

func (l *Lipton) name() string { return l.Experiment }

func (l *Lipton) check() error {
	if err := l.Network.check(); err != nil {
		return err
	}
	if l.Runs < 1 {
		return invalid("runs", l.Runs, "at least 1")
	}
	if len(l.Rows) == 0 || slices.Min(l.Rows) < 2 {
		return invalid("rows", l.Rows, "a list of numbers of at least 2")
	}
	for _, n := range l.Retrained {
		if !slices.Contains(l.Rows, n) {
			return invalid("retrained", n, fmt.Sprint("among rows ", l.Rows))
		}
	}
	if len(l.Shifts) == 0 {
		return invalid("shifts", l.Shifts, "a list")
	}
	for _, shift := range l.Shifts {
		if err := shift.check(); err != nil {
			return err
		}
	}
	return nil
}

// The ways to weights of this protocol.
const (
	unweighted = "unweighted"
	bbseHard   = "bbse-hard"
	bbseSoft   = "bbse-soft"
	// The released code's, which solves a ridge regression with λ = 1/min(n/2, n) and
	// neither clips nor scales what it compares with the true weights.
	releasedHard = "released-hard"
	releasedSoft = "released-soft"
)

// weightings are the ways to weights, in the order of the table.
var weightings = []string{unweighted, bbseHard, bbseSoft, releasedHard, releasedSoft}

// retrained are those with which networks are trained again.
var retrained = []string{unweighted, bbseHard, bbseSoft}

// liptonScore is how well one way to weights did in a run.
type liptonScore struct {
	WeightMSE float64  // mean over the classes of (w - ŵ)², w by the shares that were drawn from
	Accuracy  *float64 // on the target, of the network trained with the weights; nil where none was
}

// liptonScores are those of every run, for each way to weights of a condition.
type liptonScores map[condition]map[string][]liptonScore

func (l *Lipton) measure(ctx context.Context, d *digits, parallel int) (liptonScores, error) {
	all := liptonScores{}
	for _, n := range l.Rows {
		runs := make([][]map[string]liptonScore, l.Runs)
		err := inParallel(ctx, parallel, l.Runs, func(ctx context.Context, run int) (err error) {
			if runs[run], err = l.measureRun(ctx, d, n, run); err != nil {
				return fmt.Errorf("%d rows, run %d: %w", n, run, err)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		for i, shift := range l.Shifts {
			c := condition{shift, n}
			all[c] = map[string][]liptonScore{}
			for _, run := range runs {
				for way, s := range run[i] {
					all[c][way] = append(all[c][way], s)
				}
			}
		}
		d.say("%d rows: %d runs", n, l.Runs)
	}
	return all, nil
}

// measureRun returns the scores of one source sample under every shift.
func (l *Lipton) measureRun(ctx context.Context, d *digits, n, run int) ([]map[string]liptonScore, error) {
	random, _ := stream(int64(run), "source ", n)
	equal := slices.Repeat([]float64{1. / classes}, classes)
	rows := drawIndependent(random, d.trainByClass, equal, n)
	half := n / 2
	t := training{Name: fmt.Sprintf("rows-%d-run-%d-half", n, run), Network: l.Network, Seed: int64(run), Rows: rows[:half], HeldOut: rows[half:]}
	p, err := d.predict(ctx, t)
	if err != nil {
		return nil, err
	}
	all := make([]map[string]liptonScore, len(l.Shifts))
	for i, shift := range l.Shifts {
		random, source := stream(int64(run), "target ", shift, " ", n)
		shares := shift.shares(source)
		target := drawIndependent(random, d.testByClass, shares, n)
		want, err := weightest.Oracle(equal, shares)
		if err != nil {
			return nil, err
		}
		weights, err := liptonWeights(p.heldOut, evenly.Pick(d.trainLabels, t.HeldOut), selectedRows(p.test, target))
		if err != nil {
			return nil, fmt.Errorf("%v: %w", shift, err)
		}
		all[i] = map[string]liptonScore{}
		for way, w := range weights {
			s := liptonScore{WeightMSE: meanSquare(w, want)}
			if slices.Contains(l.Retrained, n) && slices.Contains(retrained, way) {
				if s.Accuracy, err = l.retrain(ctx, d, n, run, shift, way, w, rows, target); err != nil {
					return nil, err
				}
			}
			all[i][way] = s
		}
	}
	return all, nil
}

// liptonWeights returns the weights of every way.
func liptonWeights(heldOut []float64, labels []int, target []float64) (map[string][]float64, error) {
	s := drawn{heldOut: heldOut, heldOutLabels: labels, target: target}
	sample, err := s.calibrated("none")
	if err != nil {
		return nil, err
	}
	soft, err := sample.Problem()
	if err != nil {
		return nil, err
	}
	hard, err := soft.OnHard()
	if err != nil {
		return nil, err
	}
	weights := map[string][]float64{unweighted: ones}
	for way, problem := range map[string]weightest.Problem{bbseHard: hard, bbseSoft: soft} {
		estimate, err := weightest.BBSE{}.Estimate(problem)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way, err)
		}
		weights[way] = estimate.Weights
	}
	for way, problem := range map[string]weightest.Problem{releasedHard: hard, releasedSoft: soft} {
		w, err := released(problem, 1/float64(len(labels)))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way, err)
		}
		weights[way] = w
	}
	return weights, nil
}

// released returns the weights of the paper's released code, (CᵀC + λI) w = Cᵀmu, which it neither clips nor
// scales.
func released(p weightest.Problem, lambda float64) ([]float64, error) {
	k := p.Classes()
	var gram mat.Dense
	gram.Mul(p.Confusion.T(), p.Confusion)
	for class := range k {
		gram.Set(class, class, gram.At(class, class)+lambda)
	}
	var right, w mat.VecDense
	right.MulVec(p.Confusion.T(), mat.NewVecDense(k, p.TargetPredictions))
	err := w.SolveVec(&gram, &right)
	return w.RawVector().Data, err
}

// retrain returns the accuracy on the target of a network trained on all source rows
// with the weights. Without weights it is the same for every shift.
func (l *Lipton) retrain(ctx context.Context, d *digits, n, run int, shift Shift, way string, w []float64, rows, target []int) (*float64, error) {
	t := training{Name: fmt.Sprintf("rows-%d-run-%d-%s", n, run, way), Network: l.Network, Seed: int64(run), Rows: rows}
	if way != unweighted {
		t.Name, t.Weights = fmt.Sprintf("%s-%s-%g", t.Name, shift.Kind, shift.Parameter), w
	}
	p, err := d.predict(ctx, t)
	if err != nil {
		return nil, err
	}
	onTarget := accuracy(selectedRows(p.test, target), evenly.Pick(d.testLabels, target))
	return &onTarget, nil
}

func (l *Lipton) run(ctx context.Context, d *digits, parallel int) (sheet.Sheet, error) {
	measured, err := l.measure(ctx, d, parallel)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return l.sheet(measured), nil
}
