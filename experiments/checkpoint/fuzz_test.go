package checkpoint

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"iwda/internal/allocation"
)

// The head of a checkpoint of any content is a record, or damaged, or of another format.
func FuzzReadRecord(f *testing.F) {
	_, whole := written(f, Record{Version: "1", Config: "a: b"})
	f.Add(whole)
	f.Add(binary.LittleEndian.AppendUint64(nil, 100<<20))
	f.Fuzz(func(t *testing.T, content []byte) {
		allocation.Within(t, allocation.Allowed(len(content)), func() {
			_, err := readRecord("f", content)
			var damaged *DamagedError
			if err != nil && !errors.As(err, &damaged) && !strings.HasPrefix(err.Error(), "f: format: ") {
				t.Errorf("error %v", err)
			}
		})
	})
}
