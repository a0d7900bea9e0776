package main

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"iwda/experiments/config"
	"iwda/experiments/store"
	"iwda/nets/statedict"
	"iwda/research/runs"
	"iwda/weightest"
)

// lemma checks lemma B.1, on weights that improve, with what finished runs below a folder of results
// kept of their updates: with w the weights in the loss, w* the true ones and a source error of 0,
//
//	min(w_y D_S(y), D_T(y)) ≤ mu_y ≤ max(w_y D_S(y), D_T(y))  implies  |estimate_y - w*_y| ≤ |w_y - w*_y|.
func lemma(results string) error {
	finished := runs.Finished(results, "digits")
	fmt.Println("| run | updates | source error, first to last | classes that satisfy the condition | of them, nearer | of the others, nearer |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: |")
	for _, run := range finished {
		kept, _, err := statedict.Read(run.Dir.Path(store.StatisticsFile))
		if err != nil {
			return err
		}
		confusion, predictions := statedict.Floats(*statedict.Find(kept, "confusion")), statedict.Floats(*statedict.Find(kept, "target_predictions"))
		updates, err := run.Dir.ReadWeights()
		if err != nil {
			return err
		}
		method, _ := config.ParseMethod(run.Result.Method)
		source, target, truth := run.Result.LabelDistributions.Source, run.Result.LabelDistributions.Target, run.Result.TrueWeights
		k := len(source)
		inLoss := slices.Repeat([]float64{1}, k)
		if method.Weights == config.OracleWeights {
			inLoss = truth
		}
		var satisfied, nearer, others, nearerOthers int
		var errors []float64
		for i, u := range updates {
			c, mu := mat.NewDense(k, k, nil), make([]float64, k)
			right := 0.0
			for y := range k {
				mu[y] = float64(predictions[i*k+y])
				for j := range k {
					c.Set(y, j, float64(confusion[(i*k+y)*k+j]))
				}
				right += c.At(y, y)
			}
			errors = append(errors, 1-right)
			estimate, err := weightest.QP{}.Estimate(weightest.Problem{Confusion: c, TargetPredictions: mu, SourceDistribution: source})
			if err != nil {
				return err
			}
			for y := range k {
				is := math.Abs(estimate.Weights[y]-truth[y]) <= math.Abs(inLoss[y]-truth[y])+1e-9
				if between := min(inLoss[y]*source[y], target[y]) <= mu[y] && mu[y] <= max(inLoss[y]*source[y], target[y]); between {
					satisfied++
					nearer += oneIf(is)
				} else {
					others++
					nearerOthers += oneIf(is)
				}
			}
			if method.Weights == config.EstimatedWeights {
				inLoss = u.Weights
			}
		}
		fmt.Printf("| %s | %d | %.3f to %.3f | %d of %d | %d | %d of %d |\n", run.Result.ID, len(updates),
			errors[0], errors[len(errors)-1], satisfied, satisfied+others, nearer, nearerOthers, others)
	}
	return nil
}

func oneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}
