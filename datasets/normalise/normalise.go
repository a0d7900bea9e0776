// Package normalise brings rows of two domains to where a network learns from both, and says
// what is odd about their columns. No label of the target is read.
//
// [Fit] finds a [Normalisation] of rows of features, [Channels] is that of images. Training
// applies it to both domains; it is kept with the model, which later applies it to what is
// predicted. [Match] finds class shares of the target and a map of its columns together.
// [Ranges] bounds columns that a few values dominate. [Marks] and [Counting] name
// columns for people to look at.
package normalise

import (
	"cmp"
	"fmt"
	"reflect"

	"iwda/datasets"
)

// The ways to normalise rows of features.
const (
	None     = "none"
	OfSource = "source"   // each column of both domains by the source's mean and deviation
	Standard = "standard" // each column to mean 0 and deviation 1, by its domain's training rows
	Matched  = "matched"  // as standard, the target's so that it agrees with the source under the target's class shares; see [Match]
)

// Settings say how a [Normalisation] is found.
type Settings struct {
	Way string // one of those above; the empty text is None
	// Clip is the number of deviations at which columns are bounded before; see [Ranges]. 0 is
	// for none.
	Clip float64
	// Within bounds columns that are normalised by the source's statistics: at so many times the width of the
	// source's values outside of these. 0 is for none.
	Within float64
}

// Standardises reports whether a way changes columns by statistics of their domain.
func Standardises(way string) bool {
	return way == OfSource || way == Standard || way == Matched
}

// Normalisation is what happens to a row before the network sees it: to each feature, or to
// the pixels, from 0 to 1, of each channel of an image.
type Normalisation struct {
	// Kind is None or, with statistics found in whatever way, Standard.
	Kind string `json:"kind"`
	// Source and Target are the statistics by which each domain was standardised in training;
	// what is predicted is standardised by the target's. Source is nil if it was the same.
	Source *Statistics `json:"source,omitempty"`
	Target *Statistics `json:"target,omitempty"`
}

// Channels is the normalisation of images by means and deviations of their channels, which
// are positive.
func Channels(mean, deviation []float32) Normalisation {
	return Normalisation{Kind: Standard, Target: &Statistics{Mean: mean, Deviation: deviation}}
}

// Fit finds the normalisation of two domains from their training rows. Every class must have
// a labelled row in the source where these are matched. Another way than those above, and domains
// of rows of other sizes, are errors.
func Fit(how Settings, source, target datasets.Set) (Normalisation, error) {
	switch {
	case how.Way == "", how.Way == None:
		return Normalisation{Kind: None}, nil
	case !Standardises(how.Way):
		return Normalisation{}, fmt.Errorf("normalise: no way %q; there are %s, %s, %s and %s", how.Way, None, OfSource, Standard, Matched)
	}
	if d, other := datasets.Size(source.Shape()), datasets.Size(target.Shape()); d != other {
		return Normalisation{}, fmt.Errorf("normalise: rows of %d values in %s, of %d in %s", d, source.Name(), other, target.Name())
	}
	var ofSource, ofTarget Range
	if how.Clip > 0 {
		ofSource, ofTarget, _ = Ranges(source, target, how.Clip)
		source, target = Clipped(source, ofSource), Clipped(target, ofTarget)
	}
	if how.Within > 0 && how.Clip == 0 && how.Way == OfSource {
		ofSource = rangeOf(source, float32(how.Within))
		ofTarget = ofSource
	}
	var s, t Statistics
	if how.Way == Matched {
		m, err := NewMatch(source, target)
		if err != nil {
			return Normalisation{}, err
		}
		s, t = m.Source, m.Target
	} else {
		s, t = StatisticsOf(source), StatisticsOf(target)
		if how.Way == OfSource {
			s.leaveOut(append(foreign(source, t), s.Constant...))
			t = s
		} else {
			LeaveOut(&s, &t)
		}
	}
	s.Range, t.Range = ofSource, ofTarget
	if reflect.DeepEqual(s, t) {
		return Normalisation{Kind: Standard, Target: &t}, nil
	}
	return Normalisation{Kind: Standard, Source: &s, Target: &t}, nil
}

