package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"iwda/internal/evenly"
)

// A symmetric Dirichlet distribution has mean 1/k and variance (k-1)/(k²(kα+1)).
func TestDirichletShares(t *testing.T) {
	const draws = 20000
	for _, alpha := range []float64{0.1, 1, 10} {
		source := rand.NewPCG(1, 2)
		var sum, squares [classes]float64
		for range draws {
			p := Shift{Kind: Dirichlet, Parameter: alpha}.shares(source)
			if math.Abs(floats.Sum(p)-1) > 1e-12 {
				t.Fatalf("α = %v: shares sum to %v", alpha, floats.Sum(p))
			}
			for y, share := range p {
				sum[y] += share
				squares[y] += share * share
			}
		}
		variance := float64(classes-1) / (classes * classes * (classes*alpha + 1))
		for y := range classes {
			mean := sum[y] / draws
			if math.Abs(mean-0.1) > 5*math.Sqrt(variance/draws) {
				t.Errorf("α = %v, class %d: mean %v", alpha, y, mean)
			}
			if got := squares[y]/draws - mean*mean; math.Abs(got/variance-1) > 0.1 {
				t.Errorf("α = %v, class %d: variance %v, want %v", alpha, y, got, variance)
			}
		}
	}
}

func TestTweakOneShares(t *testing.T) {
	p := Shift{Kind: TweakOne, Class: 3, Parameter: 0.91}.shares(nil)
	want := []float64{0.01, 0.01, 0.01, 0.91, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01}
	if !floats.EqualApprox(p, want, 1e-15) {
		t.Errorf("got %v, want %v", p, want)
	}
}

// labelsInTurn are the labels 0 to 9 again and again.
func labelsInTurn(n int) []int {
	labels := make([]int, n)
	for i := range labels {
		labels[i] = i % classes
	}
	return labels
}

func TestDrawQuotas(t *testing.T) {
	labels := labelsInTurn(50)
	p := []float64{0.5, 0.25, 0.125, 0.0625, 0.0625, 0, 0, 0, 0, 0}
	const n = 24 // 12, 6, 3, 1.5, 1.5
	var rest [classes]int
	for seed := range uint64(200) {
		rows := drawQuotas(rand.New(rand.NewPCG(seed, 0)), rowsByClass(labels), p, n)
		if len(rows) != n {
			t.Fatalf("%d rows, want %d", len(rows), n)
		}
		got := counts(evenly.Pick(labels, rows))
		for y, quota := range []float64{12, 6, 3, 1, 1} {
			if got[y] < quota {
				t.Fatalf("%v rows of class %d, want at least %v", got[y], y, quota)
			}
			rest[y] += int(got[y] - quota)
		}
	}
	// The 200 rows that are left come from p: 100, 50, 25, 12.5, 12.5.
	for y, want := range []float64{100, 50, 25, 12.5, 12.5} {
		if math.Abs(float64(rest[y])-want) > 4*math.Sqrt(want) {
			t.Errorf("%d of the rest are of class %d, want some %v", rest[y], y, want)
		}
	}
	if rows := drawQuotas(rand.New(rand.NewPCG(1, 1)), rowsByClass(labels), p, 1000); len(slices.Compact(slices.Sorted(slices.Values(rows)))) != 25 {
		t.Error("1000 rows with replacement of five classes leave some of their 25 rows out, or take others")
	}
}

func TestDrawIndependent(t *testing.T) {
	labels := labelsInTurn(40)
	p := []float64{0, 0.7, 0, 0, 0, 0, 0, 0, 0, 0.3}
	const n = 10000
	got := counts(evenly.Pick(labels, drawIndependent(rand.New(rand.NewPCG(3, 4)), rowsByClass(labels), p, n)))
	for y, share := range p {
		if math.Abs(got[y]/n-share) > 4*math.Sqrt(share*(1-share)/n) {
			t.Errorf("class %d: %v of %d rows, want the share %v", y, got[y], n, share)
		}
	}
}

// Shares whose sum is rounded below one leave a class that has a share.
func TestDrawClassAtTheEnd(t *testing.T) {
	shares := []float64{0.25, 0.25, 0, 0, 0, 0, 0, 0, 0, 0}
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		if y := drawClass(random, shares); y > 1 {
			t.Fatalf("class %d, which has no share", y)
		}
	}
}
