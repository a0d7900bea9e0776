//go:build !amd64

package simd

func expWide([]float64) int { return 0 }

func scaleShiftWide(_, _, _ []float64, _, _ float64) int { return 0 }

func dotTileWide(_ *[tileHeight][tileWidth]float64, _, _ [][]float64, _, _ int) int {
	return 0
}

func addExpWide(_, _, _ []float64) int { return 0 }

func combineWide(_, _, _ []float64) int { return 0 }

func projectWide(_, _, _ []float64) int { return 0 }

func multiplyWide(_, _, _ []float64) int { return 0 }

func normaliseWide(_ *momentLanes, _, _, _, _, _ []float64) int { return 0 }
