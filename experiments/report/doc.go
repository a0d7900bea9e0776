// Package report turns finished runs into what a reader wants to see: tables
// beside the paper's numbers, and figures.
//
// A table of any kind is a Sheet, which is written as Markdown, LaTeX, CSV or JSON;
// BuildSheet makes that of a kind. A drawing of any kind is a Figure, which is
// written as PNG or SVG; Figures draws all that the runs give. Package page puts
// everything into one HTML file.
//
// Accuracies are in percent here, as the paper prints them; results hold
// fractions of 1. The best epoch is chosen on target labels, which a user does
// not have, so every table shows the last epoch beside it.
package report
