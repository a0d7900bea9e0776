package model

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"iwda/internal/allocation"
	"iwda/internal/must"
)

// Any content is an error or metadata that can be written and read again, and whose use
// does not panic.
func FuzzParseMetadata(f *testing.F) {
	for _, seed := range []string{
		`{"format":1,"network":{"name":"mlp","hidden_layers":1,"hidden_size":2},"input":{"kind":"features","shape":[2]},
		"classes":["a","b"],"normalisation":{"kind":"standard","target":{"mean":[0,1],"deviation":[1,2]}},
		"shares":{"source":[0.5,0.5],"target":[1,0],"classifier":[0.5,0.5]},
		"calibration":{"form":"ts","scales":[2,2],"biases":[0,0]},"versions":{"iwda":"1"},"provenance":{"a":"b"},"more":1}`,
		`{"format":1,"network":{"name":"resnet18","frozen":true},"input":{"kind":"images","shape":[3,8,8],"resize":9},
		"classes":["a","b"],"normalisation":{"kind":"none"},"shares":{"source":[0.5,0.5],"classifier":[0.5,0.5]}}`,
		`{"format":1,"network":{"name":"torchscript","backbone":{"file":"backbone.pt"}},"input":{"kind":"features","shape":[2]},
		"classes":["a","b"],"normalisation":{"kind":"none"},"shares":{"source":[0.5,0.5],"classifier":[0.5,0.5]}}`,
		`{"format":1,"network":{"name":"mlp","hidden_layers":1,"hidden_size":2},"input":{"kind":"features","shape":[3],"columns":["a","a is missing","b=x"],
		"encoding":[{"column":"a","median":1.5,"missing":true},{"column":"b","levels":["x"]}]},"classes":["a","b"],"normalisation":{"kind":"none"},
		"shares":{"source":[0.5,0.5],"classifier":[0.5,0.5]}}`,
		`{"format":2}`, `{"format":1,"input":{"shape":[]}}`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		allocation.Within(t, allocation.Allowed(len(data)), func() { _, _ = parseMetadata(data) })
		m, err := parseMetadata(data)
		if err != nil {
			return
		}
		written := must.Have(json.Marshal(m))(t)
		again, err := parseMetadata(written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		rewritten := must.Have(json.Marshal(again))(t)
		if difference := cmp.Diff(string(written), string(rewritten)); difference != "" {
			t.Error(difference)
		}
		if size := product(m.Input.Shape); size < 1<<16 {
			m.Normalise(make([]float32, size))
		}
		if _, err := m.Probabilities(make([]float32, len(m.Classes)), m.Shares.Source); err != nil {
			t.Error(err)
		}
	})
}

func product(shape []int) int {
	size := 1
	for _, n := range shape {
		if size *= n; size >= 1<<16 {
			break
		}
	}
	return size
}
