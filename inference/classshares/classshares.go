// Package classshares says how frequent the classes are in a target without labels, by what
// one classifier says of held-out source rows with labels and of target rows. [Fit] calibrates
// the classifier and estimates the shares. Intervals, corrected probabilities and the
// accuracy to expect follow from it, and [Shares.TestLabelShift] asks whether more than the
// shares changed.
//
// Every part of the program that needs one of these asks here, so that one classifier has one
// answer. gonum only; the same input gives the same bits. Values that are no whole rows of k
// classes, and labels of another number of rows, are a mistake in the program and panic.
package classshares

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"iwda/internal/clusters"
	"iwda/internal/convert"
	"iwda/internal/evenly"
	"iwda/weightest"
	"iwda/weightest/calibration"
	"iwda/weightest/shifttest"
)

// Rows are what a classifier of k classes says of n rows.
type Rows struct {
	Values        []float32 // row-major n×k
	Probabilities bool      // they are these, and not logits
	// Groups say which rows belong together, as those of one patient do: a number for each row, which no
	// row of the other domain need have. nil: each row is on its own.
	Groups []int
}

// check returns an error that names the first row with a probability that is none, as logits are.
// Rounded ones need not sum to 1.
func (r Rows) check(domain string, k int) error {
	if !r.Probabilities {
		return nil
	}
	return weightest.CheckProbabilities(domain, r.Values, k)
}

// Drawn returns which rows of k classes [Rows.Evenly] returns, ascending.
func (r Rows) Drawn(k, most int) []int { return clusters.Rows(r.Groups, len(r.Values)/k, most) }

// Evenly returns at most that many rows of k classes, drawn evenly over their order, and whole groups of
// those that belong together.
func (r Rows) Evenly(k, most int) Rows {
	if len(r.Values)/k <= most {
		return r
	}
	rows := r.Drawn(k, most)
	some := Rows{Probabilities: r.Probabilities}
	for _, row := range rows {
		some.Values = append(some.Values, r.Values[row*k:(row+1)*k]...)
	}
	if r.Groups != nil {
		some.Groups = evenly.Pick(r.Groups, rows)
	}
	return some
}

// Settings are the options of [Fit].
type Settings struct {
	// Calibration is one of calibration.Names. The empty text is [DefaultCalibration], or
	// temperature scaling if the held-out rows lack a class, to which no bias can be fitted.
	Calibration string
	// Trained are the class shares for which the classifier's own probabilities speak (k,
	// positive): those that its loss counted. nil are those of the held-out rows. A calibration
	// with biases finds them by itself.
	Trained []float64
}

// DefaultCalibration has a temperature and a bias for each class, both shrunk as few rows ask
// for.
const DefaultCalibration = "bcts-ridge"

// DefaultEstimator is maximum likelihood with one row of each class counted beside the
// target's, so that no class is ruled out.
var DefaultEstimator weightest.Estimator = weightest.MLLS{Pseudocount: weightest.Laplace}

// NewEstimator returns weightest's estimator of the name, and for mlls [DefaultEstimator].
func NewEstimator(name string) (weightest.Estimator, error) {
	if name == "mlls" {
		return DefaultEstimator, nil
	}
	return weightest.NewEstimator(name)
}

// Classifier says what becomes of a classifier's rows: calibrated probabilities, which speak
// for these class shares.
type Classifier struct {
	calibration.Calibration
	SpeaksFor []float64 // k, sum 1
	// Zero is the probability that stands for one of 0; see [calibration.Zero]. 0: the least that there is.
	Zero float64

	moved []float64 // k, of the logits before calibration; nil is 0
}

