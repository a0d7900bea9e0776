package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"iwda/internal/convert"
	"iwda/internal/nearest"
)

// Alignment is the loss that draws the two domains together.
type Alignment string

// The alignments. CDANE is CDAN with entropy conditioning, MCC minimum class confusion.
const (
	NoAlignment Alignment = "none"
	DANN        Alignment = "dann"
	CDAN        Alignment = "cdan"
	CDANE       Alignment = "cdan-e"
	DAN         Alignment = "dan"
	JAN         Alignment = "jan"
	MCC         Alignment = "mcc"
)

// WeightSource says where class weights come from.
type WeightSource string

// Where class weights come from: nowhere (all 1), the estimator during training,
// or the true target labels.
const (
	NoWeights        WeightSource = "none"
	EstimatedWeights WeightSource = "estimated"
	OracleWeights    WeightSource = "oracle"
)

// Method is an alignment, a source of class weights, and which losses they enter.
type Method struct {
	Name                 string
	Alignment            Alignment
	Weights              WeightSource
	WeightClassification bool
	WeightDomain         bool
}

// Base returns the name of the method without weights that the paper compares m
// with, and "" where m has no weights itself.
func (m Method) Base() string {
	if m.Weights == NoWeights {
		return ""
	}
	return string(m.Alignment)
}

// Properties are what is known of an alignment beside its loss.
type Properties struct {
	Alignment     Alignment
	Weighted      string // what its importance-weighted form is called, "" if it has none
	Ablated       bool   // it has forms with weights in one of the losses alone
	Discriminator bool   // it trains one
	Kernel        bool   // it compares pairs of rows, by a form of the MMD
	Joint         bool   // it aligns features and predictions together, which takes longer
	Place         int    // among all; the method Properties sets it
}

// alignments registers every alignment, in the order of the paper's tables.
var alignments = []Properties{
	{Alignment: DANN, Weighted: "iwdan", Ablated: true, Discriminator: true},
	{Alignment: CDAN, Weighted: "iwcdan", Ablated: true, Discriminator: true, Joint: true},
	{Alignment: JAN, Weighted: "iwjan", Kernel: true, Joint: true},
	{Alignment: CDANE, Weighted: "iwcdan-e", Discriminator: true, Joint: true},
	{Alignment: DAN, Kernel: true},
	{Alignment: MCC},
}

// Properties returns those of the alignment. One that is not registered comes after all others.
func (a Alignment) Properties() Properties {
	for i, p := range alignments {
		if p.Alignment == a {
			p.Place = i
			return p
		}
	}
	return Properties{Place: len(alignments)}
}

// presets holds every method by its name, in the order of the paper's tables.
var presets = makePresets()

func makePresets() []Method {
	methods := []Method{{"source-only", NoAlignment, NoWeights, false, false}}
	for _, of := range alignments {
		a, name := of.Alignment, string(of.Alignment)
		methods = append(methods, Method{name, a, NoWeights, false, false})
		if of.Weighted != "" {
			methods = append(methods,
				Method{of.Weighted, a, EstimatedWeights, true, true},
				Method{of.Weighted + "-o", a, OracleWeights, true, true})
		}
		if of.Ablated {
			methods = append(methods,
				Method{name + "+wc", a, EstimatedWeights, true, false}, Method{name + "+wda", a, EstimatedWeights, false, true},
				Method{name + "+wc-o", a, OracleWeights, true, false}, Method{name + "+wda-o", a, OracleWeights, false, true})
		}
	}
	return methods
}

// ParseMethod returns the preset of that name, in any case, and whether there is one. A name may
// go on with @ and a word, as in source-only@linear: the same method with settings of its own,
// which overrides give it.
func ParseMethod(name string) (Method, bool) {
	preset, word, settings := strings.Cut(name, "@")
	for _, m := range presets {
		if strings.EqualFold(m.Name, preset) && (!settings || plainFolder.MatchString(word)) {
			if settings {
				m.Name += "@" + strings.ToLower(word)
			}
			return m, true
		}
	}
	return Method{}, false
}

// Ordered returns the names of methods in the order of the paper's tables, those of one preset in
// the order in which they come.
func Ordered(methods []string) []string {
	ordered := slices.Clone(methods)
	rank := func(name string) int {
		preset, _, _ := strings.Cut(name, "@")
		return slices.IndexFunc(presets, func(m Method) bool { return m.Name == preset })
	}
	slices.SortStableFunc(ordered, func(a, b string) int { return rank(a) - rank(b) })
	return ordered
}

// MethodNames returns the names of all presets in the order of the paper's tables.
func MethodNames() []string {
	return convert.Each(presets, func(m Method) string { return m.Name })
}

// method accepts the names of methods in any case.
func method(path string, v reflect.Value) string {
	m, known := ParseMethod(v.String())
	if !known {
		return oneOf("method", MethodNames()).check(path, v)
	}
	v.SetString(m.Name)
	return ""
}

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
