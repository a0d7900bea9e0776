package intervals

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"iwda/internal/gaussians"
	"iwda/weightest"
	"iwda/weightest/internal/sampletest"
)

func TestReplicasMergeInAnyOrder(t *testing.T) {
	const classes, n, m, count = 3, 1100, 700, 20
	s := sampletest.Gaussian(t, gaussians.Rising(classes), n, m, 1)
	source, labels := s.Source()
	whole := NewReplicas(classes, count, 5)
	if err := errors.Join(whole.AddSource(source, labels, Numbers(0, len(labels))), whole.AddTarget(s.Target(), Numbers(0, len(s.Target())/s.Classes()))); err != nil {
		t.Fatal(err)
	}
	merged := NewReplicas(classes, count, 5)
	for _, part := range [][2]int{{600, 1100}, {0, 1}, {1, 600}} {
		from, to := part[0], part[1]
		shard := NewReplicas(classes, count, 5)
		if err := shard.AddSource(source[from*classes:to*classes], labels[from:to], Numbers(uint64(from), to-from)); err != nil {
			t.Fatal(err)
		}
		if to <= m {
			if err := shard.AddTarget(s.Target()[from*classes:to*classes], Numbers(uint64(from), to-from)); err != nil {
				t.Fatal(err)
			}
		} else if err := shard.AddTarget(s.Target()[from*classes:], Numbers(uint64(from), m-from)); err != nil {
			t.Fatal(err)
		}
		if err := merged.Merge(shard); err != nil {
			t.Fatal(err)
		}
	}
	for i := range count {
		if !reflect.DeepEqual(whole.sums[i], merged.sums[i]) {
			t.Fatalf("replica %d differs", i)
		}
		keys, counts := make([]uint64, n), make([]int, n)
		rowKeys(keys, 5, sourceDomain, Numbers(0, len(keys)))
		poissonCounts(counts, keys, i)
		targetKeys, targetCounts := make([]uint64, m), make([]int, m)
		rowKeys(targetKeys, 5, targetDomain, Numbers(0, m))
		poissonCounts(targetCounts, targetKeys, i)
		direct := weightest.NewSums(classes)
		for row, count := range counts {
			for range count {
				if err := direct.AddSource(source[row*classes:(row+1)*classes], labels[row:row+1]); err != nil {
					t.Fatal(err)
				}
			}
		}
		for row, count := range targetCounts {
			for range count {
				if err := direct.AddTarget(s.Target()[row*classes : (row+1)*classes]); err != nil {
					t.Fatal(err)
				}
			}
		}
		if !reflect.DeepEqual(direct, whole.sums[i]) {
			t.Fatalf("replica %d is not that of its counts", i)
		}
	}
	if whole.sums[0].SourceRows() == whole.sums[1].SourceRows() && whole.sums[0].SourceRows() == n {
		t.Error("the replicas are not resampled")
	}
	for _, other := range []*Replicas{NewReplicas(classes, count, 6), NewReplicas(classes, count+1, 5), NewReplicas(classes+1, count, 5)} {
		if err := whole.Merge(other); err == nil {
			t.Error("replicas of another kind were merged")
		}
	}
}

func TestReplicasFromTheirState(t *testing.T) {
	s := sampletest.Gaussian(t, gaussians.Rising(3), 80, 60, 1)
	source, labels := s.Source()
	saved := NewReplicas(3, 60, 9)
	if err := saved.AddSource(source, labels, Numbers(0, len(labels))); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	whole := file.Bytes()
	restored, err := ReadReplicas(&file, 3, saved.Count(), saved.Seed())
	if err != nil {
		t.Fatal(err)
	}
	if err := restored.AddTarget(s.Target(), Numbers(0, len(s.Target())/s.Classes())); err != nil {
		t.Fatal(err)
	}
	got, err := restored.Intervals(estimatorOf(t, "bbse-soft"), 0.95)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Bootstrap(s, estimatorOf(t, "bbse-soft"), BootstrapSettings{Replicas: 60, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if _, err := ReadReplicas(bytes.NewReader(whole[:len(whole)-1]), 3, saved.Count(), 9); err == nil {
		t.Error("a file that is cut off: no error")
	}
	if _, err := restored.Intervals(estimatorOf(t, "mlls"), 0.95); !errors.Is(err, weightest.ErrInvalidProblem) {
		t.Errorf("an estimator that reads rows: %v", err)
	}
}