// Calibrate fits the calibration to held-out source rows and their labels, from 0. The errors
// are those of calibration.Calibrate, that of a row that is no probabilities, which wraps
// weightest.ErrInvalidRow, and that of shares in training that are no k positive numbers.
func Calibrate(classes int, heldOut Rows, labels []int, s Settings) (Classifier, error) {
	if err := checkTrained(s.Trained, classes); err != nil {
		return Classifier{}, err
	}
	if err := cmp.Or(weightest.CheckLabels(labels, classes), heldOut.check("source", classes)); err != nil {
		return Classifier{}, err
	}
	shares, form := sharesOf(labels, classes), s.Calibration
	missing := slices.Contains(shares, 0)
	if form == "" && missing {
		form = "ts"
	}
	form = cmp.Or(form, DefaultCalibration)
	zero := 0.0
	if heldOut.Probabilities {
		zero = calibration.Zero(heldOut.Values)
	}
	logits := heldOut.logits(classes, zero)
	moves := make([]float64, classes) // of logits, so that without biases they speak for the shares too
	if s.Trained != nil && !missing && !calibration.HasBiases(form) {
		for class, share := range shares {
			moves[class] = math.Log(share / s.Trained[class])
		}
		for i := range logits {
			logits[i] += moves[i%classes]
		}
	}
	c, err := calibration.Calibrate(form, logits, labels, classes)
	if err != nil {
		return Classifier{}, err
	}
	if floats.Norm(moves, 1) > 0 {
		floats.MulTo(c.Biases, c.Scales, moves)
		return Classifier{c, shares, zero, moves}, nil
	} else if s.Trained != nil && !calibration.HasBiases(c.Form) {
		shares = s.Trained
	}
	return Classifier{c, shares, zero, nil}, nil
}

func checkTrained(shares []float64, classes int) error {
	if shares != nil && len(shares) != classes {
		return fmt.Errorf("%d shares in training for %d classes", len(shares), classes)
	}
	for class, share := range shares {
		if !(share > 0) || math.IsInf(share, 1) {
			return fmt.Errorf("the share of class %d in training is %v; it must be positive", class, share)
		}
	}
	return nil
}

// sharesOf returns the shares of k classes among labels.
func sharesOf(labels []int, k int) []float64 {
	shares := make([]float64, k)
	for _, label := range labels {
		shares[label]++
	}
	for class := range shares {
		shares[class] /= float64(len(labels))
	}
	return shares
}

// logits returns what calibration reads of the rows, if this probability stands for 0.
func (r Rows) logits(k int, zero float64) []float64 {
	wide := convert.Slice[float64](r.Values)
	if r.Probabilities {
		return calibration.CenteredLogs(wide, k, zero)
	}
	return wide
}

// Of returns the calibrated probabilities of rows, row-major n×k. Probabilities that a
// calibration leaves as they are stay the same numbers.
func (c Classifier) Of(rows Rows) []float64 {
	if rows.Probabilities && c.Form == calibration.None && floats.Norm(c.Biases, 1) == 0 {
		return convert.Slice[float64](rows.Values)
	}
	return c.Probabilities(rows.logits(len(c.Scales), c.Zero))
}

// Logits returns the calibrated logits s∘z + b of rows (n×k), which there must be.
func (c Classifier) Logits(rows Rows) *mat.Dense {
	k := len(c.Scales)
	logits := rows.logits(k, c.Zero)
	for i, z := range logits {
		logits[i] = c.Scales[i%k]*z + c.Biases[i%k]
	}
	return mat.NewDense(len(logits)/k, k, logits)
}

// Corrected returns the calibration whose probabilities are right under class shares q (k) in
// the place of those for which c's speak, by the factors q/p (Saerens, Latinne and
// Decaestecker 2002). c must speak for every class of q.
func (c Classifier) Corrected(q []float64) calibration.Calibration {
	corrected := c.Calibration
	corrected.Biases = slices.Clone(c.Biases)
	for class, share := range q {
		corrected.Biases[class] += math.Log(share / c.SpeaksFor[class])
	}
	return corrected
}

// batchRows is the number of rows that are turned into probabilities together, so that those
// of many are held once.
const batchRows = 4096

// Sample returns the calibrated probabilities of held-out source rows with their labels, and
// of target rows, all as they are right under the held-out rows' class shares. An error names
// the domain and the row.
func (c Classifier) Sample(heldOut Rows, labels []int, target Rows) (*weightest.Sample, error) {
	k := len(c.Scales)
	if err := cmp.Or(heldOut.check("source", k), target.check("target", k)); err != nil {
		return nil, err
	}
	shares := sharesOf(labels, k)
	each := func(rows Rows) ([]float64, error) {
		all := make([]float64, 0, len(rows.Values))
		for first := 0; first < len(rows.Values); first += batchRows * k {
			part := rows
			part.Values = rows.Values[first:min(first+batchRows*k, len(rows.Values))]
			probabilities := c.Of(part)
			if !slices.Equal(shares, c.SpeaksFor) {
				var err error
				if probabilities, err = weightest.Correct(probabilities, shares, c.SpeaksFor); err != nil {
					return nil, err
				}
			}
			all = append(all, probabilities...)
		}
		return all, nil
	}
	onHeldOut, err := each(heldOut)
	if err != nil {
		return nil, err
	}
	onTarget, err := each(target)
	if err != nil {
		return nil, err
	}
	s, err := weightest.SampleOf(k, onHeldOut, labels, onTarget)
	if err == nil {
		s.Group(heldOut.Groups, target.Groups)
	}
	return s, err
}

