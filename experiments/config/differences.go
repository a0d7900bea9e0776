package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Differences lists, in the order of their keys, what two configurations of a run do
// not share of that which determines its result, as in "train.epochs: 12 there, 70
// here". It is empty exactly if their hashes are the same.
func Differences(there, here Resolved) []string {
	a, b := there.determining(), here.determining()
	keys := maps.Clone(a)
	maps.Copy(keys, b)
	var list []string
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if source(a[key]) != source(b[key]) {
			list = append(list, fmt.Sprintf("%s: %s there, %s here", key, plain(a[key]), plain(b[key])))
		}
	}
	return list
}

// determining returns the values of all keys that determine the run's result and are
// not zero.
func (r Resolved) determining() map[string]reflect.Value {
	values := map[string]reflect.Value{
		"task":    reflect.ValueOf(r.Task),
		"variant": reflect.ValueOf(r.Variant),
		"method":  reflect.ValueOf(r.Method),
		"seed":    reflect.ValueOf(r.Seed),
	}
	for _, leaf := range leaves("", reflect.ValueOf(r.Settings)) {
		if !slices.Contains(withoutEffect, leaf.name) && !leaf.value.IsZero() {
			values[leaf.name] = leaf.value
		}
	}
	return values
}

// source returns a value as Go source has it, "" for one that is not there.
func source(value reflect.Value) string {
	if !value.IsValid() {
		return ""
	}
	return fmt.Sprintf("%#v", value.Interface())
}

// plain returns a value for people to read.
func plain(value reflect.Value) string {
	if !value.IsValid() {
		return "not set"
	}
	return fmt.Sprint(value.Interface())
}
