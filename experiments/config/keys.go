package config

import (
	"fmt"
	"reflect"
	"strings"

	"iwda/datasets/catalogue"
)

// Key is a setting of an experiment file, as a reference lists it.
type Key struct {
	Path string // with the keys above it, train.optimizer.lr
	Type string // in words
	// Takes says which values of the type are possible, "" for all.
	Takes string
	// Default is the value as YAML that counts if the file does not give one, and Images that of
	// experiments on image files; "" for none.
	Default, Images string
}

// AnyName stands in paths of keys for a name that the user gives.
const AnyName = "NAME"

// Keys returns every key of an experiment file, in the order of the schema.
func Keys() []Key {
	of := func(kind catalogue.Kind) []field {
		d := document{Config: Default(catalogue.Dataset{Kind: kind})}
		return leaves("", reflect.ValueOf(&d).Elem())
	}
	var keys []Key
	images := of(catalogue.ImageFiles)
	for i, leaf := range of(catalogue.SmallImages) {
		r := rules[leaf.name]
		key := Key{Path: leaf.name, Type: typeInWords(leaf.value.Type()), Takes: r.takes, Default: r.standard(leaf.value), Images: r.standard(images[i].value)}
		if leaf.name == "network.pretrained" {
			key.Images = usualWeights // as a file has it, whatever the variable is
		}
		if leaf.value.Kind() == reflect.Slice {
			key.Takes = rules[leaf.name+"[]"].takes
		}
		keys = append(keys, key)
		if leaf.value.Type() == reflect.TypeFor[Domains]() {
			for _, of := range leaves(join(leaf.name, AnyName), reflect.ValueOf(catalogue.Files{})) {
				keys = append(keys, Key{Path: of.name, Type: typeInWords(of.value.Type())})
			}
		}
	}
	return keys
}

func typeInWords(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "text"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	case reflect.Bool:
		return "true or false"
	}
	if t == reflect.TypeFor[Domains]() {
		return "mapping"
	}
	return "list"
}

// standard is a default as it stands in a file. A zero that no file may hold is none.
func (r rule) standard(v reflect.Value) string {
	switch {
	case v.IsZero() && (v.Kind() == reflect.String || v.Kind() == reflect.Slice || r.check != nil && r.check("", v) != ""):
		return r.empty
	case v.Kind() == reflect.Slice:
		return strings.Trim(fmt.Sprint(v), "[]")
	}
	return fmt.Sprint(v)
}