// Shares are what a classifier says of the target's class shares.
type Shares struct {
	Classifier
	// Estimate are the target's shares q (TargetDistribution) and weights w, by which
	// probabilities of Sample are corrected.
	Estimate weightest.Estimate
	// Sample are the probabilities behind it, see [Classifier.Sample].
	Sample *weightest.Sample
	// Problem is that of the sample, which the estimator read.
	Problem weightest.Problem

	estimator       weightest.Estimator
	heldOut, target Rows
	labels          []int // of heldOut
}

// Fit calibrates a classifier of k classes on held-out source rows, which it was not trained
// on, with their labels, and estimates the target's class shares by [DefaultEstimator]. The errors are those of
// calibration, of rows that are no probabilities or logits, and of the estimator.
func Fit(classes int, heldOut Rows, labels []int, target Rows, s Settings) (*Shares, error) {
	c, err := Calibrate(classes, heldOut, labels, s)
	if err != nil {
		return nil, err
	}
	return Estimate(c, heldOut, labels, target, nil)
}

// Estimate is [Fit] of a classifier that has been calibrated on the held-out rows; nil is
// [DefaultEstimator]. It keeps the rows.
func Estimate(c Classifier, heldOut Rows, labels []int, target Rows, estimator weightest.Estimator) (*Shares, error) {
	sample, err := c.Sample(heldOut, labels, target)
	if err != nil {
		return nil, err
	}
	if estimator == nil {
		estimator = DefaultEstimator
	}
	problem, err := sample.Problem()
	if err != nil {
		return nil, err
	}
	q, err := estimator.Estimate(problem)
	if err != nil {
		return nil, err
	}
	return &Shares{c, q, sample, problem, estimator, heldOut, target, labels}, nil
}

// Target returns the target's class shares q (k).
func (s *Shares) Target() []float64 { return s.Estimate.TargetDistribution }

// Correct returns the probabilities of the sample's target rows from first to last, corrected
// for the shares: times w, of sum 1 a row. The error wraps weightest.ErrInvalidRow with the
// number of a row, from first, that has probability 0 in every class of the target.
func (s *Shares) Correct(first, last int) ([]float64, error) {
	k := s.Sample.Classes()
	return s.weighted(s.Sample.Target()[first*k : last*k])
}

// TestLabelShift is [shifttest.LabelShiftTest] of the classifier's probabilities as they were given. Those of a
// calibration, which was fitted to the held-out rows, would suit these better than others of their classes.
func (s *Shares) TestLabelShift(settings shifttest.LabelShiftSettings) (shifttest.LabelShift, error) {
	if s.Form == calibration.None {
		return shifttest.LabelShiftTest(s.Sample, settings)
	}
	k := s.Sample.Classes()
	given := s.Classifier
	given.Scales, given.Biases = slices.Repeat([]float64{1}, k), make([]float64, k)
	given.SpeaksFor = sharesOf(s.labels, k)
	sample, err := given.Sample(s.heldOut, s.labels, s.target)
	if err != nil {
		return shifttest.LabelShift{}, err
	}
	return shifttest.LabelShiftTest(sample, settings)
}

// weighted returns rows of probabilities times w, of sum 1 a row.
func (s *Shares) weighted(rows []float64) ([]float64, error) {
	return weightest.Correct(rows, s.Estimate.Weights, slices.Repeat([]float64{1}, s.Sample.Classes()))
}

// OfTarget estimates the class shares of target rows alone, by [DefaultEstimator] of their
// calibrated probabilities (row-major m×k), which speak for these class shares (k). No rows are an
// error.
func OfTarget(probabilities, speaksFor []float64) ([]float64, error) {
	k := len(speaksFor)
	mean := make([]float64, k)
	for row := range slices.Chunk(probabilities, k) {
		floats.Add(mean, row)
	}
	floats.Scale(1/float64(max(1, len(probabilities)/k)), mean)
	q, err := weightest.MLLS{Prior: speaksFor, Pseudocount: weightest.Laplace}.Estimate(weightest.Problem{
		Confusion: mat.NewDense(k, k, nil), TargetPredictions: mean, SourceDistribution: speaksFor,
		Rows: &weightest.Rows{Probabilities: probabilities},
	})
	return q.TargetDistribution, err
}
