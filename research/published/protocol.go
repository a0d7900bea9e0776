package main

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

// protocol is an experiment of a protocol file.
type protocol interface {
	check() error
	name() string
	run(ctx context.Context, d *digits, parallel int) (sheet.Sheet, error)
}

// protocols makes an empty experiment of every protocol.
var protocols = map[string]func() protocol{
	"alexandari2020": func() protocol { return new(Alexandari) },
	"lipton2018":     func() protocol { return new(Lipton) },
}

// errInvalidProtocol is wrapped by the errors of load, which name the file.
var errInvalidProtocol = errors.New("not a protocol")

// load reads a protocol file.
func load(path string) (protocol, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInvalidProtocol, err)
	}
	p, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, errInvalidProtocol, err)
	}
	return p, nil
}

func parse(text []byte) (protocol, error) {
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
