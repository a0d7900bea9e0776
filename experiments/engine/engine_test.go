package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"iwda/internal/input"
	"iwda/internal/must"
)

// asEngine makes the test program iwrun-torch, which answers as its value says.
const asEngine = "ENGINE_TEST"

func TestMain(m *testing.M) {
	if how := os.Getenv(asEngine); how != "" && len(os.Args) == 3 {
		os.Exit(answer(how))
	} else if how != "" && len(os.Args) == 2 {
		makeEngine(os.Args[1])
	}
	os.Exit(m.Run())
}

func answer(how string) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if how == "of another protocol" {
		write(os.Stdout, line{Failure: &Failure{Failed, CheckProtocol("7").Error(), false, false}}, nil)
		return 2
	}
	fmt.Println("a library is here")
	gone := func() { os.Exit(0) }
	Serve(ctx, os.Stdin, os.Stdout, map[string]Answer{
		"double": NewAnswer(func(_ context.Context, r *Rows) (o Outputs, err error) {
			for _, v := range r.Values {
				o.Values = append(o.Values, 2*v+float32(r.Of))
			}
			return o, nil
		}),
		"refuse": NewAnswer(func(_ context.Context, what *string) (nothing any, err error) {
			return nil, input.Wrong(errors.New(*what + " is no file"))
		}),
		"wait": NewAnswer(func(ctx context.Context, ready *string) (nothing any, err error) {
			os.WriteFile(*ready, nil, 0o666)
			<-ctx.Done()
			return nil, ctx.Err()
		}),
		"die": NewAnswer(func(context.Context, *any) (nothing any, err error) {
			syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}),
	}, gone)
	return 0
}

// makeEngine is the maker.
func makeEngine(how string) {
	fmt.Fprintln(os.Stderr, "makes "+how)
	switch how {
	case "well":
		json.NewEncoder(os.Stdout).Encode(Made{[]string{"env", "MADE=yes", os.Args[0]}})
	case "badly":
		json.NewEncoder(os.Stdout).Encode(Failure{Failed, "there is no compiler", false, false})
	case "slowly":
		io.Copy(io.Discard, os.Stdin)
		os.WriteFile(os.Getenv("ENDED"), nil, 0o666)
	}
	os.Exit(1)
}

// engine is this program as iwrun-torch.
func engine(t *testing.T, how string) (*Process, *strings.Builder) {
	t.Helper()
	t.Setenv(asEngine, how)
	t.Setenv(Variable, os.Args[0])
	said := &strings.Builder{}
	p := &Process{Log: said}
	t.Cleanup(p.Close)
	return p, said
}

// Numbers come as they are, errors as what they are, and what a library prints is no answer.
func TestAsk(t *testing.T) {
	p, said := engine(t, "well")
	for n := range 3 {
		var o Outputs
		values := slices.Repeat([]float32{1.5, -0.25}, 100_000*n)
		if err := p.Ask(t.Context(), "double", &Rows{Of: n, Values: values}, &o); err != nil || len(o.Values) != len(values) || n > 0 && o.Values[len(values)-1] != float32(n)-0.5 {
			t.Errorf("%d values of %d: %v", len(o.Values), len(values), err)
		}
	}
	err := p.Ask(t.Context(), "refuse", "a.csv", new(any))
	if !errors.Is(err, input.ErrWrong) || err.Error() != "a.csv is no file" {
		t.Errorf("refused: %v", err)
	}
	must.Fail(t, p.Ask(t.Context(), "sing", nil, new(any)), `no question "sing"`)
	p.Close()
	if said.String() != "a library is here\n" {
		t.Errorf("said %q", said)
	}
}

// Who cancels gets the context's error; the answers end where the process dies, and each error says how.
func TestEnds(t *testing.T) {
	p, _ := engine(t, "well")
	ctx, cancel := context.WithCancel(t.Context())
	ready := t.TempDir() + "/ready"
	go func() {
		for err := errors.New("not yet"); err != nil; time.Sleep(time.Millisecond) {
			_, err = os.Stat(ready)
		}
		cancel()
	}()
	if err := p.Ask(ctx, "wait", ready, new(any)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	p, _ = engine(t, "well")
	for range 2 {
		if err := p.Ask(t.Context(), "die", nil, new(any)); err == nil || err.Error() != "iwrun-torch, which die needs, was killed (signal 9), as the system does when memory runs out" {
			t.Errorf("killed: %v", err)
		}
	}
}

// Where there is no iwrun-torch it is made, once, and no more is tried if that fails; who cancels stops it.
func TestMade(t *testing.T) {
	made := func(how string) (*Process, *strings.Builder) {
		p, said := engine(t, "well")
		t.Setenv(Variable, "")
		words := must.Have(json.Marshal([]string{os.Args[0], how}))(t)
		t.Setenv(Maker, string(words))
		return p, said
	}
	p, said := made("well")
	var o Outputs
	if err := p.Ask(t.Context(), "double", &Rows{Values: []float32{1}}, &o); err != nil || o.Values[0] != 2 {
		t.Error(o.Values, err)
	}
	if words, err := p.Command("training", "worker", "folder"); err != nil || strings.Join(words[3:], " ") != "1 worker folder" {
		t.Error(words, err)
	}
	p.Close()
	if said.String() != "makes well\na library is here\n" {
		t.Errorf("said %q", said)
	}
	for how, want := range map[string]string{
		"badly": "training needs iwrun-torch, the part of iwda with libtorch: there is no compiler",
		"not":   `training needs iwrun-torch, the part of iwda with libtorch: the command of IWDA_MAKE_TORCH, ["` + os.Args[0] + `" "not"], made none: exit status 1`,
	} {
		p, said := made(how)
		for range 2 {
			if _, err := p.Command("training"); !errors.Is(err, ErrMissing) || err.Error() != want {
				t.Errorf("%s: %v", how, err)
			}
		}
		if said.String() != "makes "+how+"\n" {
			t.Errorf("said %q", said)
		}
	}
	p, _ = made("slowly")
	ended := t.TempDir() + "/ended"
	t.Setenv("ENDED", ended)
	ctx, cancel := context.WithCancel(t.Context())
	p.Log = writer(func() { cancel() })
	if err := p.Ask(ctx, "double", &Rows{}, &o); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := os.Stat(ended); err != nil {
		t.Errorf("the maker did not stop by itself: %v", err)
	}
}

// writer calls a function for what is written.
type writer func()

func (w writer) Write(text []byte) (int, error) {
	w()
	return len(text), nil
}

// Programs of two builds do not talk past each other, and where there is none, the error says what makes it.
func TestNoEngine(t *testing.T) {
	p, _ := engine(t, "of another protocol")
	must.Fail(t, p.Ask(t.Context(), "training", nil, new(any)), `iwrun speaks protocol "7" and this iwrun-torch protocol 1`)
	if CheckProtocol("1") != nil {
		t.Error("the same protocol is refused")
	}
	for variable, want := range map[string]string{"": "; in a checkout, make build makes it", "/nowhere/iwrun-torch": "IWDA_TORCH names /nowhere/iwrun-torch, which is no program"} {
		t.Setenv(Variable, variable)
		if err := new(Process).Ask(t.Context(), "training", nil, new(any)); err == nil || !strings.HasPrefix(err.Error(), "training needs iwrun-torch, ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is %q: %v", Variable, variable, err)
		}
	}
}
