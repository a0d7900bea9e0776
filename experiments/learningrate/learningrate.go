// Package learningrate holds the schedules of the learning rate: functions of the epoch
// and the step.
package learningrate

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Schedule is a schedule by its name, with the settings of all of them; each reads its
// own.
type Schedule struct {
	// Name is how the rate falls: not at all, by a factor every few epochs, or with every step.
	Name string `yaml:"name"`
	// Every is the number of epochs after which step reduces the rate: before each epoch, counted
	// from 1, that is a multiple of it.
	Every int `yaml:"every,omitempty"`
	// Factor is the number by which step multiplies the rate.
	Factor float64 `yaml:"factor,omitempty"`
	// Gamma is used by inverse: at step i, counted from 0, the rate is multiplied by
	// (1 + gamma·i)^-power.
	Gamma float64 `yaml:"gamma,omitempty"`
	// Power is used by inverse; see gamma.
	Power float64 `yaml:"power,omitempty"`
}

// kind is how the schedules of a name work.
type kind struct {
	name string
	// needs are the settings without which there is no schedule, as in "every and
	// factor", and has tells whether s has them.
	needs string
	has   func(s Schedule) bool
	// factor is what the first rate is multiplied by.
	factor func(s Schedule, epoch, steps int) float64
}

// kinds holds every schedule in the order of Names.
var kinds = []kind{
	{
		name:   "constant",
		has:    func(Schedule) bool { return true },
		factor: func(Schedule, int, int) float64 { return 1 },
	},
	{
		name: "step", needs: "every and factor",
		has:    func(s Schedule) bool { return s.Every > 0 && s.Factor > 0 },
		factor: func(s Schedule, epoch, _ int) float64 { return math.Pow(s.Factor, float64(epoch/s.Every)) },
	},
	{
		name: "inverse", needs: "gamma and power",
		has:    func(s Schedule) bool { return s.Gamma > 0 && s.Power > 0 },
		factor: func(s Schedule, _, steps int) float64 { return math.Pow(1+s.Gamma*float64(steps), -s.Power) },
	},
}

// Names returns the names of the schedules.
func Names() []string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = k.name
	}
	return names
}

// kind returns how s works, an error where there is no schedule of its name or where it
// lacks a setting.
func (s Schedule) kind() (kind, error) {
	i := slices.Index(Names(), s.Name)
	if i < 0 {
		return kind{}, fmt.Errorf("no schedule %q; there are %s", s.Name, strings.Join(Names(), ", "))
	}
	if k := kinds[i]; !k.has(s) {
		return kind{}, fmt.Errorf("the schedule %s needs %s", s.Name, k.needs)
	}
	return kinds[i], nil
}

// Check returns an error where there is no schedule of the name, or where it lacks a
// setting.
func (s Schedule) Check() error {
	_, err := s.kind()
	return err
}

// Rate returns the learning rate of the step after that many steps of the run, in the
// epoch, counted from 1; first is the rate before any change. Where Check returns an
// error it panics.
func (s Schedule) Rate(first float64, epoch, steps int) float64 {
	k, err := s.kind()
	if err != nil {
		panic("learningrate: " + err.Error())
	}
	return first * k.factor(s, epoch, steps)
}
