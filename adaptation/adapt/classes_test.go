package adapt

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"iwda/adaptation/judge"
	"iwda/experiments/model"
	"iwda/experiments/store"
	"iwda/inference/trust"
	"iwda/internal/must"
	"iwda/weightest/shifttest"
)

// onLine returns a run that is right about three classes on a line, of which the first is frequent
// in the source and rare in the target.
func onLine(source, target []float64) judge.Candidate {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func(shares []float64, n int) (logits []float32, classes []int) {
		for range n {
			u, class := random.Float64(), 0
			for u > shares[class] && class < len(shares)-1 {
				u -= shares[class]
				class++
			}
			x := 2*float64(class) + random.NormFloat64()
			for c, share := range source {
				d := x - 2*float64(c)
				logits = append(logits, float32(math.Log(share)-d*d/2))
			}
			classes = append(classes, class)
		}
		return logits, classes
	}
	c := judge.Candidate{Run: "source-only", Outputs: store.Outputs{Classes: len(source)}}
	c.HeldOut, c.HeldOutLabels = draw(source, 3000)
	c.Target, _ = draw(target, 5000)
	return c
}

// The intervals of the target's shares hold them, as wide as chance with so many rows
// makes them, and those of the weights follow.
func TestClassIntervals(t *testing.T) {
	sourceShares, targetShares := []float64{0.7, 0.2, 0.1}, []float64{0.1, 0.3, 0.6}
	run := onLine(sourceShares, targetShares)
	alone, _ := must.Both(judge.New([]judge.Candidate{run}))(t)
	must.Do(t, alone.TestShift())
	about := model.Metadata{Classes: []string{"a", "b", "c"}, Shares: model.Shares{Source: sourceShares, Target: alone.Shared.Target()}}
	shares := must.Have(classShares(about, alone, 0))(t)
	rejected := *alone
	rejected.Shared.Test = shifttest.LabelShift{DegreesOfFreedom: 2, P: 0.01}
	if of, err := classShares(about, &rejected, 0); err != nil || of[0].TargetShare != shares[0].TargetShare || of[0].TargetInterval != nil {
		t.Errorf("%+v, %v: more than label shift, and an interval", of[0], err)
	}
	for i, s := range meanShares([][]ClassOutcome{shares}) {
		truth, low, high := targetShares[i], s.TargetInterval.Low, s.TargetInterval.High
		if low > s.TargetShare || high < s.TargetShare || truth < low-0.01 || truth > high+0.01 {
			t.Errorf("%s: %v, estimated %v in %v", s.Class, truth, s.TargetShare, *s.TargetInterval)
		}
		// That of the share of 5000 rows whose classes were known is the narrowest.
		if width, least := high-low, 3.9*math.Sqrt(truth*(1-truth)/5000); width < 0.8*least || width > 5*least {
			t.Errorf("%s: an interval of %v, with known classes %v", s.Class, width, least)
		}
		if w := s.WeightInterval; math.Abs(w.Low*s.SourceShare-low) > 1e-12 || math.Abs(w.High*s.SourceShare-high) > 1e-12 {
			t.Errorf("%s: weight in %v", s.Class, w)
		}
	}
	for k, want := range map[int]string{226: "resamples of 226 classes take minutes; iwrun labelshift --run makes them", 501: "take hours"} {
		if err := bound(make([]ClassOutcome, k), alone, 0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%d classes: %v, want %q", k, err, want)
		}
	}
	for want, change := range map[string]func(*model.Metadata){
		"no estimate of the target's class shares": func(m *model.Metadata) { m.Shares.Target = nil },
		"2 classes, but shares of 3 in the source": func(m *model.Metadata) { m.Classes = m.Classes[:2] },
	} {
		other := about
		change(&other)
		if shares, err := classShares(other, alone, 0); shares != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, error %v, want %q", shares, err, want)
		}
	}
	path := filepath.Join(t.TempDir(), "classes.csv")
	shares[2].TargetInterval = nil
	shares[2].weigh()
	recall, none := trust.NumberOf(0.5, 0.25, 0.75), 0.0
	shares[2].Recall, shares[2].ShareRejected, shares[2].MeanProbability = &recall, true, 0.125
	must.Do(t, writeClasses(path, append(shares[2:], ClassOutcome{Class: "none", Recall: &trust.Number{Value: &none}})))
	text, err := os.ReadFile(path)
	want := fmt.Sprintf("class,source_share,target_share,target_share_low,target_share_high,weight,weight_low,weight_high,mean_probability,predicted_share,recall,recall_low,recall_high,precision,precision_low,precision_high,share_rejected\n"+
		"c,0.100000,%.6f,,,%.6f,,,0.125000,0.000000,0.500000,0.250000,0.750000,,,,yes\nnone,0.000000,0.000000,,,0.000000,,,0.000000,0.000000,0.000000,,,,,,no\n", shares[2].TargetShare, shares[2].TargetShare/0.1)
	if err != nil || string(text) != want {
		t.Errorf("%v\n%s\nwant\n%s", err, text, want)
	}
}
