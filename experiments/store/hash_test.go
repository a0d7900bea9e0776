package store

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
)

func TestResultHash(t *testing.T) {
	dir := begun(t, t.TempDir(), "full/a-b/dann/seed-1")
	if hash, err := dir.ResultHash(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("none: %q, %v", hash, err)
	}
	for text, want := range map[string]string{
		`{"id": "a", "nested": {"config_hash": "wrong"}, "config_hash": "0a1b", "rest": [1`: "0a1b",
		`{"config_hash": "0a1b"}`: "0a1b",
	} {
		write(t, dir.Path(ResultFile), text)
		if hash, err := dir.ResultHash(); err != nil || hash != want {
			t.Errorf("%s: %q, %v, want %q", text, hash, err, want)
		}
	}
	for _, text := range []string{``, `[]`, `{}`, `{"id": "a"}`, `{"config_hash": 5}`, `{"id": `} {
		write(t, dir.Path(ResultFile), text)
		if hash, err := dir.ResultHash(); err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), dir.Path(ResultFile)) {
			t.Errorf("%s: %q, %v", text, hash, err)
		}
	}
}
