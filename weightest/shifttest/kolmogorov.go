package shifttest

import (
	"math"
	"slices"
)

// kolmogorovSteps returns n·m·D, D the largest difference of the two samples'
// distribution functions, as an integer: max |i·m - j·n| over all values, i and j the
// numbers of a and of b up to the value. Both samples are sorted.
func kolmogorovSteps(a, b []float64) int {
	n, m := len(a), len(b)
	var i, j, largest int
	for i < n && j < m {
		value := min(a[i], b[j])
		for i < n && a[i] == value {
			i++
		}
		for j < m && b[j] == value {
			j++
		}
		largest = max(largest, abs(i*m-j*n))
	}
	return largest
}

func abs(i int) int { return max(i, -i) }

// exactCells bounds the lattice points that kolmogorovExact goes through for one class.
const exactCells = 1 << 22

// kolmogorovP returns the probability of a distance of at least steps/(n·m) between two
// samples of n and m rows from one distribution, exact where that is cheap.
func kolmogorovP(n, m, steps int) float64 {
	distance := float64(steps) / (float64(n) * float64(m))
	if 2*distance*float64(n)*float64(m) <= exactCells {
		return kolmogorovExact(n, m, steps)
	}
	return kolmogorovLimit(distance * math.Sqrt(float64(n)/float64(n+m)*float64(m)))
}

// kolmogorovExact counts lattice paths: the order of two samples that are alike is a
// random path from (0, 0) to (n, m), and the distance is reached where the path touches
// |i·m - j·n| = steps. The probability that a random path to (i, j) has touched is
//
//	u(i, j) = (i·u(i-1, j) + j·u(i, j-1)) / (i + j)   inside,   1 outside,
//
// as its last step comes from the left with probability i/(i+j). No term is negative, so
// that the smallest p-values are as accurate as the largest (Viehmann 2021).
func kolmogorovExact(n, m, steps int) float64 {
	if steps == 0 {
		return 1
	}
	inverse := make([]float64, n+m+1)
	for s := 1; s <= n+m; s++ {
		inverse[s] = 1 / float64(s)
	}
	u := slices.Repeat([]float64{1}, m+1)
	for j := 0; j <= m && j*n < steps; j++ {
		u[j] = 0
	}
	for i := 1; i <= n; i++ {
		// Inside are the j with i·m - steps < j·n < i·m + steps.
		low := max(0, floorDivide(i*m-steps, n)+1)
		high := min(m, floorDivide(i*m+steps-1, n))
		left := 1.0
		for j := low; j <= high; j++ {
			left = (float64(i)*u[j] + float64(j)*left) * inverse[i+j]
			u[j] = left
		}
	}
	return u[m]
}

// floorDivide returns the largest integer that is at most a/b, b > 0.
func floorDivide(a, b int) int {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// kolmogorovLimit returns P(K ≥ x) for Kolmogorov's distribution, that of √(nm/(n+m))·D
// for large samples.
func kolmogorovLimit(x float64) float64 {
	switch {
	case x <= 0:
		return 1
	case x < 1:
		// P(K < x) = √(2π)/x Σ exp(-(2j-1)²π²/(8x²)), which converges fast here.
		var sum float64
		for j := 1; j <= 7; j += 2 {
			sum += math.Exp(-float64(j*j) * math.Pi * math.Pi / (8 * x * x))
		}
		return 1 - math.Sqrt(2*math.Pi)/x*sum
	}
	// P(K ≥ x) = 2 Σ (-1)^(j-1) exp(-2j²x²).
	var sum float64
	sign := 1.0
	for j := 1; j <= 5; j++ {
		sum += sign * math.Exp(-2*float64(j*j)*x*x)
		sign = -sign
	}
	return 2 * sum
}
