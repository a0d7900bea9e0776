// Package browser is what tests of pages do with a headless Chromium, which must be installed. It
// has something in it with the build tag browser alone; make test-browser sets it.
package browser
