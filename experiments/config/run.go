package config

import "fmt"

// ParseRun reads the text of [Resolved.YAML]: an experiment of one run. name stands
// for the file in errors.
func ParseRun(name string, text []byte) (Resolved, error) {
	file, err := Parse(name, text)
	if err != nil {
		return Resolved{}, err
	}
	return file.Single()
}

// LoadRun is [ParseRun] of a file.
func LoadRun(path string) (Resolved, error) {
	file, err := Load(path)
	if err != nil {
		return Resolved{}, err
	}
	return file.Single()
}

// Single returns the configuration of the only run of an experiment. More runs than
// one are an error; train.epochs beside train.steps, which former versions wrote, is
// not.
func (f *File) Single() (Resolved, error) {
	c := f.Config
	if n := len(c.Tasks) * len(c.Variants) * len(c.Methods) * len(c.Seeds); n != 1 {
		return Resolved{}, fmt.Errorf("%s: the configuration of one run is wanted, this one has %d", f.Name, n)
	}
	r, d := f.resolve(c.Tasks[0], c.Variants[0], c.Methods[0], c.Seeds[0])
	return r, d.errors.orNil()
}
