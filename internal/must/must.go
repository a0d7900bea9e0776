// Package must ends a test if a call fails on which the test only builds, and fails it if one does not that should.
package must

import (
	"slices"
	"strings"
	"testing"
)

// Do ends the test if there is an error.
func Do(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Have gives what a call returns, or ends the test if it returns an error: file := must.Have(os.Open(path))(t).
func Have[T any](value T, err error) func(t testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		Do(t, err)
		return value
	}
}

// Both is [Have] for a call that returns two values.
func Both[A, B any](a A, b B, err error) func(t testing.TB) (A, B) {
	return func(t testing.TB) (A, B) {
		t.Helper()
		Do(t, err)
		return a, b
	}
}

// Fail fails the test unless there is an error that has all of these words.
func Fail(t testing.TB, err error, words ...string) {
	t.Helper()
	if err == nil || slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(err.Error(), word) }) {
		t.Errorf("error %v, want one with %q", err, words)
	}
}

// Refuse is [Fail] of what a call returns: must.Refuse(strconv.Atoi("x"))(t, "invalid syntax").
func Refuse[T any](_ T, err error) func(t testing.TB, words ...string) {
	return func(t testing.TB, words ...string) {
		t.Helper()
		Fail(t, err, words...)
	}
}
