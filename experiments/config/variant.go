package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"iwda/internal/nearest"
)

// namedVariants have a meaning of their own: Full keeps all images, Subsampled is
// the paper's, see Dataset.Fraction.
var namedVariants = []string{Full, Subsampled}

// The variants that need no class fractions.
const (
	Full       = "full"
	Subsampled = "subsampled"
)

// FractionsDomain returns the domain, "source" or "target", whose classes a variant
// thins out by Dataset.ClassFractions: that before the hyphen in source-07 or
// target-rare. It is "" for the variants Full and Subsampled.
func FractionsDomain(variant string) string {
	for _, domain := range []string{"source", "target"} {
		if rest, ok := strings.CutPrefix(variant, domain+"-"); ok && plainFolder.MatchString(rest) {
			return domain
		}
	}
	return ""
}

// variant accepts the names of variants in any case.
func variant(_ string, v reflect.Value) string {
	given := v.String()
	v.SetString(strings.ToLower(given))
	if slices.Contains(namedVariants, v.String()) || FractionsDomain(v.String()) != "" {
		return ""
	}
	return fmt.Sprintf("unknown variant %q; %s", given, nearest.Suggestion(given, append(slices.Clone(namedVariants), "source-NAME", "target-NAME")))
}
