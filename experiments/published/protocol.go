// Package published repeats published experiments on label shift, on the real MNIST, and
// sets what comes out beside the published numbers. A protocol file says which experiment
// and with what settings; see configs/labelshift-mnist.yaml.
//
// Everything random follows from seeds of its own: networks, and draws of held-out and
// target rows. The same file gives the same numbers for any number of goroutines on one
// kind of processor.
package published

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"iwda/experiments/report/sheet"
)

// Protocol is an experiment of a protocol file.
type Protocol interface {
	check() error
	name() string
	run(ctx context.Context, d *digits, parallel int) (sheet.Sheet, error)
}

// protocols makes an empty experiment of every protocol.
var protocols = map[string]func() Protocol{
	"alexandari2020": func() Protocol { return new(Alexandari) },
	"lipton2018":     func() Protocol { return new(Lipton) },
}

// ErrInvalidProtocol is wrapped by the errors of Load, which name the file.
var ErrInvalidProtocol = errors.New("not a protocol")

// Load reads a protocol file.
func Load(path string) (Protocol, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalidProtocol, err)
	}
	p, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, ErrInvalidProtocol, err)
	}
	return p, nil
}

func parse(text []byte) (Protocol, error) {
	var head struct {
		Protocol string `yaml:"protocol"`
	}
	if err := yaml.Unmarshal(text, &head); err != nil {
		return nil, err
	}
	empty, ok := protocols[head.Protocol]
	if !ok {
		return nil, invalid("protocol", fmt.Sprintf("%q", head.Protocol), "alexandari2020 or lipton2018")
	}
	p := empty()
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(p); err != nil {
		return nil, err
	}
	if err := decoder.Decode(new(any)); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one document")
	}
	if p.name() == "" || p.name() != filepath.Base(p.name()) || strings.HasPrefix(p.name(), ".") {
		return nil, invalid("experiment", fmt.Sprintf("%q", p.name()), "the name of a folder")
	}
	return p, p.check()
}

func invalid(key string, value any, want string) error {
	return fmt.Errorf("%s: %v; it must be %s", key, value, want)
}

// Options say where an experiment runs.
type Options struct {
	Digits   string // the folder of MNIST's files
	Results  string // the folder of all results
	Parallel int    // networks trained, or draws made, at a time; 0: one a core
	// Say shows a line of progress; any goroutine may call it.
	Say func(format string, values ...any)
}

// Run makes the experiment and returns its table. The networks' logits are kept in the
// experiment's folder of results, and not computed again where they are there.
func Run(ctx context.Context, p Protocol, o Options) (sheet.Sheet, error) {
	d, err := loadDigits(o.Digits, filepath.Join(o.Results, p.name(), "logits"), o.Say)
	if err != nil {
		return sheet.Sheet{}, err
	}
	return p.run(ctx, d, o.Parallel)
}
