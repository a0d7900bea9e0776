package adapt

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"iwda/adaptation/adapt/names"
	"iwda/adaptation/predict"
	"iwda/experiments/model"
	"iwda/experiments/plan"
	"iwda/internal/evenly"
	"iwda/nets/architecture"
)

// mostNamed bounds the classes that the first answer names.
const mostNamed = 5

// firstAnswer predicts with a finished run, if it is the linear classifier's, whose answer is there
// long before the others', and says what; "" otherwise, and if it fails, which the end will tell.
func (p *Plan) firstAnswer(ctx context.Context, run plan.Run) string {
	if run.Config.Network.Name != string(architecture.Linear) || p.answered {
		return ""
	}
	members, err := p.options.Trust.OpenMembers([]string{run.Dir(p.results()).String()})
	if err != nil {
		return ""
	}
	members[0].Shares.Assumed = members[0].Shares.Classifier
	written, err := p.predictTarget(ctx, members, names.First, 0, nil)
	if err != nil {
		return ""
	}
	p.answered = true
	classes := evenly.All(len(written.Counts))
	slices.SortStableFunc(classes, func(a, b int) int { return written.Counts[b] - written.Counts[a] })
	var shares []string
	for _, class := range classes[:min(len(classes), mostNamed)] {
		shares = append(shares, fmt.Sprintf("%.0f%% %q", 100*float64(written.Counts[class])/float64(written.Rows()), p.Data.Classes[class]))
	}
	return fmt.Sprintf("first answer, without correction: %s predicts %s (%s)", run.ID.Method, strings.Join(shares, ", "), p.path(names.First))
}

// predictTarget writes what members predict of the target; see [predict.Request] for sets and also.
func (p *Plan) predictTarget(ctx context.Context, members []model.Model, name string, sets float64, also func(id, class string, probability float64)) (predict.Written, error) {
	request := predict.Request{
		Inputs: []string{p.Data.Target.Path}, Roles: p.Data.Target.Roles, Shares: predict.ModelShares,
		Output: p.path(name), Probabilities: p.options.Probabilities, Also: also, Sets: sets,
	}
	return predict.Write(ctx, members, request, predict.Options{Torch: p.options.Torch, Device: p.options.Device, Threads: p.options.Threads})
}
