package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
)

// Stream returns the generator of a run's seed for one purpose, as in "subsample"
// or "source batches". Streams of different seeds or purposes are independent, so
// that a new use of randomness changes no other.
//
// The generator's state is the first 16 bytes, as two big-endian words, of the
// SHA-256 of the seed's eight bytes, big-endian, followed by the purpose: this is
// part of the results' meaning and never changes.
func Stream(seed int64, purpose string) *rand.PCG {
	message := binary.BigEndian.AppendUint64(nil, uint64(seed))
	sum := sha256.Sum256(append(message, purpose...))
	return rand.NewPCG(binary.BigEndian.Uint64(sum[0:8]), binary.BigEndian.Uint64(sum[8:16]))
}
