//go:build !wasm

package simd

import "math"

// fma returns a·b + c, rounded once.
func fma(a, b, c float64) float64 { return math.FMA(a, b, c) }
