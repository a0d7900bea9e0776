package config

import (
	"fmt"
	"math"
	"strings"
)

// Schedule is a schedule of the learning rate by its name, with the settings of all of them; each reads its
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

var schedules = []string{"constant", "step", "inverse"}

// check returns an error where there is no schedule of the name, or where it lacks a
// setting.
func (s Schedule) check() error {
	needs := ""
	switch s.Name {
	case "constant":
	case "step":
		if !(s.Every > 0 && s.Factor > 0) {
			needs = "every and factor"
		}
	case "inverse":
		if !(s.Gamma > 0 && s.Power > 0) {
			needs = "gamma and power"
		}
	default:
		return fmt.Errorf("no schedule %q; there are %s", s.Name, strings.Join(schedules, ", "))
	}
	if needs != "" {
		return fmt.Errorf("the schedule %s needs %s", s.Name, needs)
	}
	return nil
}

// Rate returns the learning rate of the step after that many steps of the run, in the
// epoch, counted from 1; first is the rate before any change. Where check returns an
// error it panics.
func (s Schedule) Rate(first float64, epoch, steps int) float64 {
	if err := s.check(); err != nil {
		panic("config: " + err.Error())
	}
	switch s.Name {
	case "step":
		return first * math.Pow(s.Factor, float64(epoch/s.Every))
	case "inverse":
		return first * math.Pow(1+s.Gamma*float64(steps), -s.Power)
	}
	return first
}
