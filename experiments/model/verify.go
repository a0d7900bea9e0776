package model

import (
	"cmp"
	"fmt"
	"path/filepath"

	"iwda/internal/input"
)

// Verify compares the files of a model's folder with what model.json says of them. The weights of
// a run's folder are its checkpoint's, of which it says nothing. Sealed is false if model.json
// states no SHA-256, as after a change by hand: nobody can tell whether the rest is as it was written.
func Verify(folder string) (sealed bool, err error) {
	stated, err := readFile(folder)
	if err == nil {
		err = stated.locate(folder)
	}
	if err != nil {
		return false, err
	}
	weights := filepath.Join(folder, WeightsFile)
	if !exists(weights) {
		if stated.WeightsSHA256 != "" {
			return false, fmt.Errorf("%s is missing", weights)
		}
		return stated.Seal != "", nil
	}
	var module error
	if b := stated.Architecture.Backbone; b != nil {
		module = compare(b.File, b.SHA256)
	}
	return stated.WeightsSHA256 != "", cmp.Or(compare(weights, stated.WeightsSHA256), module)
}

// compare returns an error unless the file has the SHA-256, which may be unknown.
func compare(path, stated string) error {
	found, err := input.SHA256(path)
	if err != nil {
		return err
	}
	if stated != "" && found != stated {
		return fmt.Errorf("%s has the SHA-256 %s; by %s it is %s", path, found, MetadataFile, stated)
	}
	return nil
}
