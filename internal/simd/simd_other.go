//go:build !amd64

package simd

func raiseWide(_, _ []float64, _ Affine) int { return 0 }

func addExpWide(_, _, _, _ []float64, _ Affine) int { return 0 }

func normaliseWide(_ *momentLanes, _, _, _, _ []float64) int { return 0 }

func addGramWide(_ []float64, _ int, _ [][]float64) int { return 0 }

func combineWide(_, _, _ []float64) int { return 0 }

func combinePairs(_, _, _ []float64, _ int) int { return 0 }

func projectTiles(_, _, _ []float64, _ int) int { return 0 }

func projectWide(_, _, _ []float64) int { return 0 }

func transposeWide(_, _ []float64, _, _, _, _ int) bool { return false }
