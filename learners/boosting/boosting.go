// Package boosting grows gradient-boosted trees (Friedman 2001) on histograms of binned columns. Each
// round adds one tree for two classes, and one a class for more, which follow the gradient of the
// logistic or softmax loss. A tree grows at the leaf where a split gains most (Shi 2007), and a leaf has
// the Newton step -G/(H + L2) of its rows' gradients and second derivatives, times the rate (Chen and
// Guestrin 2016). Missing values go to the side that gains more. Words are split into two sets of
// levels, found in the order of G/H (Fisher 1958). Folds of held-out rows, none of which shares a
// group with the rows that are learnt from, say how many rounds there are.
package boosting

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
	"iwda/learners"
)

// Settings are how trees are grown.
type Settings struct {
	Rounds    int     // at most, or exactly if there are no folds
	Rate      float64 // by which each tree's values are multiplied
	Leaves    int     // of a tree, at most
	LeastRows int     // in a leaf
	L2        float64 // is added to the second derivatives of a leaf
	Folds     int     // in which rows are held out; 0 holds none out
	Patience  int     // rounds without a lower loss of held-out rows after which no further one is made
	threads   int
}

// Usual returns the settings that suit most tables.
func Usual() Settings {
	return Settings{Rounds: 300, Rate: 0.1, Leaves: 31, LeastRows: 20, L2: 0.1, Folds: 5, Patience: 15}
}

const (
	// mostRead bounds rows times trees of a round times columns, with what stands beside these: of more
	// rows some are read, drawn evenly. So all that is kept of rows is below a gigabyte.
	mostRead   = 1 << 29
	besideThem = 64
	// mostNodes bounds those of all trees of a model: fewer rounds are made of many classes.
	mostNodes = 1 << 21
)

// Fit is a [learners.Learner], whose model is a [Model] and whose Crossed, empty if there are no folds, is
// by models of as many rounds. NaN is a missing value. An error is that of the context, of values that are
// infinite, of too many classes, or of rows in one group, of which none can be held out.
func (s Settings) Fit(ctx context.Context, rows learners.Rows, others []float32, threads int, _ *rand.PCG) (learners.Fitted, error) {
	s.threads = threads
	if err := learners.CheckClasses(rows.Classes); err != nil {
		return learners.Fitted{}, fmt.Errorf("boosting: %w", err)
	}
	d := rows.Columns()
	if err := rows.Check(true); err != nil {
		return learners.Fitted{}, fmt.Errorf("boosting: %w", err)
	}
	trees := treesOf(rows.Classes)
	read := evenly.All(len(rows.Labels))
	if most := mostRead / ((d + besideThem) * trees); len(rows.Labels) > most {
		read = evenly.Rows(len(rows.Labels), max(1, most))
		rows = rows.Part(read)
	}
	var fold []int // of each row
	folds := 0
	if s.Folds > 0 {
		fold = learners.Folds(rows, s.Folds)
		if folds = slices.Max(fold) + 1; folds < 2 {
			return learners.Fitted{}, fmt.Errorf("boosting: all %d rows are of one group, so none can be held out: give groups that differ", len(rows.Labels))
		}
	}
	data := binned(rows, s)
	// One booster a fold, which does not learn from it, and one that learns from all rows.
	var boosters []*booster
	for held := range folds + 1 {
		boosters = append(boosters, newBooster(rows, data, s, fold, held))
	}
	workers := newCrew(data, s, folds+1, trees)
	best, logits, least := 0, [][]float64(nil), math.Inf(1)
	rounds := min(s.Rounds, mostNodes/(trees*(2*s.Leaves-1)))
	for round := 0; ; round++ {
		if folds > 0 {
			if loss := heldOutLoss(rows, boosters, fold); loss < least {
				best, least, logits = round, loss, heldOut(logits, boosters, fold)
			} else if round >= best+s.Patience {
				break
			}
		} else {
			best = round
		}
		if round == rounds {
			break
		}
		if err := workers.round(ctx, boosters); err != nil {
			return learners.Fitted{}, err
		}
	}
	result := learners.Fitted{Model: boosters[folds].model(best)}
	if folds > 0 {
		asked := evenly.Rows(len(rows.Labels), learners.MostCrossed)
		result.Crossed.Rows = evenly.Pick(read, asked)
		for tree := range logits {
			logits[tree] = evenly.Pick(logits[tree], asked)
		}
		result.Crossed.Logits = spread(logits, rows.Classes)
		for _, of := range boosters[:folds] {
			result.Crossed.Others = append(result.Crossed.Others, of.model(best).Logits(others, d, threads))
		}
	}
	return result, nil
}

// treesOf is the number of trees in a round.
func treesOf(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// heldOutLoss is the sum over rows of the cross-entropy, each by the booster of its fold.
func heldOutLoss(rows learners.Rows, boosters []*booster, fold []int) (sum float64) {
	scores := make([]float64, treesOf(rows.Classes))
	for i, y := range rows.Labels {
		of := boosters[fold[i]]
		for tree := range scores {
			scores[tree] = of.scores[tree][i]
		}
		sum += crossEntropy(scores, y)
	}
	return sum
}

// heldOut copies the scores of all rows (trees × n), each by the booster of its fold, into some of
// before, nil for new ones.
func heldOut(into [][]float64, boosters []*booster, fold []int) [][]float64 {
	for tree, scores := range boosters[0].scores {
		if len(into) == tree {
			into = append(into, make([]float64, len(scores)))
		}
		for i := range fold {
			into[tree][i] = boosters[fold[i]].scores[tree][i]
		}
	}
	return into
}

// spread returns logits (n×k) of scores (trees × n): the score itself and 0 of two classes.
func spread(scores [][]float64, k int) []float64 {
	logits := make([]float64, len(scores[0])*k)
	for tree, of := range scores {
		for i, score := range of {
			logits[i*k+k-len(scores)+tree] = score
		}
	}
	return logits
}

// crossEntropy is that of the scores of a row: of its class, or of class 1 of two if there is one alone.
func crossEntropy(scores []float64, y int) float64 {
	if len(scores) == 1 {
		return logOnePlusExp(float64(1-2*y) * scores[0])
	}
	return floats.LogSumExp(scores) - scores[y]
}

func logOnePlusExp(x float64) float64 { return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
