package main

import (
	"fmt"
	"math/rand/v2"
	"strconv"

	"iwda/adaptation/labels"
)

// measureChoice returns how often labels choose one of five other methods, and how often the intervals of
// the one that looks best by them, of its accuracy and of its difference to what predicts, hold the truth.
func measureChoice(draws int) ([]string, error) {
	lines := []string{
		"| accuracy of what predicts | of one other method | of four others | n | best one's accuracy held | best one's difference held | chosen: any | the better one |",
		"| --- | --- | --- | --- | --- | --- | --- | --- |",
	}
	for _, c := range []struct{ first, other float64 }{{0.6, 0.6}, {0.9, 0.9}, {0.98, 0.98}, {0.6, 0.65}, {0.6, 0.75}, {0.9, 0.94}} {
		for _, n := range []int{50, 200} {
			line, err := chooses(c.first, c.other, n, draws)
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
	}
	return lines, nil
}

func chooses(first, other float64, n, draws int) (string, error) {
	random := rand.New(rand.NewPCG(uint64(n), uint64(1000*(first+10*other))))
	var t target
	accurate, held, chosen, better := 0, 0, 0, 0
	for seed := range draws {
		if seed%perTarget == 0 {
			t = drawTarget([]float64{first, other, first, first, first, first}, 0.5, calibrated, random)
		}
		given, matched := t.label(n, int64(seed))
		e := labels.Evaluate(given, matched)
		for which, m := range t.methods[1:] {
			rival := labels.NewRival(given, matched)
			for i, class := range m.class {
				if err := rival.Add(names[i], names[class], m.confidence[i]); err != nil {
					return "", err
				}
			}
			method, err := rival.Method(strconv.Itoa(which), nil, len(t.methods)-1)
			if err != nil {
				return "", err
			}
			e.Methods = append(e.Methods, method)
		}
		best, _, clear := e.Best()
		of, err := strconv.Atoi(best.Method)
		if err != nil {
			return "", err
		}
		truth := t.accuracy(t.methods[1+of])
		if a := best.Accuracy; a.Low <= truth && truth <= a.High {
			accurate++
		}
		if d, truth := best.Difference, truth-t.accuracy(t.methods[0]); d.Low <= truth && truth <= d.High {
			held++
		}
		if clear {
			chosen++
			if best.Method == "0" {
				better++
			}
		}
	}
	return fmt.Sprintf("| %.2f | %.2f | %.2f | %d | %s | %s | %s | %s |", first, other, first, n,
		percent(accurate, draws), percent(held, draws), percent(chosen, draws), percent(better, draws)), nil
}