// OnSource returns a view of rows of the source as the network sees them.
func (n Normalisation) OnSource(set datasets.Set) datasets.Set {
	return n.view(set, cmp.Or(n.Source, n.Target))
}

// OnTarget returns a view of rows of the target as the network sees them.
func (n Normalisation) OnTarget(set datasets.Set) datasets.Set { return n.view(set, n.Target) }

func (n Normalisation) view(set datasets.Set, by *Statistics) datasets.Set {
	if change := n.change(by); change != nil {
		return &changed{set, change}
	}
	return set
}

// Rows changes rows of the target, each of size values, in place.
func (n Normalisation) Rows(values []float32, size int) {
	if change := n.change(n.Target); change != nil {
		for first := 0; first < len(values); first += size {
			change(values[first : first+size])
		}
	}
}

// change returns what changes a row in place, nil where nothing does.
func (n Normalisation) change(by *Statistics) func(row []float32) {
	if n.Kind == Standard {
		return by.standardise
	}
	return nil
}

// SameOnTarget reports whether both make the same of rows of the target.
func (n Normalisation) SameOnTarget(other Normalisation) bool {
	return n.Kind == other.Kind && reflect.DeepEqual(n.Target, other.Target)
}

// Check returns an error that names the field, as in normalisation.target.mean, unless the
// normalisation is one of rows of that shape: {size} of features, {channels, height, width} of
// images.
func (n Normalisation) Check(shape []int) error {
	features := len(shape) == 1
	switch {
	case n.Kind == Standard && n.Target == nil:
		return fmt.Errorf("normalisation.target is missing; normalisation.kind %q needs it", n.Kind)
	case n.Kind != None && n.Kind != Standard:
		return fmt.Errorf("normalisation.kind is %q, want %q or %q", n.Kind, None, Standard)
	}
	for _, s := range []struct {
		field string
		*Statistics
	}{{"normalisation.source", n.Source}, {"normalisation.target", n.Target}} {
		switch {
		case s.Statistics == nil:
			continue
		case n.Kind != Standard:
			return fmt.Errorf("%s is there; normalisation.kind %q has no statistics", s.field, n.Kind)
		case s.Low != nil && !features:
			return fmt.Errorf("%s.low is for features, not for images of shape %v", s.field, shape)
		}
		if err := s.check(s.field, shape[0]); err != nil {
			return err
		}
	}
	return nil
}

func (s Statistics) check(field string, size int) error {
	for _, part := range []struct {
		key    string
		values []float32
	}{{"mean", s.Mean}, {"deviation", s.Deviation}} {
		if len(part.values) != size {
			return fmt.Errorf("%s.%s has %d values, want %d", field, part.key, len(part.values), size)
		}
	}
	if low, high := len(s.Low), len(s.High); (s.Low != nil || s.High != nil) && (low != size || high != size) {
		return fmt.Errorf("%s.low and %s.high have %d and %d values, want %d", field, field, low, high, size)
	}
	for i, d := range s.Deviation {
		if !(d > 0) {
			return fmt.Errorf("%s.deviation[%d] is %v, want more than 0", field, i, d)
		}
	}
	for i, low := range s.Low {
		if low > s.High[i] {
			return fmt.Errorf("%s.low[%d] is %v, above high, %v", field, i, low, s.High[i])
		}
	}
	return nil
}

// changed is a view of a set whose rows are changed in place once they are copied.
type changed struct {
	datasets.Set
	change func(row []float32)
}

// CopyRow copies a row and changes it.
func (c *changed) CopyRow(dst []float32, i int) {
	c.Set.CopyRow(dst, i)
	c.change(dst)
}
