package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestLoopCallsHooksInOrder(t *testing.T) {
	var calls []string
	say := func(name string) func(Position) error {
		return func(p Position) error {
			calls = append(calls, fmt.Sprintf("%s %d/%d", name, p.Epoch, p.Step))
			return nil
		}
	}
	l := &Loop{Epochs: 2, StepsPerEpoch: 2, Step: say("step")}
	l.OnEnd("end", say("end"))
	l.OnStep("after", say("after"))
	l.OnEpochStart("first", say("first"))
	l.OnEpochStart("second", say("second"))
	l.OnStart("start", say("start"))
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"start 0/0",
		"first 1/0", "second 1/0", "step 1/0", "after 1/1", "step 1/1", "after 1/2",
		"first 2/2", "second 2/2", "step 2/2", "after 2/3", "step 2/3", "after 2/4",
		"end 2/4",
	}
	if !slices.Equal(calls, want) {
		t.Errorf("calls\n%q, want\n%q", calls, want)
	}
}

func TestLoopStops(t *testing.T) {
	boom := errors.New("boom")
	steps := 0
	l := &Loop{Epochs: 3, StepsPerEpoch: 4, Step: func(Position) error {
		if steps++; steps == 6 {
			return boom
		}
		return nil
	}}
	err := l.Run(context.Background())
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "epoch 2, step 6") {
		t.Errorf("error %v", err)
	}

	l = &Loop{Epochs: 1, StepsPerEpoch: 4, Step: func(Position) error { return nil }}
	l.OnStep("writer", func(p Position) error {
		if p.Step == 3 {
			return boom
		}
		return nil
	})
	err = l.Run(context.Background())
	if !errors.Is(err, boom) || !strings.Contains(err.Error(), "epoch 1, after step 3: writer") {
		t.Errorf("error %v", err)
	}

	ctx, cancel := context.WithCancel(context.Background())
	steps = 0
	l = &Loop{Epochs: 3, StepsPerEpoch: 4, Step: func(Position) error {
		if steps++; steps == 5 {
			cancel()
		}
		return nil
	}}
	l.OnEnd("end", func(Position) error { t.Error("a cancelled run came to its end"); return nil })
	if err := l.Run(ctx); !errors.Is(err, context.Canceled) || steps != 5 {
		t.Errorf("error %v after %d steps", err, steps)
	}
}
