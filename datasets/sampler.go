package datasets

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
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

// WithReplacement draws rows uniformly with replacement. Its state can be saved
// and restored exactly with MarshalBinary and UnmarshalBinary.
type WithReplacement struct {
	n      int
	state  *rand.PCG
	random *rand.Rand
}

// NewWithReplacement returns a sampler of the rows 0 to n-1, which owns the
// generator from then on. It panics unless n is positive.
func NewWithReplacement(n int, generator *rand.PCG) *WithReplacement {
	if n <= 0 {
		panic(fmt.Sprintf("datasets: NewWithReplacement: %d rows to draw from", n))
	}
	return &WithReplacement{n, generator, rand.New(generator)}
}

// Next fills rows with drawn ones.
func (s *WithReplacement) Next(rows []int) {
	for i := range rows {
		rows[i] = s.random.IntN(s.n)
	}
}

// MarshalBinary returns the sampler's state: the number of rows, eight bytes
// big-endian, and the generator's.
func (s *WithReplacement) MarshalBinary() ([]byte, error) {
	generator, err := s.state.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, uint64(s.n)), generator...), nil
}

// UnmarshalBinary restores a state that MarshalBinary returned, so that Next goes
// on as the saved sampler did. A state of another number of rows, or one that is
// damaged, is an error and changes nothing.
func (s *WithReplacement) UnmarshalBinary(data []byte) error {
	if len(data) < 8 {
		return errors.New("datasets: sampler state is too short")
	}
	if n := binary.BigEndian.Uint64(data); n != uint64(s.n) {
		return fmt.Errorf("datasets: sampler state is of %d rows, the sampler has %d", n, s.n)
	}
	if err := s.state.UnmarshalBinary(data[8:]); err != nil {
		return fmt.Errorf("datasets: sampler state: %w", err)
	}
	return nil
}
