package config

import "fmt"

// ParseRun reads the text of [Resolved.YAML]: an experiment of one run. name stands
// for the file in errors.
func ParseRun(name string, text []byte) (Resolved, error) {
	file, err := Parse(name, text)
	if err != nil {
		return Resolved{}, err
	}
	c := file.Config
	if n := len(c.Tasks) * len(c.Variants) * len(c.Methods) * len(c.Seeds); n != 1 {
		return Resolved{}, fmt.Errorf("%s: the configuration of one run is wanted, this one has %d", name, n)
	}
	return file.Resolve(c.Tasks[0], c.Variants[0], c.Methods[0], c.Seeds[0])
}
