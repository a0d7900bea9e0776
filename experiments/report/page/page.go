// Package page writes HTML pages of one file that needs nothing else, all in one style.
package page

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var layout string

//go:embed page.css
var styles string

//go:embed page.js
var script string

var page = template.Must(template.New("page").Parse(layout))

// Write writes a page of a title that shows a body. The same body gives the same bytes.
func Write(w io.Writer, title string, body template.HTML) error {
	return page.Execute(w, struct {
		Title  string
		Styles template.CSS
		Script template.JS
		Body   template.HTML
	}{title, template.CSS(styles), template.JS(script), body})
}
