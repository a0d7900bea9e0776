package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// ResultHash returns the hash of the configuration that gave the result, of which it
// reads no more than it must. errors.Is(err, fs.ErrNotExist) tells that there is none.
func (d Dir) ResultHash() (string, error) {
	path := d.Path(ResultFile)
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	hash, err := configHash(file)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return hash, nil
}

func configHash(result io.Reader) (string, error) {
	const key = "config_hash"
	decoder := json.NewDecoder(result)
	if start, err := decoder.Token(); err != nil || start != json.Delim('{') {
		return "", errors.Join(errors.New("it is no result"), err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return "", err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return "", err
		}
		if name == key {
			var hash string
			return hash, json.Unmarshal(value, &hash)
		}
	}
	return "", errors.New("it has no " + key)
}
