package config

import (
	"encoding/json"
	"math"
	"path/filepath"
	"testing"

	"iwda/internal/golden"
	"iwda/internal/testfiles"
)

func TestInverseGolden(t *testing.T) {
	data := testfiles.Read(t, filepath.Join(golden.Folder(t), "schedules.json"))
	var schedules struct {
		Fine   [][]float64 `json:"inv"`     // step, rate, ten times the rate, …
		Frozen [][]float64 `json:"inv_mmd"` // step, ten times the rate
	}
	if err := json.Unmarshal(data, &schedules); err != nil || len(schedules.Fine) == 0 || len(schedules.Frozen) == 0 {
		t.Fatalf("schedules.json: %v", err)
	}
	rate := func(gamma, step float64) float64 {
		return Schedule{Name: "inverse", Gamma: gamma, Power: 0.75}.Rate(3e-4, 1, int(step))
	}
	for _, s := range schedules.Fine {
		if got := rate(0.001, s[0]); math.Abs(got/s[1]-1) > 1e-12 || math.Abs(10*got/s[2]-1) > 1e-12 {
			t.Errorf("step %v: rate %v, want %v", s[0], got, s[1])
		}
	}
	for _, s := range schedules.Frozen {
		if got := 10 * rate(0.0003, s[0]); math.Abs(got/s[1]-1) > 1e-12 {
			t.Errorf("step %v: rate %v, want %v", s[0], got, s[1])
		}
	}
}

// The steps of an epoch share a rate, which changes at its multiples alone.
func TestStep(t *testing.T) {
	s := Schedule{Name: "step", Every: 3, Factor: 0.5}
	for epoch, want := range []float64{1: 8, 2: 8, 3: 4, 4: 4, 5: 4, 6: 2} {
		for _, steps := range []int{0, 1000} {
			if got := s.Rate(8, epoch, steps); epoch > 0 && got != want {
				t.Errorf("epoch %d, %d steps: rate %v, want %v", epoch, steps, got, want)
			}
		}
	}
}

func TestConstant(t *testing.T) {
	for _, steps := range []int{0, 1, 100000} {
		if got := (Schedule{Name: "constant", Every: 1, Factor: 0.5, Gamma: 1, Power: 1}).Rate(0.1, 1+steps, steps); got != 0.1 {
			t.Errorf("after %d steps the rate is %v", steps, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		s    Schedule
		want string
	}{
		{Schedule{Name: "step", Every: 3}, "the schedule step needs every and factor"},
		{Schedule{Name: "step", Factor: 3, Gamma: 1, Power: 1}, "the schedule step needs every and factor"},
		{Schedule{Name: "inverse", Gamma: 1}, "the schedule inverse needs gamma and power"},
		{Schedule{Name: "cosine"}, `no schedule "cosine"; there are constant, step, inverse`},
	} {
		if err := test.s.check(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: %v, want %s", test.s, err, test.want)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v has a rate", test.s)
				}
			}()
			test.s.Rate(1, 1, 0)
		}()
	}
	complete := Schedule{Every: 1, Factor: 1, Gamma: 1, Power: 1}
	for _, complete.Name = range schedules {
		if err := complete.check(); err != nil {
			t.Error(err)
		}
	}
}
