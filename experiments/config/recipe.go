package config

import (
	"maps"
	"slices"
)

// recipes are the settings that a name stands for: defaults, before what a file says
// itself. docs/robustness.md tells how they were chosen.
var recipes = map[string]string{
	"robust": "discriminator: {normalise: rows, dropout: 0}",
}

// RecipeNames returns the names of recipes in alphabetical order.
func RecipeNames() []string { return slices.Sorted(maps.Keys(recipes)) }
